//! Numbered files: `fails/NN-what.yaml` with `.txt` beside it, `succeeds/NN-what.yaml`. A folder of the
//! same name, `NN-what.inventory.json`, is the inventory beside the object.

use std::path::{Path, PathBuf};

use cluster_spec::{Cluster, Finding};

pub struct Fixture {
    pub path: PathBuf,
    pub object: String,
    pub inventory: Option<String>,
}

impl Fixture {
    pub fn name(&self) -> String {
        self.path.file_name().expect("a name").to_string_lossy().into_owned()
    }

    pub fn read(&self) -> Result<Cluster, Vec<Finding>> {
        cluster_spec::read(&self.object, self.inventory.as_deref())
    }
}

pub fn fixtures(kind: &str) -> Vec<Fixture> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(kind);
    let entries = std::fs::read_dir(&folder).expect("fixtures").map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| is_object(path)).collect();
    paths.sort();
    let read = |path: PathBuf| Fixture {
        object: std::fs::read_to_string(&path).expect("a fixture"),
        inventory: std::fs::read_to_string(path.with_extension("inventory.json")).ok(),
        path,
    };
    paths.into_iter().map(read).collect()
}

fn is_object(path: &Path) -> bool {
    let name = path.to_string_lossy();
    (name.ends_with(".yaml") || name.ends_with(".json")) && !name.ends_with(".inventory.json")
}

//! Reading an object, and the inventory when there is one beside it.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use cluster_spec::{Cluster, Finding, Source};

use crate::exit::{Code, Outcome, Problem};

/// Largest file that is read, in bytes.
const MAX_FILE: u64 = 4 << 20;

/// What stands in the files.
pub(super) struct Files {
    object: PathBuf,
    object_text: String,
    inventory: PathBuf,
    inventory_text: Option<String>,
}

impl Files {
    /// Reads both.
    pub(super) fn read(object: &Path) -> Outcome<Self> {
        let inventory = object.with_file_name("inventory.json");
        let there = inventory.try_exists().unwrap_or(true) && inventory != object;
        let inventory_text = if there { Some(text(&inventory)?) } else { None };
        Ok(Self { object: object.to_owned(), object_text: text(object)?, inventory, inventory_text })
    }

    /// The cluster, or all mistakes.
    pub(super) fn check(&self) -> Result<Cluster, Vec<Finding>> {
        cluster_spec::read(&self.object_text, self.inventory_text.as_deref())
    }

    /// The cluster; mistakes are told on standard error.
    pub(super) fn cluster(&self) -> Outcome<Cluster> {
        self.check().map_err(|findings| self.tell(&findings))
    }

    /// Tells mistakes on standard error.
    pub(super) fn tell(&self, findings: &[Finding]) -> Problem {
        for finding in findings {
            let file = self.file(finding.source).display();
            match finding.line {
                Some(line) => eprintln!("{file}:{line}: {finding}"),
                None => eprintln!("{file}: {finding}"),
            }
        }
        let mistakes =
            if findings.len() == 1 { "1 mistake".to_owned() } else { format!("{} mistakes", findings.len()) };
        Problem::new(Code::Input, format!("{}: {mistakes}; no host was asked", self.object.display()))
            .next("correct what is named above")
    }

    /// The file that a mistake is in.
    pub(super) fn file(&self, source: Source) -> &Path {
        match source {
            Source::Object => &self.object,
            Source::Inventory => &self.inventory,
        }
    }
}

fn text(path: &Path) -> Outcome<String> {
    let unreadable = |error: std::io::Error| {
        Problem::new(Code::Input, error)
            .next("correct the path; trellis cluster init writes a file to begin with")
    };
    let mut bytes = Vec::new();
    let file = fs_err::File::open(path).map_err(unreadable)?;
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_FILE {
        let what = format!("{}: larger than {} MiB", path.display(), MAX_FILE >> 20);
        return Err(Problem::new(Code::Input, what).next("give the object of a cluster"));
    }
    String::from_utf8(bytes).map_err(|_| {
        Problem::new(Code::Input, format!("{}: not UTF-8", path.display())).next("write it as UTF-8 text")
    })
}

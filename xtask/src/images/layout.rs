//! An image as an OCI layout: one layer, not compressed, because it is read on the machine that made it.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use fs_err as fs;
use serde_json::{Value, json};

use super::{definitions::Image, libraries::Content};
use crate::command::{Step, which};

/// A folder for what is being made; it goes when this is dropped.
pub(super) struct Work(PathBuf);

impl Work {
    /// An empty folder in `parent`. What a killed run left there under the same name is removed.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(super) fn begin(parent: &Path, name: &str) -> Result<Self> {
        let path = parent.join(format!(".{name}"));
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // What stays is removed by the next run.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What an image is made from, as text: its definition and each file with size and time.
///
/// # Errors
/// When a file is not there.
pub(super) fn inputs(image: &Image, files: &BTreeMap<String, Content>) -> Result<String> {
    let mut text = format!("{image:?}\n");
    for (path, content) in files {
        match content {
            Content::Link(target) => writeln!(text, "{path} -> {target}")?,
            Content::File(from) => {
                let meta = fs::metadata(from)?;
                writeln!(text, "{path} {} {:?}", meta.len(), meta.modified()?)?;
            }
        }
    }
    Ok(text)
}

/// Writes the image to `file`.
///
/// # Errors
/// When a file cannot be copied, or tar fails.
pub(super) fn write(
    image: &Image,
    files: &BTreeMap<String, Content>,
    work: &Work,
    file: &Path,
) -> Result<()> {
    let root = work.join("root");
    for (path, content) in files {
        put(&root, path, content)?;
    }
    // Programs write here; what is not there cannot be made in a read-only image.
    fs::create_dir_all(root.join("tmp"))?;
    set_mode(&root.join("tmp"), 0o1777)?;

    let layout = work.join("layout");
    let blobs = layout.join("blobs/sha256");
    fs::create_dir_all(&blobs)?;
    let packed = work.join("layer.tar");
    tar(&root, &packed)?;
    let (layer, layer_size) = keep(&packed, &blobs)?;
    let config = blob(&blobs, work, &config(image, &layer))?;
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": descriptor("application/vnd.oci.image.config.v1+json", &config),
        "layers": [descriptor("application/vnd.oci.image.layer.v1.tar", &(layer, layer_size))],
    });
    let mut entry = descriptor("application/vnd.oci.image.manifest.v1+json", &blob(&blobs, work, &manifest)?);
    // The name under which the runtime keeps it.
    entry["annotations"] = json!({"io.containerd.image.name": image.reference(), "org.opencontainers.image.ref.name": image.tag});
    let index = json!({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [entry]});
    fs::write(layout.join("index.json"), serde_json::to_vec(&index)?)?;
    fs::write(layout.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#)?;
    let whole = work.join("image.tar");
    tar(&layout, &whole)?;
    Ok(fs::rename(whole, file)?)
}

fn put(root: &Path, path: &str, content: &Content) -> Result<()> {
    let target = root.join(path.trim_start_matches('/'));
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder)?;
    }
    match content {
        Content::Link(to) => Ok(fs::os::unix::fs::symlink(to, target)?),
        Content::File(from) => {
            fs::copy(from, &target)?;
            set_mode(&target, 0o755)
        }
    }
}

fn set_mode(path: &Path, mode: u32) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::set_permissions(path, std::fs::Permissions::from_mode(mode))?)
}

/// Same files, same bytes: names in order, no times, no owners.
fn tar(folder: &Path, file: &Path) -> Result<()> {
    Step::new("tar", which("tar").context("tar is not installed")?)
        .arguments(["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"])
        .arguments(["-C".as_ref(), folder.as_os_str(), "-cf".as_ref(), file.as_os_str(), ".".as_ref()])
        .output()
        .map(drop)
}

fn config(image: &Image, layer: &str) -> Value {
    json!({
        "created": "1970-01-01T00:00:00Z",
        "architecture": match std::env::consts::ARCH { "x86_64" => "amd64", "aarch64" => "arm64", other => other },
        "os": "linux",
        "config": {
            "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
            "Entrypoint": image.entrypoint,
            "User": image.user,
        },
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{layer}")]},
    })
}

fn descriptor(media_type: &str, (hash, size): &(String, u64)) -> Value {
    json!({"mediaType": media_type, "digest": format!("sha256:{hash}"), "size": size})
}

fn blob(blobs: &Path, work: &Work, value: &Value) -> Result<(String, u64)> {
    let file = work.join("blob");
    fs::write(&file, serde_json::to_vec(value)?)?;
    keep(&file, blobs)
}

/// Moves a file among the blobs, under its hash.
fn keep(file: &Path, blobs: &Path) -> Result<(String, u64)> {
    let size = fs::metadata(file)?.len();
    // A program of its own: an image has a hundred megabytes, and this is not optimised.
    let sum = which("sha256sum").context("sha256sum is not installed")?;
    let printed = Step::new("sha256sum", sum).arguments([file]).output()?;
    let hash = printed.split_whitespace().next().context("sha256sum printed nothing")?.to_owned();
    fs::rename(file, blobs.join(&hash))?;
    Ok((hash, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> Image {
        toml::from_str("name = \"example.org/a/b\"\ntag = \"1\"\nprograms = []\nentrypoint = [\"/x\"]")
            .unwrap()
    }

    #[test]
    fn the_same_files_are_the_same_bytes() {
        let folder = std::env::temp_dir().join(format!("trellis-images-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let source = folder.join("x");
        fs::write(&source, "content").unwrap();
        let files = BTreeMap::from([
            ("/x".to_owned(), Content::File(source)),
            ("/bin/y".to_owned(), Content::Link("/x".to_owned())),
        ]);
        let made = |name: &str| {
            let file = folder.join(name);
            write(&image(), &files, &Work::begin(&folder, name).unwrap(), &file.with_extension("tar"))
                .unwrap();
            fs::read(file.with_extension("tar")).unwrap()
        };
        let (first, second) = (made("first"), made("second"));
        let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
        fs::remove_dir_all(&folder).unwrap();
        assert!(first == second, "two runs differ");
        assert_eq!(left.len(), 3, "work is left behind: {left:?}");
        let text = String::from_utf8_lossy(&first);
        for part in ["example.org/a/b:1", "oci-layout", "\"diff_ids\":[\"sha256:"] {
            assert!(text.contains(part), "{part}");
        }
    }
}

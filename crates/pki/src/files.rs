//! Files that only their owner may read, written so that no reader ever sees half of one.

use std::{
    io::{Read as _, Write as _},
    path::Path,
};

use fs_err as fs;

use crate::Error;

/// Largest file that is read as key, certificate or bundle.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Makes a folder, and those above it, for the owner only (0700). One that exists keeps its mode.
///
/// # Errors
/// When it cannot be made.
pub fn create_private_dir(dir: &Path) -> Result<(), Error> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(|source| Error::file("make", dir, source))
}

/// Replaces a file as a whole: temporary file beside it (0600), fsync, rename, fsync of the folder.
/// The folder is made when it is not there.
///
/// # Errors
/// When any of these steps fails; the old content is then untouched.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let dir = match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    };
    create_private_dir(dir)?;
    replace(dir, path, bytes).map_err(|source| Error::file("write", path, source))
}

fn replace(dir: &Path, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    // tempfile makes the file 0600, whatever the umask.
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    fs::File::open(dir)?.sync_all()
}

/// Reads a file of at most 16 MiB.
///
/// # Errors
/// When it cannot be read or is larger.
pub fn read_limited(path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |source| Error::file("read", path, source);
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(failed(std::io::Error::new(
            std::io::ErrorKind::FileTooLarge,
            format!("larger than {MAX_FILE_BYTES} bytes"),
        )));
    }
    Ok(bytes)
}

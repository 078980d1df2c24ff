//! OpenAPI documents on disk, named by their hash; in memory only what is asked for.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use catalog::{DocumentRef, Documents};

use crate::disk::{self, Durability};

/// Bytes of documents kept in memory, all together.
const HOT_BYTES: usize = 4 << 20;
/// A document younger than this is kept although nobody refers to it yet.
const GRACE: Duration = Duration::from_secs(60);

/// Content-addressed documents in one folder.
#[derive(Debug)]
pub struct DocumentStore {
    folder: PathBuf,
    hot: Mutex<Hot>,
}

#[derive(Debug, Default)]
struct Hot {
    documents: HashMap<Arc<str>, Bytes>,
    /// Oldest first.
    order: VecDeque<Arc<str>>,
    bytes: usize,
}

impl DocumentStore {
    /// Opens the folder, which is made when it is missing.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn open(folder: &Path) -> io::Result<Self> {
        disk::make_folder(folder)?;
        Ok(Self { folder: folder.to_owned(), hot: Mutex::default() })
    }

    /// Keeps `bytes`. May block on the disk.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn put(&self, bytes: &[u8]) -> io::Result<DocumentRef> {
        let document = reference(bytes);
        if self.contains(&document) {
            return Ok(document);
        }
        let path = self.path(&document);
        disk::write(&path, bytes, Durability::Relaxed).map_err(|error| disk::named(&path, &error))?;
        Ok(document)
    }

    /// Whether the document is there, as far as its length tells.
    pub(crate) fn contains(&self, document: &DocumentRef) -> bool {
        std::fs::metadata(self.path(document)).is_ok_and(|found| found.len() == document.len)
    }

    /// Hashes of everything in the folder.
    fn hashes(&self) -> HashSet<String> {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return HashSet::new() };
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }

    /// Deletes what `referenced` does not name and has not just been written.
    pub(crate) fn retain(&self, referenced: &HashSet<Arc<str>>) {
        let old = |path: &Path| {
            let written = std::fs::metadata(path).and_then(|found| found.modified());
            written
                .is_ok_and(|written| SystemTime::now().duration_since(written).is_ok_and(|age| age > GRACE))
        };
        for name in self.hashes().into_iter().filter(|name| !referenced.contains(name.as_str())) {
            let path = self.folder.join(&name);
            if old(&path) {
                let _ = std::fs::remove_file(&path);
            }
        }
    }

    fn path(&self, document: &DocumentRef) -> PathBuf {
        self.folder.join(&*document.hash)
    }

    fn read(&self, document: &DocumentRef) -> io::Result<Bytes> {
        let path = self.path(document);
        let bytes = std::fs::read(&path).map_err(|error| disk::named(&path, &error))?;
        if reference(&bytes) != *document {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!(
                    "{}: the document is damaged; delete the file and it is fetched again",
                    path.display()
                ),
            ));
        }
        Ok(Bytes::from(bytes))
    }
}

impl Documents for DocumentStore {
    fn get(&self, document: &DocumentRef) -> io::Result<Bytes> {
        let hot = || self.hot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = hot().documents.get(&document.hash) {
            return Ok(bytes.clone());
        }
        let bytes = self.read(document)?;
        hot().keep(&document.hash, &bytes);
        Ok(bytes)
    }
}

impl Hot {
    fn keep(&mut self, hash: &Arc<str>, bytes: &Bytes) {
        if bytes.len() > HOT_BYTES / 2 || self.documents.contains_key(hash) {
            return;
        }
        self.bytes += bytes.len();
        self.documents.insert(Arc::clone(hash), bytes.clone());
        self.order.push_back(Arc::clone(hash));
        while self.bytes > HOT_BYTES {
            let Some(oldest) = self.order.pop_front() else { return };
            if let Some(gone) = self.documents.remove(&oldest) {
                self.bytes -= gone.len();
            }
        }
    }
}

/// The reference that `bytes` have.
pub(crate) fn reference(bytes: &[u8]) -> DocumentRef {
    DocumentRef { hash: kube_wire::etag::sha512_hex(bytes).into(), len: bytes.len() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_come_back_and_damage_is_noticed() {
        let folder = tempfile::tempdir().expect("folder");
        let store = DocumentStore::open(&folder.path().join("documents")).expect("store");
        let kept = store.put(b"{\"openapi\":\"3.0.0\"}").expect("put");
        assert_eq!(store.put(b"{\"openapi\":\"3.0.0\"}").expect("again"), kept);
        assert_eq!(&store.get(&kept).expect("get")[..], b"{\"openapi\":\"3.0.0\"}");

        let damaged = store.put(b"other").expect("put");
        std::fs::write(store.path(&damaged), b"0ther").expect("damage");
        let error = store.get(&damaged).expect_err("damage").to_string();
        assert!(error.contains("the document is damaged"), "{error}");
    }

    #[test]
    fn memory_is_bounded() {
        let folder = tempfile::tempdir().expect("folder");
        let store = DocumentStore::open(folder.path()).expect("store");
        for number in 0..12_u8 {
            let document = store.put(&vec![number; 1 << 20]).expect("put");
            assert_eq!(store.get(&document).expect("get").len(), 1 << 20);
        }
        assert!(store.hot.lock().expect("lock").bytes <= HOT_BYTES);
    }

    #[test]
    fn young_documents_survive_a_sweep() {
        let folder = tempfile::tempdir().expect("folder");
        let store = DocumentStore::open(folder.path()).expect("store");
        let document = store.put(b"young").expect("put");
        store.retain(&HashSet::new());
        assert!(store.get(&document).is_ok());
    }
}

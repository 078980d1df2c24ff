//! A disk in memory whose power can fail: it keeps what was synced, and of the rest what chance wants.

use std::{
    io,
    sync::{Arc, Mutex},
};

use redb::StorageBackend;

/// A disk. Clones are the same disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// What is there as long as the power is on.
    present: Vec<u8>,
    /// What is there for ever.
    synced: Vec<u8>,
    /// What was done since the last sync.
    unsynced: Vec<Change>,
    syncs: usize,
    /// The power fails during this sync.
    fails_at: Option<usize>,
    /// The disk has no more than this.
    capacity: Option<u64>,
    off: bool,
}

#[derive(Clone, Debug)]
enum Change {
    Len(u64),
    Write(u64, Vec<u8>),
}

/// What of the unsynced writes has reached the disk when the power failed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Survives {
    Nothing,
    All,
    /// Those whose number, times this, is odd in one of its bits: some, in no order.
    Some(u32),
}

impl Disk {
    /// Lets the power fail during sync number `sync`, counted from one.
    pub(crate) fn failing_at(sync: usize) -> Self {
        let disk = Self::default();
        disk.0.lock().unwrap().fails_at = Some(sync);
        disk
    }

    /// Lets it have no more than this many bytes; none: no limit.
    pub(crate) fn set_capacity(&self, capacity: Option<u64>) {
        self.0.lock().unwrap().capacity = capacity;
    }

    /// How many times it was synced.
    pub(crate) fn syncs(&self) -> usize {
        self.0.lock().unwrap().syncs
    }

    /// How long it is.
    pub(crate) fn len(&self) -> u64 {
        self.0.lock().unwrap().present.len() as u64
    }

    /// Whether the power has failed.
    pub(crate) fn is_off(&self) -> bool {
        self.0.lock().unwrap().off
    }

    /// The disk as it is found when the power is back.
    pub(crate) fn after_power_failure(&self, survives: Survives) -> Self {
        let state = self.0.lock().unwrap();
        let mut found = state.synced.clone();
        for (number, change) in state.unsynced.iter().enumerate() {
            let kept = match survives {
                Survives::Nothing => false,
                Survives::All => true,
                Survives::Some(seed) => (number as u32).wrapping_add(1).wrapping_mul(seed) >> 13 & 1 == 1,
            };
            if kept {
                change.apply(&mut found);
            }
        }
        Self(Arc::new(Mutex::new(State { present: found.clone(), synced: found, ..State::default() })))
    }
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Len(len) => bytes.resize(*len as usize, 0),
            Self::Write(offset, data) => {
                let end = *offset as usize + data.len();
                // The change of length may be what got lost.
                if bytes.len() < end {
                    bytes.resize(end, 0);
                }
                bytes[*offset as usize..end].copy_from_slice(data);
            }
        }
    }
}

impl State {
    fn check(&self) -> io::Result<()> {
        if self.off { Err(io::Error::other("the power is off")) } else { Ok(()) }
    }

    fn change(&mut self, change: Change) -> io::Result<()> {
        self.check()?;
        change.apply(&mut self.present);
        self.unsynced.push(change);
        Ok(())
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        let state = self.0.lock().unwrap();
        state.check().map(|()| state.present.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.0.lock().unwrap();
        state.check()?;
        let range = offset as usize..offset as usize + out.len();
        out.copy_from_slice(state.present.get(range).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        if state.capacity.is_some_and(|capacity| len > capacity) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        state.change(Change::Len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        state.check()?;
        state.syncs += 1;
        if state.fails_at == Some(state.syncs) {
            state.off = true;
            return state.check();
        }
        state.synced = state.present.clone();
        state.unsynced.clear();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        state.change(Change::Write(offset, data.to_vec()))
    }
}

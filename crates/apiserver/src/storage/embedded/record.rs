//! One value as it lies in the file. A record says of itself what it is and whether it is whole, so that it
//! can be found in a file whose tables are lost.
//!
//! ```text
//! magic 8 | CRC-32 of what follows 4 | revision 8 | kind 1 | length of key 2 | of value 4 | key | value
//! ```
//! Numbers are little-endian.

use bytes::Bytes;

use crate::storage::{Item, Key, Revision};

/// What each record begins with.
pub(super) const MAGIC: &[u8; 8] = b"\x93trlobj1";
const HEADER: usize = 27;
const PUT: u8 = 1;
const DELETE: u8 = 0;

/// What was written at a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) key: Key,
    pub(super) revision: Revision,
    /// None: the key was deleted.
    pub(super) value: Option<Bytes>,
}

impl Record {
    /// What is stored, if something is.
    pub(super) fn item(self) -> Option<Item> {
        Some(Item { value: self.value?, revision: self.revision })
    }

    /// Appends it.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let key = self.key.as_str().as_bytes();
        let value = self.value.as_deref().unwrap_or_default();
        let kind = if self.value.is_some() { PUT } else { DELETE };
        // Both lengths are limited where keys and values come in.
        let (key_len, value_len) = (key.len() as u16, value.len() as u32);
        out.extend_from_slice(MAGIC);
        let checked_from = out.len() + 4;
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&self.revision.0.to_le_bytes());
        out.push(kind);
        out.extend_from_slice(&key_len.to_le_bytes());
        out.extend_from_slice(&value_len.to_le_bytes());
        out.extend_from_slice(key);
        out.extend_from_slice(value);
        let sum = crc32fast::hash(&out[checked_from..]);
        out[checked_from - 4..checked_from].copy_from_slice(&sum.to_le_bytes());
    }

    /// Its bytes.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let value = self.value.as_ref().map_or(0, Bytes::len);
        let mut out = Vec::with_capacity(HEADER + self.key.as_str().len() + value);
        self.encode(&mut out);
        out
    }

    /// The record at the beginning of `bytes`, and its length. None when there is no whole one.
    pub(super) fn decode(bytes: &[u8]) -> Option<(Self, usize)> {
        let (header, rest) = bytes.split_at_checked(HEADER)?;
        if !header.starts_with(MAGIC) {
            return None;
        }
        let number = |range: std::ops::Range<usize>| {
            header[range].iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte))
        };
        let (key_len, value_len) = (number(21..23) as usize, number(23..27) as usize);
        let key = rest.get(..key_len)?;
        let value = rest.get(key_len..key_len.checked_add(value_len)?)?;
        let len = HEADER + key_len + value_len;
        if u64::from(crc32fast::hash(&bytes[12..len])) != number(8..12) {
            return None;
        }
        let key = Key::parse(std::str::from_utf8(key).ok()?).ok()?;
        let value = (header[20] == PUT).then(|| Bytes::copy_from_slice(value));
        Some((Self { key, revision: Revision(number(12..20)), value }, len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(value: Option<&'static [u8]>) -> Record {
        let key = Key::new("configmaps", Some("default"), "a").unwrap();
        Record { key, revision: Revision(0x0102_0304_0506), value: value.map(Bytes::from_static) }
    }

    #[test]
    fn what_is_written_is_read() {
        for value in [None, Some(&b""[..]), Some(&b"value"[..])] {
            let mut bytes = record(value).to_bytes();
            let len = bytes.len();
            bytes.extend_from_slice(b"more");
            assert_eq!(Record::decode(&bytes), Some((record(value), len)));
        }
    }

    #[test]
    fn every_changed_bit_and_every_cut_is_seen() {
        let whole = record(Some(b"value")).to_bytes();
        for len in 0..whole.len() {
            assert_eq!(Record::decode(&whole[..len]), None, "cut to {len}");
        }
        for bit in 0..whole.len() * 8 {
            let mut changed = whole.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Record::decode(&changed), None, "bit {bit}");
        }
    }
}

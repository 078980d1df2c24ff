//! Names that the server makes.

/// Longest name that is made.
const MAX_LEN: usize = 63;
/// Characters behind the prefix.
const RANDOM: usize = 5;
/// Without vowels and what looks alike, as upstream's.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
/// As often another name is tried when one is taken.
pub(super) const ATTEMPTS: usize = 8;

/// A name that begins with this and ends with something random.
pub(super) fn generate(prefix: &str) -> String {
    let mut end = prefix.len().min(MAX_LEN - RANDOM);
    while !prefix.is_char_boundary(end) {
        end -= 1;
    }
    let random = uuid::Uuid::new_v4();
    // The first five bytes of a version 4 UUID are random.
    let suffix = random.as_bytes()[..RANDOM]
        .iter()
        .map(|byte| char::from(ALPHABET[usize::from(*byte) % ALPHABET.len()]));
    prefix[..end].chars().chain(suffix).collect()
}

//! Names as a careless server may read them.

/// Longest prefix that must be recognised (`authorization`), with room for what follows it.
const PREFIX: usize = 16;

/// Which protected header a name could be taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LookAlike {
    /// `X-Remote-*`.
    RequestHeader,
    /// `Impersonate-*`.
    Impersonate,
    /// `Proxy` and `Proxy-*`.
    Proxy,
    /// `Authorization`.
    Authorization,
}

/// The beginning of a header name after folding: letters lower-cased, every run of other characters one
/// `_`, none at the start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fold {
    text: [u8; PREFIX],
    len: usize,
}

impl Fold {
    /// Folds `name`; stops when enough is known.
    pub(super) fn of(name: &str) -> Self {
        let mut fold = Self { text: [0; PREFIX], len: 0 };
        for byte in name.bytes() {
            if fold.len == PREFIX {
                break;
            }
            fold.push(byte);
        }
        fold
    }

    fn push(&mut self, byte: u8) {
        let folded = if byte.is_ascii_alphanumeric() { byte.to_ascii_lowercase() } else { b'_' };
        let repeats = self.len == 0 || self.text[self.len - 1] == b'_';
        if folded == b'_' && repeats {
            return;
        }
        self.text[self.len] = folded;
        self.len += 1;
    }

    /// What this name could be taken for.
    pub(super) fn look_alike(&self) -> Option<LookAlike> {
        let named = |word: &[u8]| {
            self.text[..self.len].starts_with(word)
                && (self.len == word.len() || self.text[word.len()] == b'_')
        };
        if named(b"x_remote") {
            Some(LookAlike::RequestHeader)
        } else if named(b"impersonate") {
            Some(LookAlike::Impersonate)
        } else if named(b"proxy") {
            Some(LookAlike::Proxy)
        } else if named(b"authorization") {
            Some(LookAlike::Authorization)
        } else {
            None
        }
    }
}

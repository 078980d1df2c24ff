//! Progress on standard error, for a person who waits; silent when nobody looks.

use std::io::{IsTerminal, Write};

/// One line that is written over.
pub(crate) struct Progress {
    shown: bool,
    last: String,
}

impl Progress {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self { shown: std::io::stderr().is_terminal(), last: String::new() }
    }

    /// Says what is being waited for now.
    pub(crate) fn say(&mut self, what: &str) {
        if self.shown && self.last != what {
            let line: String = what.replace(char::is_control, " ").chars().take(100).collect();
            let _ = write!(std::io::stderr(), "\r\x1b[2K{line}");
            what.clone_into(&mut self.last);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown && !self.last.is_empty() {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}

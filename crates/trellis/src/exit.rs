//! How a command ends: an exit code that scripts can rely on, and a sentence that a person can act on.

use std::{fmt, io, process::ExitCode};

/// The exit codes. They are part of the interface and listed in `docs/commands.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// Something that has no code of its own.
    Failure = 1,
    /// The command line cannot be understood.
    Usage = 2,
    /// A file or value that was given is wrong: configuration, kubeconfig, certificate, URL.
    Input = 3,
    /// The address to listen on is not to be had.
    Listen = 4,
    /// The state folder cannot be used: full, not writable, in use, or damaged.
    State = 5,
    /// The door cannot be reached.
    Unreachable = 6,
    /// The door refused: not known (401) or not allowed (403).
    Refused = 7,
    /// The object named does not exist.
    NotFound = 8,
    /// The object exists already, or somebody else changed it meanwhile.
    Conflict = 9,
    /// What was waited for did not come in time; what was asked for is done.
    Waited = 10,
    /// Of a cluster: something would change, or was not done because nobody said so.
    Pending,
    /// Of a cluster: something stands in the way on a host; nothing was changed.
    Preflight,
    /// Of a cluster: some of it is done; running it again goes on.
    Partly,
    /// Of a cluster: something is not well.
    Unhealthy,
}

impl Code {
    /// The number. Those of a cluster have meanings of their own.
    fn number(self) -> u8 {
        match self {
            Self::Pending => 2,
            Self::Preflight => 4,
            Self::Partly => 5,
            Self::Unhealthy => 6,
            other => other as u8,
        }
    }
}

/// Why a command ended without success.
#[derive(Debug)]
pub(crate) struct Problem {
    code: Code,
    what: String,
    next: Option<String>,
}

/// What most functions of this crate return.
pub(crate) type Outcome<T = ()> = Result<T, Problem>;

impl Problem {
    /// A problem that `what` describes: the thing, the place and the cause in one sentence.
    pub(crate) fn new(code: Code, what: impl fmt::Display) -> Self {
        Self { code, what: what.to_string(), next: None }
    }

    /// An exit code that says it all: what there is to say has been printed.
    pub(crate) fn quiet(code: Code) -> Self {
        Self::new(code, "")
    }

    /// A key, a certificate or a file of the state folder that cannot be used or written.
    pub(crate) fn state(error: pki::Error) -> Self {
        let next = match &error {
            pki::Error::File { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                "make room there, or choose another folder; what was written before is whole"
            }
            pki::Error::File { .. } => "correct its permissions, or choose another folder",
            _ => {
                "restore the file from a copy, or remove certificate and key together: they are made anew, \
                 and whoever trusts them has to be told"
            }
        };
        Self::new(Code::State, error).next(next)
    }

    /// A key, a certificate or a file that was given and cannot be used.
    pub(crate) fn given(error: pki::Error) -> Self {
        let next = match &error {
            pki::Error::File { .. } => "correct the path or the permissions of the file",
            _ => "give a PEM file that holds what is asked for",
        };
        Self::new(Code::Input, error).next(next)
    }

    /// Adds what to do about it.
    pub(crate) fn next(mut self, next: impl fmt::Display) -> Self {
        self.next = Some(next.to_string());
        self
    }

    /// The same about a configuration file, whose keys stand for the flags that the sentence names.
    pub(crate) fn in_file(self, file: &std::path::Path) -> Self {
        let keys = |text: &str| {
            let words = text.split(' ').map(|word| match word.strip_prefix("--") {
                Some(flag) => crate::config::key_of(flag),
                None => word.to_owned(),
            });
            words.collect::<Vec<_>>().join(" ")
        };
        let what = format!("{}: {}", file.display(), keys(&self.what));
        Self { code: Code::Input, what, next: self.next.as_deref().map(keys) }
    }

    /// The code that the process ends with.
    #[cfg(test)]
    pub(crate) fn code(&self) -> Code {
        self.code
    }

    /// Tells it on standard error and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        if !self.what.is_empty() {
            eprintln!("trellis: {self}");
        }
        ExitCode::from(self.code.number())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.next {
            Some(next) => write!(f, "\n  next: {next}"),
            None => Ok(()),
        }
    }
}

/// Prints what clap has to say: help and version on standard output, the rest on standard error.
pub(crate) fn usage(message: &clap::Error) -> ExitCode {
    // A closed pipe (`trellis --help | head -1`) is no failure.
    let _ = message.print();
    if message.use_stderr() { ExitCode::from(Code::Usage.number()) } else { ExitCode::SUCCESS }
}

/// An error with everything below it, as `a: b: c`; a cause that its parent already quotes is not repeated.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_and_what_next() {
        let problem =
            Problem::new(Code::Listen, "cannot listen on 127.0.0.1:1: in use").next("choose another");
        assert_eq!(problem.to_string(), "cannot listen on 127.0.0.1:1: in use\n  next: choose another");
        assert_eq!(problem.code().number(), 4);
    }

    #[test]
    fn a_chain_says_nothing_twice() {
        let inner = std::io::Error::other("disk is gone");
        let outer = std::io::Error::other(inner);
        assert_eq!(chain(&outer), "disk is gone");
    }
}

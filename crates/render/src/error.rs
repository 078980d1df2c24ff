//! Why files cannot be made. All of it is about `deploy/` or the keys: a resolved cluster is good.

/// What is wrong, and where.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// A file that is named is not there.
    #[error("{by} names {file}, which is not there")]
    NoFile {
        /// Who names it.
        by: String,
        /// The file.
        file: String,
    },
    /// A line of `tree.txt` that cannot be understood.
    #[error("tree.txt:{line}: {problem}")]
    Layout {
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// A line with braces that cannot be understood.
    #[error("{file}:{line}: {problem}")]
    Template {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// A name that nothing was decided for.
    #[error("{file}:{line}: there is no decision {name:?}")]
    Unknown {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// The name.
        name: String,
    },
    /// A list where one value belongs, or the other way round; or a value that is not true or false.
    #[error("{file}:{line}: {name:?} is {problem}")]
    Kind {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// The name.
        name: String,
        /// What it is instead.
        problem: &'static str,
    },
    /// A value that would become a second line.
    #[error("{file}:{line}: the value of {name:?} has more than one line")]
    Lines {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// The name.
        name: String,
    },
    /// A key or certificate that was not made.
    #[error("there is no key or certificate {name} for {host}")]
    NoKey {
        /// The host.
        host: String,
        /// The name.
        name: String,
    },
}

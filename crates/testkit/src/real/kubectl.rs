//! kubectl, helm and other command-line clients, each with a home of its own.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
};

use tempfile::TempDir;

use super::{Unavailable, program, program_version};

/// What a command came to.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Exit code; -1 when a signal ended it.
    pub code: i32,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error, as text.
    pub stderr: String,
}

impl Finished {
    /// Standard output as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// A client program with a kubeconfig and an empty home.
pub struct Program {
    program: PathBuf,
    leading: Vec<String>,
    environment: Vec<(String, String)>,
    kubeconfig: PathBuf,
    home: TempDir,
}

/// kubectl is the client most of them are compared with.
pub type Kubectl = Program;

impl Program {
    /// kubectl, in the version that tests take when they name none.
    ///
    /// # Errors
    /// When it is not there.
    pub fn kubectl(kubeconfig: &Path) -> Result<Self, Unavailable> {
        Ok(Self::new(program("kubectl")?, kubeconfig))
    }

    /// Another version of kubectl.
    ///
    /// # Errors
    /// When it is not there.
    pub fn kubectl_version(version: &str, kubeconfig: &Path) -> Result<Self, Unavailable> {
        Ok(Self::new(program_version("kubectl", version)?, kubeconfig))
    }

    /// Any client.
    ///
    /// # Panics
    /// When there is no place for its home.
    pub fn new(program: PathBuf, kubeconfig: &Path) -> Self {
        let home = TempDir::new().expect("a temporary folder");
        Self {
            program,
            leading: Vec::new(),
            environment: Vec::new(),
            kubeconfig: kubeconfig.to_owned(),
            home,
        }
    }

    /// Arguments that go before all others, for example a script.
    #[must_use]
    pub fn leading(mut self, arguments: &[&str]) -> Self {
        self.leading.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        self
    }

    /// An environment variable.
    #[must_use]
    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Its home, where files for it can be put.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// The command line, ready to be started.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.leading)
            .args(arguments)
            .env("HOME", self.home.path())
            .env("KUBECONFIG", &self.kubeconfig)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(self.home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs it.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn run(&self, arguments: &[&str]) -> Finished {
        let output = self.command(arguments).output();
        output.unwrap_or_else(|error| panic!("{}: {error}", self.program.display())).into()
    }

    /// Runs it and feeds its standard input, while its outputs are read.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn run_with_input(&self, arguments: &[&str], input: Vec<u8>) -> Finished {
        let mut command = self.command(arguments);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("a client program");
        let mut stdin = child.stdin.take().expect("its standard input");
        // A client that ends early closes the pipe: that shows in its exit code.
        let writer = thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().expect("its outputs");
        let _ = writer.join();
        output.into()
    }

    /// Runs it and wants success; gives standard output.
    ///
    /// # Panics
    /// When it fails: with its standard error.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let finished = self.run(arguments);
        assert_eq!(finished.code, 0, "{arguments:?}: {}{}", finished.text(), finished.stderr);
        finished.text()
    }

    /// Applies a manifest.
    ///
    /// # Panics
    /// When that fails.
    pub fn apply(&self, manifest: &str) {
        let finished = self.run_with_input(&["apply", "-f", "-"], manifest.as_bytes().to_vec());
        assert_eq!(finished.code, 0, "apply: {}\n{manifest}", finished.stderr);
    }
}

//! Running other programs: with a log of their own, whose end is shown when they fail.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use fs_err as fs;

/// Lines of a log that are shown when its step failed.
const TAIL: usize = 40;

/// A program to run.
pub(crate) struct Step {
    name: String,
    command: Command,
    limit: Option<Duration>,
}

impl Step {
    /// `program`, called `name` in messages.
    pub(crate) fn new(name: impl Into<String>, program: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(program);
        command.stdin(Stdio::null());
        Self { name: name.into(), command, limit: None }
    }

    /// Adds arguments.
    pub(crate) fn arguments<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Runs in this folder.
    pub(crate) fn directory(mut self, directory: impl AsRef<Path>) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Sets an environment variable.
    pub(crate) fn environment(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.command.env(name, value.into());
        self
    }

    /// Ends the program when it takes longer; it has failed then. Not for [`Self::output`].
    pub(crate) fn limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Runs and gives standard output.
    ///
    /// # Errors
    /// When the program cannot be started or fails; what it wrote to standard error is in the message.
    pub(crate) fn output(mut self) -> Result<String> {
        let output = self.command.output().with_context(|| format!("{}: cannot be started", self.name))?;
        if !output.status.success() {
            bail!("{}: {}: {}", self.name, output.status, String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs with both outputs into `log`.
    ///
    /// # Errors
    /// When the program cannot be started or fails: the message names the log and shows its end.
    pub(crate) fn logged(self, log: &Path) -> Result<()> {
        let name = self.name.clone();
        if self.status(log)? {
            return Ok(());
        }
        bail!("{name} failed; its log {} ends with\n{}", log.display(), tail(log));
    }

    /// Runs with both outputs into `log`, and tells whether it succeeded.
    ///
    /// # Errors
    /// When the program cannot be started or the log not be written.
    pub(crate) fn status(mut self, log: &Path) -> Result<bool> {
        if let Some(folder) = log.parent() {
            fs::create_dir_all(folder)?;
        }
        let file = fs::File::create(log)?.into_parts().0;
        self.command.stdout(file.try_clone()?).stderr(file);
        let child = self.command.spawn().with_context(|| format!("{}: cannot be started", self.name))?;
        Ok(wait(child, self.limit)?.is_some_and(|status| status.success()))
    }
}

/// Waits for a child; none when it was ended because its time was up.
fn wait(mut child: Child, limit: Option<Duration>) -> Result<Option<ExitStatus>> {
    let Some(limit) = limit else { return Ok(Some(child.wait()?)) };
    let started = Instant::now();
    while started.elapsed() < limit {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// The last lines of a log, indented.
pub(crate) fn tail(log: &Path) -> String {
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(TAIL);
    lines[from..].iter().map(|line| format!("    {line}\n")).collect()
}

/// Where `program` is, looked for in `PATH` and in the folders of system programs.
pub(crate) fn which(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin", "/usr/local/sbin"].map(PathBuf::from))
        .map(|folder| folder.join(program))
        .find(|candidate| candidate.is_file())
}

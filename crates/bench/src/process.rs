//! A process under test: started, measured through `/proc`, stopped.

use std::{
    collections::HashMap,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use fs_err as fs;

/// A child process with its own children; killed when dropped.
pub struct Process {
    child: Child,
    name: String,
}

/// Processor time and memory at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Seconds on a processor, all threads and child processes.
    pub cpu_seconds: f64,
    /// Resident memory in kB: private pages plus its part of the shared ones.
    pub memory_kb: f64,
}

impl Process {
    /// Starts `command`; what it prints goes to `log`.
    pub fn start(name: &str, command: &mut Command, log: &Path) -> Result<Self> {
        let file = fs::File::create(log)?.into_parts().0;
        let child = command
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()
            .with_context(|| format!("start {name}: {command:?}"))?;
        Ok(Self { child, name: name.to_owned() })
    }

    /// What it and its children have used so far.
    pub fn usage(&self) -> Result<Usage> {
        usage(self.child.id()).with_context(|| self.name.clone())
    }

    /// Sends a signal by its name, such as `STOP`.
    pub fn signal(&self, signal: &str) -> Result<()> {
        for pid in family(self.child.id())? {
            Command::new("kill").args([format!("-{signal}"), pid.to_string()]).status()?;
        }
        Ok(())
    }

    /// Ends it with SIGTERM, and with SIGKILL when it does not go.
    pub fn stop(&mut self) -> Result<()> {
        self.signal("TERM")?;
        for _ in 0..100 {
            if self.child.try_wait()?.is_some() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        self.kill();
        Ok(())
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let family = family(self.child.id()).unwrap_or_default();
        self.kill();
        for pid in family.iter().skip(1) {
            Command::new("kill").args(["-KILL", &pid.to_string()]).stderr(Stdio::null()).status().ok();
        }
    }
}

/// What a process and its children have used so far.
pub fn usage(root: u32) -> Result<Usage> {
    let mut usage = Usage::default();
    for pid in family(root)? {
        usage.cpu_seconds += cpu_seconds(pid).unwrap_or(0.0);
        usage.memory_kb += memory_kb(pid).unwrap_or(0.0);
    }
    if usage.memory_kb == 0.0 {
        bail!("process {root} is no longer running");
    }
    Ok(usage)
}

/// The process and its descendants.
fn family(root: u32) -> Result<Vec<u32>> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in fs::read_dir("/proc")? {
        let Ok(pid) = entry?.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let parent = after_name.split_whitespace().nth(1).and_then(|ppid| ppid.parse().ok());
        children.entry(parent.unwrap_or(0)).or_default().push(pid);
    }
    let mut family = vec![root];
    let mut next = 0;
    while let Some(pid) = family.get(next) {
        family.extend(children.get(pid).into_iter().flatten().copied().collect::<Vec<_>>());
        next += 1;
    }
    Ok(family)
}

/// Nanosecond-exact time on a processor, as the scheduler counted it for each thread.
fn cpu_seconds(pid: u32) -> Result<f64> {
    let mut nanoseconds = 0.0;
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let text = fs::read_to_string(task?.path().join("schedstat"))?;
        nanoseconds += text.split_whitespace().next().and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0);
    }
    Ok(nanoseconds / 1e9)
}

fn memory_kb(pid: u32) -> Result<f64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    let line = text.lines().find(|line| line.starts_with("Pss:")).unwrap_or_default();
    Ok(line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0.0))
}

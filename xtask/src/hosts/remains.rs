//! Takes a lab away, in whatever state it is.

use std::{path::PathBuf, thread, time::Duration};

use anyhow::{Result, bail};
use fs_err as fs;

use super::{cgroups, lab::Lab};
use crate::command::{Step, which};

/// Attempts, with a pause between: processes need a moment to end, and mounts are busy until then.
const ATTEMPTS: usize = 100;
const PAUSE: Duration = Duration::from_millis(100);

/// Ends the hosts of a lab and removes everything that was made for them. Nothing is looked up by what it
/// is called alone: processes are those in the lab's cgroups, mounts those in its folder.
///
/// # Errors
/// When something stays after all attempts: the message says what.
pub(super) fn remove(lab: &Lab) -> Result<()> {
    let mut left = Vec::new();
    for _ in 0..ATTEMPTS {
        left = attempt(lab)?;
        if left.is_empty() {
            return Ok(());
        }
        thread::sleep(PAUSE);
    }
    bail!("lab {}: these cannot be removed: {}", lab.number, left.join(", "))
}

/// What is left after one attempt.
fn attempt(lab: &Lab) -> Result<Vec<String>> {
    // Without this record it is no lab that stays, whatever happens from here on.
    if lab.record().exists() {
        fs::remove_file(lab.record())?;
    }
    let cgroups = cgroups::named(&lab.cgroup_prefix())?;
    let mut processes: Vec<String> = cgroups.iter().flat_map(|cgroup| cgroups::processes(cgroup)).collect();
    processes.sort();
    processes.dedup();
    if !processes.is_empty() {
        // One that has just ended makes it fail, which does not matter.
        let _ = Step::new("kill", "/bin/kill").arguments(["-KILL"]).arguments(&processes).output();
        return Ok(processes.into_iter().map(|process| format!("process {process}")).collect());
    }
    cgroups.iter().for_each(|cgroup| cgroups::remove(cgroup));
    let mut left: Vec<String> =
        cgroups.iter().filter(|path| path.exists()).map(|path| path.display().to_string()).collect();
    for mount in mounts(lab)? {
        if Step::new("umount", "umount").arguments([&mount]).output().is_err() {
            left.push(format!("mount {}", mount.display()));
        }
    }
    let bridge = lab.bridge();
    if PathBuf::from("/sys/class/net").join(&bridge).exists() {
        if let Some(ip) = which("ip") {
            // Looked at again by the next attempt.
            let _ = Step::new("ip link delete", ip).arguments(["link", "delete", &bridge]).output();
        }
        left.push(format!("bridge {bridge}"));
    }
    if left.is_empty() && lab.folder.exists() && fs::remove_dir_all(&lab.folder).is_err() {
        left.push(lab.folder.display().to_string());
    }
    Ok(left)
}

/// Mounts in the folder of the lab, the innermost first.
fn mounts(lab: &Lab) -> Result<Vec<PathBuf>> {
    let text = fs::read_to_string("/proc/self/mounts")?;
    let places = text.lines().filter_map(|line| line.split_whitespace().nth(1)).map(PathBuf::from);
    let mut found: Vec<PathBuf> = places.filter(|place| place.starts_with(&lab.folder)).collect();
    found.reverse();
    Ok(found)
}

//! A cgroup for each host in every hierarchy: hosts that shared one would take each other's pods for
//! leftovers and kill them.

use std::path::{Path, PathBuf};

use anyhow::Result;
use fs_err as fs;

/// Makes the cgroups of this name, below those in which this process is.
///
/// # Errors
/// When one cannot be made.
pub(super) fn make(name: &str) -> Result<Vec<PathBuf>> {
    let mut made = Vec::new();
    for parent in parents()? {
        let cgroup = parent.join(name);
        fs::create_dir_all(&cgroup)?;
        // Without these nothing may be put into a cpuset.
        for file in ["cpuset.cpus", "cpuset.mems"] {
            if cgroup.join(file).exists() && parent.join(file).exists() {
                let text = fs::read_to_string(parent.join(file))?;
                if !text.trim().is_empty() {
                    fs::write(cgroup.join(file), text)?;
                }
            }
        }
        made.push(cgroup);
    }
    Ok(made)
}

/// The cgroups whose name begins so, wherever in a hierarchy this process or a reaper may have put them.
pub(super) fn named(prefix: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for mount in mounts()? {
        find(&mount.place, prefix, 4, &mut found);
    }
    Ok(found)
}

fn find(folder: &Path, prefix: &str, depth: usize, found: &mut Vec<PathBuf>) {
    for child in children(folder) {
        let name = child.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with(prefix) {
            found.push(child);
        } else if depth > 0 {
            find(&child, prefix, depth - 1, found);
        }
    }
}

/// The processes in a cgroup and below it.
pub(super) fn processes(cgroup: &Path) -> Vec<String> {
    let own = fs::read_to_string(cgroup.join("cgroup.procs")).unwrap_or_default();
    let below = children(cgroup).into_iter().flat_map(|child| processes(&child));
    own.lines().map(str::to_owned).chain(below).collect()
}

/// Removes a cgroup and those below it; one that still has processes stays.
pub(super) fn remove(cgroup: &Path) {
    for child in children(cgroup) {
        remove(&child);
    }
    let _ = fs::remove_dir(cgroup);
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|e| e.path()).collect()
}

/// A mounted hierarchy.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    place: PathBuf,
    /// Its controllers, or `name=…`; empty for the unified one.
    controllers: Vec<String>,
}

fn mounts() -> Result<Vec<Mount>> {
    Ok(read_mounts(&fs::read_to_string("/proc/self/mounts")?))
}

fn read_mounts(text: &str) -> Vec<Mount> {
    let mount = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let (place, kind, options) = (words.next()?, words.next()?, words.next()?);
        let controllers = match kind {
            "cgroup2" => Vec::new(),
            "cgroup" => options.split(',').map(str::to_owned).collect(),
            _ => return None,
        };
        Some(Mount { place: PathBuf::from(place), controllers })
    };
    text.lines().filter_map(mount).collect()
}

/// The cgroup of this process in each hierarchy.
fn parents() -> Result<Vec<PathBuf>> {
    let own = fs::read_to_string("/proc/self/cgroup")?;
    let mounts = mounts()?;
    Ok(own.lines().filter_map(|line| parent(line, &mounts)).collect())
}

/// From a line `number:controllers:path`.
fn parent(line: &str, mounts: &[Mount]) -> Option<PathBuf> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    let mount = mounts.iter().find(|mount| match controllers.split(',').next() {
        Some("") | None => mount.controllers.is_empty(),
        Some(first) => mount.controllers.iter().any(|known| known == first),
    })?;
    Some(mount.place.join(path.trim_start_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_cgroup_in_each_hierarchy() {
        let mounts = read_mounts(
            "tmpfs /sys/fs/cgroup tmpfs rw 0 0\n\
             cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0\n\
             cgroup /sys/fs/cgroup/systemd cgroup rw,name=systemd 0 0\n\
             cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n",
        );
        let cases = [
            ("4:cpu,cpuacct:/a/b", Some("/sys/fs/cgroup/cpu,cpuacct/a/b")),
            ("1:name=systemd:/", Some("/sys/fs/cgroup/systemd/")),
            ("0::/", Some("/sys/fs/cgroup/unified/")),
            ("2:memory:/", None),
            ("", None),
        ];
        for (line, expected) in cases {
            assert_eq!(parent(line, &mounts), expected.map(PathBuf::from), "{line}");
        }
    }
}

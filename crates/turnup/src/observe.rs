//! What is there on a host.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Serialize;

use crate::{Entry, Error, Facts, HostPath, Record, Request, Session, Wanted};

/// How many paths stand in one request.
const AT_ONCE: usize = 100;
/// How long a host may take to look.
pub(crate) const LOOK: Duration = Duration::from_secs(60);
/// Largest file whose contents are fetched to show a difference, in bytes.
const SHOWN: u64 = 256 << 10;

/// Something at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Seen {
    /// What it is.
    pub kind: Kind,
    /// Permission bits.
    pub mode: u32,
    /// Id of the owner and of the group.
    pub owner: (u32, u32),
    /// Size in bytes.
    pub size: u64,
    /// SHA-256 of a file.
    pub sha256: Option<String>,
}

/// What something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A device, socket or pipe.
    Other,
}

/// How a unit is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnitState {
    /// As `systemctl is-enabled` says.
    pub enabled: String,
    /// As `systemctl is-active` says.
    pub active: String,
}

/// Who works on a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostLock {
    /// Id of the state folder.
    pub id: String,
    /// Person and machine.
    pub owner: String,
    /// For how long, in seconds.
    pub seconds: u64,
}

/// What was found on a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// What it is like.
    pub facts: Facts,
    /// What was laid down there before.
    pub record: Record,
    /// Who works there.
    pub lock: Option<HostLock>,
    /// What lies at the paths that were looked at; nothing at the others.
    pub seen: BTreeMap<HostPath, Seen>,
    /// Units.
    pub units: BTreeMap<String, UnitState>,
    /// Contents of files that differ, where they may be shown.
    pub contents: BTreeMap<HostPath, Vec<u8>>,
}

/// Looks at everything that is known beforehand, in one turn.
///
/// # Errors
/// As of [`Session::ask_all`], and when the record on the host is damaged.
pub async fn observe(
    session: &mut Session,
    wanted: &Wanted,
    address: &str,
    ports: &[u16],
) -> Result<Observed, Error> {
    let facts = std::iter::once(address.to_owned()).chain(ports.iter().map(u16::to_string));
    let mut requests = vec![
        Request::new("facts", facts),
        Request::new("recorded", [""; 0]),
        Request::new("locked", [""; 0]),
        Request::new("units", wanted.own_units()),
    ];
    let paths = wanted.paths();
    requests.extend(paths.chunks(AT_ONCE).map(|paths| Request::new("observe", paths)));
    let mut answers = session.ask_all(&requests, LOOK).await?.into_iter();
    let now = SystemTime::now();
    let mut next = || answers.next().unwrap_or_default();
    let mut observed = Observed { facts: Facts::parse(&next(), now), ..Observed::default() };
    observed.record = Record::parse(session.host(), &next())?;
    observed.lock = next().first().and_then(|line| lock(line));
    observed.units = next().iter().filter_map(|line| unit(line)).collect();
    for lines in answers {
        observed.take(&lines);
    }
    Ok(observed)
}

impl Observed {
    /// Looks at what turns out to matter: what was laid down once and is not wanted any more, and the contents of files
    /// that differ and may be shown. Nothing is asked when there is nothing.
    ///
    /// # Errors
    /// As of [`Session::ask_all`].
    pub async fn complete(&mut self, session: &mut Session, wanted: &Wanted) -> Result<(), Error> {
        let is_wanted =
            |path: &HostPath| wanted.files.contains_key(path) || wanted.folders.contains_key(path);
        let mut paths: Vec<HostPath> =
            self.record.entries.keys().filter(|path| !is_wanted(path)).cloned().collect();
        paths.extend(self.record.leaves.iter().filter_map(crate::units::Leaf::path));
        let looked_at = wanted.paths();
        paths.retain(|path| looked_at.binary_search(path).is_err());
        let former: Vec<&str> = self.record.units.iter().map(String::as_str).collect();
        let former: Vec<&str> = former.into_iter().filter(|name| !self.units.contains_key(*name)).collect();
        let differing = self.differing(wanted);
        let mut requests = Vec::new();
        if !former.is_empty() {
            requests.push(Request::new("units", &former));
        }
        requests.extend(paths.chunks(AT_ONCE).map(|paths| Request::new("observe", paths)));
        let looks = requests.len();
        requests.extend(
            differing.iter().map(|path| Request::new("contents", [path.as_str(), &SHOWN.to_string()])),
        );
        if requests.is_empty() {
            return Ok(());
        }
        let answers = session.ask_all(&requests, LOOK).await?;
        for lines in &answers[..looks] {
            self.units.extend(lines.iter().filter_map(|line| unit(line)));
            self.take(lines);
        }
        for (path, lines) in differing.into_iter().zip(&answers[looks..]) {
            let encoded: String =
                lines.iter().flat_map(|line| line.chars().filter(char::is_ascii_graphic)).collect();
            if let Ok(bytes) = STANDARD.decode(encoded) {
                self.contents.insert(path, bytes);
            }
        }
        Ok(())
    }

    /// Files whose difference is shown: text that is no secret.
    fn differing(&self, wanted: &Wanted) -> Vec<HostPath> {
        let differs = |(path, file): &(&HostPath, &crate::File)| {
            let seen = self.seen.get(path).filter(|seen| seen.kind == Kind::File);
            // Whatever is readable to root alone is not shown, whatever we know of it.
            let shown = seen.filter(|seen| seen.size <= SHOWN && seen.mode & 0o044 != 0 && !file.secret);
            shown.is_some_and(|seen| seen.sha256.as_ref() != Some(&file.content.sha256))
                && file.content.text().is_some()
        };
        wanted.files.iter().filter(differs).map(|(path, _)| path.clone()).collect()
    }

    fn take(&mut self, lines: &[String]) {
        for line in lines {
            let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
            match words.as_slice() {
                ["is", mode, user, group, size, path] => {
                    if let (Ok(path), Some(seen)) = (HostPath::new(path), seen(mode, user, group, size)) {
                        self.seen.insert(path, seen);
                    }
                }
                [sha256, path] if sha256.len() == 64 => {
                    let seen = HostPath::new(path).ok().and_then(|path| self.seen.get_mut(&path));
                    if let Some(seen) = seen {
                        seen.sha256 = Some((*sha256).to_owned());
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether what lies there was laid down by us.
    pub(crate) fn is_ours(&self, path: &HostPath) -> bool {
        matches!(self.record.entries.get(path), Some(Entry::File { .. } | Entry::Folder { .. }))
    }
}

fn seen(mode: &str, user: &str, group: &str, size: &str) -> Option<Seen> {
    let bits = u32::from_str_radix(mode, 16).ok()?;
    let kind = match bits & 0o170_000 {
        0o100_000 => Kind::File,
        0o040_000 => Kind::Folder,
        0o120_000 => Kind::Link,
        _ => Kind::Other,
    };
    let owner = (user.parse().ok()?, group.parse().ok()?);
    Some(Seen { kind, mode: bits & 0o7777, owner, size: size.parse().ok()?, sha256: None })
}

fn unit(line: &str) -> Option<(String, UnitState)> {
    match line.split(' ').collect::<Vec<_>>().as_slice() {
        ["unit", name, enabled, active] => {
            let state = UnitState { enabled: (*enabled).to_owned(), active: (*active).to_owned() };
            Some(((*name).to_owned(), state))
        }
        _ => None,
    }
}

fn lock(line: &str) -> Option<HostLock> {
    match line.split(' ').collect::<Vec<_>>().as_slice() {
        ["lock", id, owner, seconds] => Some(HostLock {
            id: (*id).to_owned(),
            owner: (*owner).to_owned(),
            seconds: seconds.parse().unwrap_or_default(),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_understood_or_left_out() {
        let mut observed = Observed::default();
        let lines = [
            "is 81a4 0 0 5 /etc/a".to_owned(),
            "is 41ed 0 0 4096 /etc".to_owned(),
            "is zz 0 0 5 /etc/b".to_owned(),
            "is 81a4 0 0 5 /etc/../b".to_owned(),
            format!("{}  /etc/a", "0".repeat(64)),
            format!("{}  /etc/none", "0".repeat(64)),
            "\u{fffd}".to_owned(),
        ];
        observed.take(&lines);
        let kinds: Vec<(String, Kind, u32)> =
            observed.seen.iter().map(|(path, seen)| (path.to_string(), seen.kind, seen.mode)).collect();
        assert_eq!(
            kinds,
            [("/etc".to_owned(), Kind::Folder, 0o755), ("/etc/a".to_owned(), Kind::File, 0o644)]
        );
        assert_eq!(observed.seen.values().filter_map(|seen| seen.sha256.clone()).count(), 1);
        assert_eq!(lock("lock a me@here 7").map(|lock| lock.seconds), Some(7));
        assert_eq!(lock("lock a"), None);
    }
}

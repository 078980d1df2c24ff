//! What is wanted against what is there.

use std::collections::BTreeSet;

use crate::{
    Change, Conflict, Entry, Error, HostPath, HostPlan, Kind, Observed, Record, Seen, Wanted, diff,
    plan::Reason, wanted::KUBELET,
};

/// Compares. Files of others at `overwrite` are replaced and kept aside; elsewhere they are conflicts.
///
/// # Errors
/// Never for what was checked before; it is that of [`HostPath::new`].
pub fn compare(
    wanted: &Wanted,
    observed: &Observed,
    overwrite: &BTreeSet<HostPath>,
) -> Result<HostPlan, Error> {
    let mut plan = HostPlan {
        host: wanted.host.clone(),
        changes: Vec::new(),
        conflicts: Vec::new(),
        record: Record::default(),
    };
    if !observed.record.is_empty() && observed.record.cluster != wanted.cluster {
        plan.conflicts.push(Conflict {
            path: None,
            problem: format!("the host belongs to the cluster {:?}", observed.record.cluster),
            fix: "take it out of that cluster with trellis cluster down, or leave it out here".to_owned(),
        });
        return Ok(plan);
    }
    plan.record = Record {
        cluster: wanted.cluster.clone(),
        saved: observed.record.saved.clone(),
        leaves: observed.record.leaves.clone(),
        ..Record::default()
    };
    let mut comparing = Comparing { wanted, observed, overwrite, plan, changed: Vec::new() };
    comparing.gone();
    comparing.folders();
    comparing.files();
    comparing.units()?;
    comparing.leaves();
    let mut plan = comparing.plan;
    let unchanged = plan.changes.is_empty() && plan.record != observed.record;
    if unchanged && plan.conflicts.is_empty() {
        plan.changes.push(Change::Record);
    }
    Ok(plan)
}

struct Comparing<'a> {
    wanted: &'a Wanted,
    observed: &'a Observed,
    overwrite: &'a BTreeSet<HostPath>,
    plan: HostPlan,
    changed: Vec<HostPath>,
}

impl Comparing<'_> {
    /// What was laid down once and is not wanted any more, from the inside out.
    fn gone(&mut self) {
        for name in &self.observed.record.units {
            if !self.wanted.own_units().any(|unit| unit == name) {
                self.plan.changes.push(Change::Stop { unit: name.clone() });
            }
        }
        for (path, entry) in self.observed.record.entries.iter().rev() {
            let kept = match entry {
                Entry::File { .. } => self.wanted.files.contains_key(path),
                Entry::Folder { .. } => self.wanted.folders.contains_key(path),
                Entry::Parent => self.is_needed(path),
            };
            if kept {
                continue;
            }
            if self.observed.seen.contains_key(path) {
                self.plan.changes.extend(removal(path, entry));
            }
            if self.observed.record.saved.contains(path) {
                self.plan.changes.push(Change::Restore { path: path.clone() });
                self.plan.record.saved.remove(path);
            }
            self.changed.push(path.clone());
        }
    }

    fn is_needed(&self, folder: &HostPath) -> bool {
        let all = self.wanted.files.keys().chain(self.wanted.folders.keys());
        all.into_iter().any(|path| path.is_below(folder) || path == folder)
    }

    fn folders(&mut self) {
        let needed: BTreeSet<HostPath> = self.wanted.files.keys().flat_map(HostPath::parents).collect();
        let above: BTreeSet<HostPath> = self.wanted.folders.keys().flat_map(HostPath::parents).collect();
        let own: BTreeSet<HostPath> = self.wanted.folders.keys().cloned().collect();
        for path in needed.iter().chain(&above).chain(&own).collect::<BTreeSet<_>>() {
            match self.wanted.folders.get(path) {
                Some(folder) => self.folder(path, folder.mode),
                None => self.parent(path),
            }
        }
    }

    fn parent(&mut self, path: &HostPath) {
        let recorded = matches!(self.observed.record.entries.get(path), Some(Entry::Parent));
        match self.observed.seen.get(path) {
            None => {
                self.plan.changes.push(Change::MakeFolder { path: path.clone(), mode: 0o755 });
                self.plan.record.entries.insert(path.clone(), Entry::Parent);
            }
            Some(seen) if !is_folder(seen) => self.in_the_way(path, "a folder belongs here"),
            Some(_) if recorded => {
                self.plan.record.entries.insert(path.clone(), Entry::Parent);
            }
            Some(_) => {}
        }
    }

    fn folder(&mut self, path: &HostPath, mode: u32) {
        let former = self.observed.record.entries.get(path);
        let made = match (self.observed.seen.get(path), former) {
            (None, _) => {
                self.plan.changes.push(Change::MakeFolder { path: path.clone(), mode });
                true
            }
            (Some(seen), _) if seen.kind != Kind::Folder => {
                return self.in_the_way(path, "a folder belongs here");
            }
            (Some(seen), Some(former)) => {
                if !fits(seen, mode) {
                    self.plan.changes.push(Change::Mode { path: path.clone(), before: owner(seen), mode });
                }
                matches!(former, Entry::Folder { made: true, .. } | Entry::Parent)
            }
            (Some(seen), None) if !fits(seen, mode) && !self.overwrite.contains(path) => {
                let problem =
                    format!("this folder is of somebody else: {}, and not {mode:04o} of root", owner(seen));
                return self.conflict(path, problem);
            }
            (Some(seen), None) => {
                if !fits(seen, mode) {
                    self.plan.changes.push(Change::Mode { path: path.clone(), before: owner(seen), mode });
                }
                false
            }
        };
        self.plan.record.entries.insert(path.clone(), Entry::Folder { mode, made });
    }

    fn files(&mut self) {
        for (path, file) in &self.wanted.files {
            let sha256 = file.content.sha256.clone();
            let recorded = Entry::File { mode: file.mode, sha256: sha256.clone() };
            let shown = |before: &str| {
                let text = file.content.text().filter(|_| !file.secret)?;
                Some(diff::unified(path.as_str(), before, text))
            };
            let Some(seen) = self.observed.seen.get(path) else {
                let diff = shown("");
                let change = Change::Create { path: path.clone(), mode: file.mode, sha256, diff };
                self.change(path, change, recorded);
                continue;
            };
            if seen.kind != Kind::File {
                self.in_the_way(path, "a file belongs here");
                continue;
            }
            let before = seen.sha256.clone().unwrap_or_default();
            let (same, ours) = (before == sha256, self.observed.is_ours(path));
            match (same, ours, fits(seen, file.mode)) {
                (true, true, true) => {
                    self.plan.record.entries.insert(path.clone(), recorded);
                }
                (true, false, true) => self.change(path, Change::TakeOver { path: path.clone() }, recorded),
                (true, true, false) => {
                    let change = Change::Mode { path: path.clone(), before: owner(seen), mode: file.mode };
                    self.change(path, change, recorded);
                }
                (_, false, _) if !self.overwrite.contains(path) => {
                    let size = seen.size;
                    self.conflict(
                        path,
                        format!("this file is of somebody else: {size} bytes, {}", owner(seen)),
                    );
                }
                _ => {
                    let contents = self.observed.contents.get(path);
                    let text = contents.and_then(|bytes| std::str::from_utf8(bytes).ok());
                    let reason = match self.observed.record.entries.get(path) {
                        _ if !ours => Reason::Overwritten,
                        Some(Entry::File { sha256, .. }) if *sha256 == before => Reason::Wanted,
                        _ => Reason::Drift,
                    };
                    if reason == Reason::Overwritten {
                        self.plan.record.saved.insert(path.clone());
                    }
                    let diff = text.and_then(shown);
                    let (path_, mode) = (path.clone(), file.mode);
                    self.change(
                        path,
                        Change::Replace { path: path_, mode, before, sha256, diff, reason },
                        recorded,
                    );
                }
            }
        }
    }

    fn change(&mut self, path: &HostPath, change: Change, recorded: Entry) {
        // A file whose mode alone was wrong holds what it held when its unit started.
        if !matches!(change, Change::TakeOver { .. } | Change::Mode { .. }) {
            self.changed.push(path.clone());
        }
        self.plan.changes.push(change);
        self.plan.record.entries.insert(path.clone(), recorded);
    }

    fn units(&mut self) -> Result<(), Error> {
        let in_systemd = |path: &HostPath| path.as_str().starts_with("/etc/systemd/system/");
        if self.changed.iter().any(in_systemd) || !self.observed.record.pending.is_empty() {
            self.plan.changes.push(Change::Reload);
        }
        let credential = Wanted::credential()?;
        let joins = self.wanted.joins() && !self.observed.seen.contains_key(&credential);
        for rule in &self.wanted.units.rules {
            let unit = || rule.name.clone();
            let own = self.wanted.own_units().any(|name| name == rule.name);
            let state = self.observed.units.get(&rule.name).cloned().unwrap_or_default();
            if own {
                self.plan.record.units.insert(unit());
                if state.enabled != "enabled" {
                    self.plan.changes.push(Change::Enable { unit: unit() });
                }
            }
            let because: Vec<HostPath> =
                self.changed.iter().filter(|path| rule.is_triggered_by(path)).cloned().collect();
            let due = !because.is_empty() || self.observed.record.pending.contains(&rule.name);
            if rule.name == KUBELET && own && joins {
                self.plan.changes.push(Change::Join);
            } else if own && !matches!(state.active.as_str(), "active" | "reloading") {
                self.plan.changes.push(Change::Start { unit: unit() });
            } else if due {
                self.plan.changes.push(Change::Restart { unit: unit(), because });
            }
        }
        Ok(())
    }

    /// What components will leave is ours only where it was not there before us.
    fn leaves(&mut self) {
        if !self.observed.record.is_empty() {
            return;
        }
        for leaf in &self.wanted.units.leaves {
            if leaf.path().is_none_or(|path| !self.observed.seen.contains_key(&path)) {
                self.plan.record.leaves.insert(leaf.clone());
            }
        }
    }

    fn in_the_way(&mut self, path: &HostPath, what: &str) {
        self.plan.conflicts.push(Conflict {
            path: Some(path.clone()),
            problem: format!("something else is here: {what}"),
            fix: "remove it from the host, or put it elsewhere".to_owned(),
        });
    }

    fn conflict(&mut self, path: &HostPath, problem: String) {
        let fix = format!("remove it from the host, or have it replaced and kept aside: --overwrite {path}");
        self.plan.conflicts.push(Conflict { path: Some(path.clone()), problem, fix });
    }
}

/// What takes something of ours away.
pub(crate) fn removal(path: &HostPath, entry: &Entry) -> Option<Change> {
    let path = path.clone();
    match entry {
        Entry::File { .. } => Some(Change::Remove { path }),
        Entry::Folder { made, .. } => made.then_some(Change::RemoveFolder { path, contents: true }),
        Entry::Parent => Some(Change::RemoveFolder { path, contents: false }),
    }
}

/// A link to a folder is as good as one above files.
fn is_folder(seen: &Seen) -> bool {
    matches!(seen.kind, Kind::Folder | Kind::Link)
}

fn fits(seen: &Seen, mode: u32) -> bool {
    seen.mode == mode && seen.owner == (0, 0)
}

fn owner(seen: &Seen) -> String {
    format!("{:04o} of {}:{}", seen.mode, seen.owner.0, seen.owner.1)
}

//! A plan as steps: each is done whole or not at all, as far as a host allows, and can be done again.

use std::collections::BTreeSet;

use crate::{Change, HostPath, HostPlan, Leaf, Reason, Record, Request, wanted::KUBELET};

/// How many paths stand in one request.
const AT_ONCE: usize = 100;

/// A step, with its name for journal and progress.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) name: String,
    pub(super) work: Work,
}

/// What is done.
#[derive(Debug)]
pub(super) enum Work {
    /// The host is ours alone.
    Lock,
    /// Requests that take no time.
    Ask(Vec<Request>),
    /// Something with a unit.
    Unit(Request),
    /// What is recorded.
    Record(Box<Record>),
    /// Files are put in their places.
    Put(Vec<HostPath>),
    /// The host joins.
    Join,
}

/// The steps of a plan.
pub(super) fn of_plan(plan: &HostPlan, former: &Record) -> Vec<Step> {
    let mut steps = vec![step("lock", Work::Lock)];
    // Before anything of somebody else counts as ours, it is safe.
    let saved = plan.changes.iter().filter_map(|change| match change {
        Change::Replace { path, reason: Reason::Overwritten, .. } => Some(Request::new("save", [path])),
        _ => None,
    });
    ask(&mut steps, "keep aside", saved.collect());
    steps.push(step("record what is coming", Work::Record(Box::new(intent(plan, former)))));
    for change in &plan.changes {
        if let Change::Stop { unit } = change {
            stop(&mut steps, unit);
        }
    }
    ask(&mut steps, "remove", removals(plan));
    let folders = plan.changes.iter().filter_map(|change| match change {
        Change::MakeFolder { path, mode } => Some(Request::new("folder", [&octal(*mode), path.as_str()])),
        _ => None,
    });
    ask(&mut steps, "make folders", folders.collect());
    let files: Vec<HostPath> = plan.changes.iter().filter_map(put).collect();
    if !files.is_empty() {
        steps.push(step(&format!("put {} files", files.len()), Work::Put(files)));
    }
    let modes = plan.changes.iter().filter_map(|change| match change {
        Change::Mode { path, mode, .. } => Some(Request::new("mode", [&octal(*mode), path.as_str()])),
        _ => None,
    });
    ask(&mut steps, "set modes", modes.collect());
    plan.changes.iter().for_each(|change| unit(&mut steps, change, &plan.record));
    steps.push(step("record", Work::Record(Box::new(plan.record.clone()))));
    steps.push(unlock());
    steps
}

/// Others may work on the host.
pub(super) fn unlock() -> Step {
    step("unlock", Work::Ask(vec![Request::new("unlock", [""; 0])]))
}

/// The steps that take everything away. What is recorded goes last, so that it can be begun again.
pub(super) fn of_removal(plan: &HostPlan) -> Vec<Step> {
    let mut steps = vec![step("lock", Work::Lock)];
    for change in &plan.changes {
        match change {
            Change::Stop { unit } => stop(&mut steps, unit),
            Change::StopPods => {
                steps.push(step("end containers", Work::Unit(Request::new("pods", [""; 0]))));
            }
            _ => {}
        }
    }
    ask(&mut steps, "remove", removals(plan));
    plan.changes.iter().for_each(|change| unit(&mut steps, change, &plan.record));
    steps.push(step("forget", Work::Ask(vec![Request::new("forget", [""; 0])])));
    steps
}

fn step(name: &str, work: Work) -> Step {
    Step { name: name.to_owned(), work }
}

fn ask(steps: &mut Vec<Step>, name: &str, requests: Vec<Request>) {
    if !requests.is_empty() {
        steps.push(step(name, Work::Ask(requests)));
    }
}

fn stop(steps: &mut Vec<Step>, unit: &str) {
    steps.push(step(&format!("stop {unit}"), Work::Unit(Request::new("halt", [unit]))));
}

fn removals(plan: &HostPlan) -> Vec<Request> {
    let mut requests = Vec::new();
    let files: Vec<&HostPath> = plan
        .changes
        .iter()
        .filter_map(|change| match change {
            Change::Remove { path } => Some(path),
            _ => None,
        })
        .collect();
    requests.extend(files.chunks(AT_ONCE).map(|paths| Request::new("remove", paths)));
    for change in &plan.changes {
        match change {
            Change::RemoveFolder { path, contents: true } => requests.push(Request::new("clear", [path])),
            Change::Clear { leaf: Leaf::File(path) | Leaf::Folder(path) } => {
                requests.push(Request::new("clear", [path]));
            }
            Change::Clear { leaf: Leaf::Link(name) } => requests.push(Request::new("link", [name])),
            Change::Clear { leaf: Leaf::Table(name) } => requests.push(Request::new("table", [name])),
            _ => {}
        }
    }
    for change in &plan.changes {
        match change {
            Change::RemoveFolder { path, contents: false } => requests.push(Request::new("empty", [path])),
            Change::Restore { path } => requests.push(Request::new("restore", [path])),
            _ => {}
        }
    }
    requests
}

fn put(change: &Change) -> Option<HostPath> {
    match change {
        Change::Create { path, .. } | Change::Replace { path, .. } => Some(path.clone()),
        _ => None,
    }
}

fn unit(steps: &mut Vec<Step>, change: &Change, record: &Record) {
    let (name, request) = match change {
        Change::Reload => ("reload systemd".to_owned(), Request::new("systemd", ["daemon-reload"])),
        Change::Enable { unit } => (format!("enable {unit}"), Request::new("systemd", ["enable", unit])),
        Change::Start { unit } => (format!("start {unit}"), Request::new("systemd", ["start", unit])),
        Change::Restart { unit, .. } if !record.units.contains(unit) => {
            (format!("restart {unit}"), Request::new("nudge", [unit]))
        }
        Change::Restart { unit, .. } => {
            (format!("restart {unit}"), Request::new("systemd", ["restart", unit]))
        }
        Change::Join => {
            steps.push(step("join", Work::Join));
            return;
        }
        _ => return,
    };
    steps.push(Step { name, work: Work::Unit(request) });
}

/// What is recorded before anything changes: what was ours, what will be, and the units that are due. A run that ends
/// anywhere after this leaves nothing that the next one takes for somebody else's.
fn intent(plan: &HostPlan, former: &Record) -> Record {
    let mut record = former.clone();
    record.cluster.clone_from(&plan.record.cluster);
    record.entries.extend(plan.record.entries.clone());
    record.units.extend(plan.record.units.clone());
    record.leaves.extend(plan.record.leaves.clone());
    record.saved.extend(plan.record.saved.clone());
    let due: BTreeSet<String> = plan
        .changes
        .iter()
        .filter_map(|change| match change {
            Change::Enable { unit } | Change::Start { unit } | Change::Restart { unit, .. } => {
                Some(unit.clone())
            }
            Change::Join => Some(KUBELET.to_owned()),
            _ => None,
        })
        .collect();
    record.pending.extend(due);
    if plan.changes.contains(&Change::Join) {
        // The path is good; were it not, the step itself would say so.
        record.entries.extend(super::transient());
    }
    record
}

fn octal(mode: u32) -> String {
    format!("{mode:04o}")
}

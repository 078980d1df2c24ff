//! What goes when a host leaves its cluster: exactly what is recorded there.

use crate::{Change, Conflict, Entry, HostPlan, Observed, Record, plan::removal as removed, wanted::KUBELET};

/// The unit of the container runtime: only when it is ours are all its containers.
const CONTAINERD: &str = "containerd.service";

/// Plans the removal of everything that is recorded on a host for this cluster.
pub fn removal(host: &str, cluster: &str, observed: &Observed) -> HostPlan {
    let record = &observed.record;
    let mut plan = HostPlan {
        host: host.to_owned(),
        changes: Vec::new(),
        conflicts: Vec::new(),
        record: Record::default(),
    };
    if record.is_empty() {
        return plan;
    }
    if record.cluster != cluster {
        plan.conflicts.push(Conflict {
            path: None,
            problem: format!("the host belongs to the cluster {:?}", record.cluster),
            fix: "give the object of that cluster".to_owned(),
        });
        return plan;
    }
    // The kubelet first: it would start again what ends. The runtime last: it is needed to end containers.
    let mut units: Vec<&String> = record.units.iter().collect();
    units.sort_by_key(|unit| (unit.as_str() != KUBELET, unit.as_str() == CONTAINERD));
    for unit in units {
        if unit == CONTAINERD {
            plan.changes.push(Change::StopPods);
        }
        plan.changes.push(Change::Stop { unit: unit.clone() });
    }
    for (path, entry) in record.entries.iter().rev() {
        let there = observed.seen.contains_key(path) || matches!(entry, Entry::Parent);
        plan.changes.extend(removed(path, entry).filter(|_| there));
    }
    plan.changes.extend(record.leaves.iter().cloned().map(|leaf| Change::Clear { leaf }));
    plan.changes.extend(record.saved.iter().cloned().map(|path| Change::Restore { path }));
    plan.changes.push(Change::Reload);
    plan
}

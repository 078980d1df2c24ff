//! `trellis cluster down` and `unlock`.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use turnup::Request;

use super::{
    apply::{Kind, Stop, Work, finish, teller},
    hosts::{Looked, Prepared, confirm, failure, problem},
    joins::NoJoins,
};
use crate::{
    args::{ClusterDownArgs, ClusterUnlockArgs},
    commands::print,
    exit::{Code, Outcome, Problem},
};

/// How long a host may take to forget a lock.
const SHORT: Duration = Duration::from_secs(30);

/// Removes everything that is recorded.
pub(super) async fn run(args: &ClusterDownArgs) -> Outcome {
    let prepared = Prepared::new(&args.object)?;
    let _lock = prepared.lock()?;
    let source = prepared.source(args.reach.deploy.as_deref())?;
    let mut looked = Looked::at(&prepared, &args.reach, source, &BTreeSet::new()).await;
    // What would stand in the way of a cluster does not stand in the way of its removal.
    looked.findings.clear();
    for host in &mut looked.hosts {
        host.plan = turnup::removal(&host.target.host, &prepared.name, &host.observed);
    }
    print(&looked.to_text(false))?;
    if looked.hosts.iter().any(|host| !host.plan.conflicts.is_empty()) {
        looked.close().await;
        return Err(Problem::new(Code::Preflight, "some hosts are of another cluster; nothing was removed")
            .next("take them out of the object"));
    }
    let unreached: Vec<String> = looked.failed.iter().map(failure).collect();
    let stop = Stop::listen();
    let mut left = unreached;
    if looked.changes() > 0 {
        confirm("Remove all of this?", args.yes)?;
        let work = Work {
            prepared: &prepared,
            joins: Arc::new(NoJoins),
            stop: stop.flag(),
            teller: teller(args.output),
        };
        looked.hosts.retain(|host| !host.plan.changes.is_empty());
        left.extend(work.all(looked.hosts, Kind::Remove).await);
    }
    finish(left, &stop)
}

/// Takes locks away.
pub(super) async fn unlock(args: &ClusterUnlockArgs) -> Outcome {
    let prepared = Prepared::new(&args.object)?;
    let _lock = prepared.lock()?;
    let source = prepared.source(args.reach.deploy.as_deref())?;
    let mut looked = Looked::at(&prepared, &args.reach, source, &BTreeSet::new()).await;
    for error in &looked.failed {
        eprintln!("! {}", failure(error));
    }
    let mut locked = 0;
    for host in &looked.hosts {
        if let Some(lock) = &host.observed.lock {
            locked += 1;
            let own = if lock.id == prepared.owner.id { ", from this state folder" } else { "" };
            print(&format!("{}: locked by {} for {} s{own}\n", host.target.host, lock.owner, lock.seconds))?;
        }
    }
    if locked == 0 {
        return print("no host is locked\n");
    }
    confirm("Take these locks away? Whoever has them must not be working any more.", args.yes)?;
    for host in looked.hosts.iter_mut().filter(|host| host.observed.lock.is_some()) {
        let unlock = Request::new("unlock", [""; 0]);
        host.session.ask(unlock, SHORT).await.map_err(|error| problem(&error))?;
    }
    looked.close().await;
    Ok(())
}

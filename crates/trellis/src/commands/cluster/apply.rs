//! `trellis cluster apply`.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use tokio::task::JoinSet;
use turnup::{Context, Ending, Event, EventListener, Joins, Journal, Owner, State, Surveyed};

use super::{
    hosts::{Looked, Prepared, confirm, failure, overwrite},
    joins::ClusterJoins,
};
use crate::{
    args::{ClusterApplyArgs, TellAs},
    commands::{StopSignals, print},
    exit::{Code, Outcome, Problem},
    output,
};

/// Looks at all hosts, and does what has to be done there.
pub(super) async fn run(args: &ClusterApplyArgs) -> Outcome {
    let overwrite = overwrite(&args.overwrite)?;
    let prepared = Prepared::new(&args.object)?;
    let _lock = prepared.lock()?;
    let source = prepared.source(args.reach.deploy.as_deref())?;
    let looked = Looked::at(&prepared, &args.reach, source, &overwrite).await;
    let quiet = args.output == Some(TellAs::Json);
    if !quiet {
        unfinished(&prepared, &looked);
        print(&looked.to_text(false))?;
    }
    if looked.is_blocked() {
        if quiet {
            print(&(output::one_line(&looked.to_json()) + "\n"))?;
        }
        looked.close().await;
        let what = "something stands in the way on the hosts; nothing was changed";
        return Err(
            Problem::new(Code::Preflight, what).next("correct what is marked with \"!\", and run it again")
        );
    }
    if looked.changes() > 0 {
        use std::io::IsTerminal as _;
        confirm("Do this?", args.yes || !std::io::stdin().is_terminal())?;
    }
    let joins = Arc::new(ClusterJoins::new(&prepared)?);
    let stop = Stop::listen();
    let teller = teller(args.output);
    let work = Work { prepared: &prepared, joins, stop: stop.flag(), teller };
    finish(work.all(looked.hosts, Kind::Apply).await, &stop)
}

/// What is done on hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Apply,
    Remove,
}

/// What the hosts have in common.
pub(super) struct Work<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) joins: Arc<dyn Joins>,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) teller: EventListener,
}

impl Work<'_> {
    /// Works on all hosts at the same time; gives those on which it did not come to its end, with the reason.
    pub(super) async fn all(&self, hosts: Vec<Surveyed>, kind: Kind) -> Vec<String> {
        let folder = self.prepared.state.join("journal");
        let mut tasks = JoinSet::new();
        let count = hosts.len();
        for host in hosts {
            let journal = Journal::new(&folder, &host.target.host, Arc::clone(&self.teller));
            let (owner, joins) = (self.prepared.owner.clone(), Arc::clone(&self.joins));
            let stop = Arc::clone(&self.stop);
            tasks.spawn(one(host, kind, journal, owner, joins, stop));
        }
        let (mut left, mut ended) = (Vec::new(), 0);
        while let Some(joined) = tasks.join_next().await {
            ended += usize::from(joined.is_ok());
            left.extend(joined.ok().flatten());
        }
        if ended < count {
            left.push(format!("{} hosts: this program failed, and has said so above", count - ended));
        }
        left.sort();
        left
    }
}

async fn one(
    mut host: Surveyed,
    kind: Kind,
    mut journal: Journal,
    owner: Owner,
    joins: Arc<dyn Joins>,
    stop: Arc<AtomicBool>,
) -> Option<String> {
    let stopped = || stop.load(Ordering::Relaxed);
    let context = Context { owner: &owner, joins: joins.as_ref(), stop: &stopped };
    let session = &mut host.session;
    let outcome = match kind {
        Kind::Apply => {
            turnup::apply(session, &host.plan, &host.wanted, &host.observed, &context, &mut journal).await
        }
        Kind::Remove => turnup::remove(session, &host.plan, &context, &mut journal).await,
    };
    match outcome {
        Ok(Ending::Done) => {
            host.session.close().await;
            None
        }
        Ok(Ending::Stopped) => {
            Some(format!("{}: stopped, the rest is left to the next run", host.target.host))
        }
        Err(error) => Some(failure(&error)),
    }
}

/// How it ended, for the person and the exit code.
pub(super) fn finish(left: Vec<String>, stop: &Stop) -> Outcome {
    if left.is_empty() {
        return Ok(());
    }
    for reason in &left {
        eprintln!("! {reason}");
    }
    let what = match stop.was_asked() {
        true => format!("stopped: {} hosts are not finished, and nothing on them is half done", left.len()),
        false => format!("{} hosts are not finished", left.len()),
    };
    Err(Problem::new(Code::Partly, what)
        .next("run the same command again: it goes on from what it finds there"))
}

/// Says where the last run ended, when it did not come to its end.
fn unfinished(prepared: &Prepared, looked: &Looked) {
    for host in &looked.hosts {
        let found = Journal::unfinished(&prepared.state.join("journal"), &host.target.host);
        if let Ok(Some(event)) = found {
            eprintln!(
                "{}: an earlier run ended at step {} of {}, {}",
                event.host, event.step, event.of, event.name
            );
        }
    }
}

/// Tells each step, as lines or as JSON.
pub(super) fn teller(how: Option<TellAs>) -> EventListener {
    let order = Mutex::new(());
    Arc::new(move |event: &Event| {
        // Lines of hosts that work at the same time stay whole.
        let _order = order.lock().unwrap_or_else(PoisonError::into_inner);
        let line = match (how, event.state) {
            (Some(TellAs::Json), _) => output::one_line(&serde_json::json!(event)) + "\n",
            (None, State::Done) => format!("{}: {}/{} {}\n", event.host, event.step, event.of, event.name),
            (None, _) => return,
        };
        // Whoever does not listen any more does not stop the work.
        let _ = print(&line);
    })
}

/// Ctrl-C: the first stops between two steps, the second at once.
pub(super) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Listens from now on.
    pub(super) fn listen() -> Self {
        let flag = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&flag);
        let mut signals = StopSignals::listen();
        tokio::spawn(async move {
            signals.next().await;
            asked.store(true, Ordering::Relaxed);
            eprintln!(
                "stopping after the steps that are being done; once more to stop at once, which is as safe"
            );
            signals.next().await;
            std::process::exit(130);
        });
        Self(flag)
    }

    /// What is looked at between steps.
    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    fn was_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

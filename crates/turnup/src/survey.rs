//! All hosts at once.

use std::{collections::BTreeSet, sync::Arc};

use tokio::{sync::Semaphore, task::JoinSet};

use crate::{
    Error, Facts, HostPath, HostPlan, Observed, Request, Session, SshOptions, Target, Wanted, compare,
    observe, observe::LOOK, preflight::Probed,
};

/// How many connections are made at the same time; once there, all stay.
const AT_ONCE: usize = 32;
/// Where etcd keeps what it must not lose.
const ETCD: &str = "/var/lib/etcd";

/// Who knows what shall lie on hosts.
pub trait Source: Send + Sync {
    /// Everything that shall lie on a host. Without facts the paths are right, and contents need not be.
    ///
    /// # Errors
    /// When it cannot be made.
    fn wanted(&self, host: &str, facts: Option<&Facts>) -> Result<Wanted, Error>;

    /// Ports that the components on it will listen on.
    fn ports(&self, host: &str) -> Vec<u16>;
}

/// A host that was looked at, still connected.
pub struct Surveyed {
    /// How it is reached.
    pub target: Target,
    /// The stream to it.
    pub session: Session,
    /// What is there.
    pub observed: Observed,
    /// What shall be there.
    pub wanted: Wanted,
    /// What would change.
    pub plan: HostPlan,
    /// What was tried out there, before anything was ever laid down.
    pub probed: Probed,
}

/// Looks at all hosts at the same time; the answers are in the order of the targets.
pub async fn survey(
    options: &SshOptions,
    targets: &[Target],
    source: Arc<dyn Source>,
    overwrite: &BTreeSet<HostPath>,
) -> Vec<(Target, Result<Surveyed, Error>)> {
    let connecting = Arc::new(Semaphore::new(AT_ONCE));
    let mut tasks = JoinSet::new();
    for (index, target) in targets.iter().cloned().enumerate() {
        let (options, source, connecting) = (options.clone(), Arc::clone(&source), Arc::clone(&connecting));
        let overwrite = overwrite.clone();
        let others: Vec<String> = targets.iter().map(|other| other.address.clone()).collect();
        tasks.spawn(async move {
            let looked = look(&options, &target, source.as_ref(), &connecting, &overwrite, &others).await;
            (index, target, looked)
        });
    }
    let mut found: Vec<(usize, Target, Result<Surveyed, Error>)> = Vec::new();
    while let Some(joined) = tasks.join_next().await {
        // A task that panicked has said so; its host is missing, which whoever counts sees.
        found.extend(joined);
    }
    found.sort_by_key(|(index, ..)| *index);
    found.into_iter().map(|(_, target, looked)| (target, looked)).collect()
}

async fn look(
    options: &SshOptions,
    target: &Target,
    source: &dyn Source,
    connecting: &Semaphore,
    overwrite: &BTreeSet<HostPath>,
    others: &[String],
) -> Result<Surveyed, Error> {
    let mut session = {
        let _permit = connecting.acquire().await;
        Session::open(options, target).await?
    };
    let first = source.wanted(&target.host, None)?;
    let ports = source.ports(&target.host);
    let mut observed = observe(&mut session, &first, &target.address, &ports).await?;
    let wanted = source.wanted(&target.host, Some(&observed.facts))?;
    observed.complete(&mut session, &wanted).await?;
    let plan = compare(&wanted, &observed, overwrite)?;
    let mut probed = Probed::default();
    if observed.record.is_empty() {
        probed = probe(&mut session, &observed, &wanted, &target.address, others).await?;
    }
    Ok(Surveyed { target: target.clone(), session, observed, wanted, plan, probed })
}

/// What is tried out only before the first change: it takes a moment.
async fn probe(
    session: &mut Session,
    observed: &Observed,
    wanted: &Wanted,
    own: &str,
    others: &[String],
) -> Result<Probed, Error> {
    let mtu = observed.facts.for_files().mtu.to_string();
    let mut requests: Vec<Request> = others
        .iter()
        .filter(|address| *address != own)
        .map(|address| Request::new("reach", [address.as_str(), &mtu]))
        .collect();
    let etcd = HostPath::new(ETCD)?;
    if wanted.folders.contains_key(&etcd) {
        requests.push(Request::new("latency", [ETCD]));
    }
    let answers = session.ask_all(&requests, LOOK).await?;
    Ok(Probed::parse(answers.iter().flatten()))
}

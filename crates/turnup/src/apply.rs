//! Doing what a plan says, on one host.

mod steps;

use std::{future::Future, pin::Pin, time::Duration};

use crate::{
    Content, Entry, Error, HostPath, HostPlan, Observed, Request, Session, Wanted, journal::Journal,
};

use steps::{Step, Work};

/// How long an ordinary step may take on a host.
const ORDINARY: Duration = Duration::from_secs(60);
/// How long a unit may take to start; the host itself gives up a little before.
const UNIT: Duration = Duration::from_secs(150);
/// How long a kubelet may take to get its credential, in seconds.
const JOIN_SECONDS: u64 = 180;
/// The least that files may pass at, in bytes per second.
const SLOWEST: u64 = 256 << 10;
/// Where the record lies.
const RECORD: &str = "/var/lib/trellis/record";

/// Contents of a kubeconfig with a token. They are never shown.
pub struct Credential(Vec<u8>);

impl Credential {
    /// Takes the text of a kubeconfig.
    pub fn new(kubeconfig: impl Into<Vec<u8>>) -> Self {
        Self(kubeconfig.into())
    }
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credential")
    }
}

/// What a host joins with, or why there is none.
pub type Issued<'a> = Pin<Box<dyn Future<Output = Result<Credential, String>> + Send + 'a>>;

/// Who gives out what hosts join with.
pub trait Joins: Send + Sync {
    /// Makes the kubeconfig with which this host joins, as soon as the cluster can be joined.
    fn issue<'a>(&'a self, host: &'a str) -> Issued<'a>;
}

/// Who works, for the lock on each host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Id of the state folder: whoever has it may go on with what it began.
    pub id: String,
    /// Person and machine, without blanks.
    pub name: String,
}

/// What is known besides the plan.
pub struct Context<'a> {
    /// Who works.
    pub owner: &'a Owner,
    /// Who gives out what hosts join with.
    pub joins: &'a dyn Joins,
    /// Whether to stop before the next step, and to leave the rest to another run.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// How it ended on a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Everything is done.
    Done,
    /// It was stopped; the next run goes on.
    Stopped,
}

/// Does what the plan says. Whatever happens in between, a plan made afterwards has the rest, and nothing else.
///
/// # Errors
/// When a step fails; what was done before stays, and is recorded on the host.
pub async fn apply(
    session: &mut Session,
    plan: &HostPlan,
    wanted: &Wanted,
    observed: &Observed,
    context: &Context<'_>,
    journal: &mut Journal,
) -> Result<Ending, Error> {
    let steps = match plan.is_empty() {
        false => steps::of_plan(plan, &observed.record),
        // A run that ended at its very end has left its lock alone.
        true if observed.lock.as_ref().is_some_and(|lock| lock.id == context.owner.id) => {
            vec![steps::unlock()]
        }
        true => return Ok(Ending::Done),
    };
    run(session, steps, Some(wanted), context, journal).await
}

/// Takes away everything that is recorded on a host, as [`crate::removal`] plans it.
///
/// # Errors
/// When a step fails; the record stays until all is gone.
pub async fn remove(
    session: &mut Session,
    plan: &HostPlan,
    context: &Context<'_>,
    journal: &mut Journal,
) -> Result<Ending, Error> {
    run(session, steps::of_removal(plan), None, context, journal).await
}

async fn run(
    session: &mut Session,
    steps: Vec<Step>,
    wanted: Option<&Wanted>,
    context: &Context<'_>,
    journal: &mut Journal,
) -> Result<Ending, Error> {
    let of = steps.len();
    for (index, step) in steps.iter().enumerate() {
        if (context.stop)() {
            return Ok(Ending::Stopped);
        }
        journal.begin(index + 1, of, &step.name)?;
        let done = work(session, &step.work, wanted, context).await;
        journal.end(index + 1, of, &step.name, done.as_ref().err().map(ToString::to_string).as_deref())?;
        done?;
    }
    journal.finish()?;
    Ok(Ending::Done)
}

async fn work(
    session: &mut Session,
    work: &Work,
    wanted: Option<&Wanted>,
    context: &Context<'_>,
) -> Result<(), Error> {
    match work {
        Work::Lock => {
            let lock = Request::new("lock", [&context.owner.id, &context.owner.name]);
            session.ask(lock, ORDINARY).await.map(drop)
        }
        Work::Ask(requests) => session.ask_all(requests, ORDINARY).await.map(drop),
        Work::Unit(request) => session.ask(request.clone(), UNIT).await.map(drop),
        Work::Record(record) => put(session, &[file(RECORD, record.to_text().into_bytes())?]).await,
        Work::Put(paths) => {
            let wanted = paths.iter().filter_map(|path| Some((path, wanted?.files.get(path)?)));
            let files: Vec<Staged> =
                wanted.map(|(path, file)| (path.clone(), file.mode, file.content.clone())).collect();
            put(session, &files).await
        }
        Work::Join => join(session, context).await,
    }
}

type Staged = (HostPath, u32, Content);

fn file(path: &str, bytes: Vec<u8>) -> Result<Staged, Error> {
    Ok((HostPath::new(path)?, 0o600, Content::bytes(bytes)))
}

/// Sends files, and has them put in their places at once.
async fn put(session: &mut Session, files: &[Staged]) -> Result<(), Error> {
    let mut requests: Vec<Request> = Vec::with_capacity(files.len() + 1);
    let mut bytes = 0;
    for (path, mode, content) in files {
        let size = content.payload.size();
        bytes += size;
        let mode = format!("{mode:04o}");
        let words = [mode.as_str(), &content.sha256, &size.to_string(), path.as_str()];
        requests.push(Request::new("stage", words).with(content.payload.clone()));
    }
    requests.push(Request::new("commit", [""; 0]));
    session.ask_all(&requests, ORDINARY + Duration::from_secs(bytes / SLOWEST)).await.map(drop)
}

/// Gives the kubelet a token, waits until it has a credential, and takes the token away again.
async fn join(session: &mut Session, context: &Context<'_>) -> Result<(), Error> {
    let host = session.host().to_owned();
    let issued = context.joins.issue(&host).await;
    let credential =
        issued.map_err(|why| Error::Refused { host: host.clone(), step: "join".to_owned(), why })?;
    let bootstrap = Wanted::bootstrap()?;
    put(session, &[(bootstrap.clone(), 0o600, Content::bytes(credential.0))]).await?;
    session.ask(Request::new("systemd", ["restart", crate::wanted::KUBELET]), UNIT).await?;
    let seconds = JOIN_SECONDS.to_string();
    let path = Wanted::credential()?;
    let wait = Duration::from_secs(JOIN_SECONDS) + ORDINARY;
    let waited = session.ask(Request::new("await", [path.as_str(), &seconds]), wait).await;
    match waited {
        Ok(_) => session.ask(Request::new("remove", [bootstrap.as_str()]), ORDINARY).await.map(drop),
        Err(error) => Err(error),
    }
}

/// What stands in the record while a host joins, so that the token is taken away even when the run ends before.
pub(crate) fn transient() -> Result<(HostPath, Entry), Error> {
    Ok((Wanted::bootstrap()?, Entry::File { mode: 0o600, sha256: "0".repeat(64) }))
}

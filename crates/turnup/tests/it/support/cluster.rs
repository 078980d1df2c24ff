//! Clusters, and runs over their hosts.

use std::{collections::BTreeSet, sync::Arc};

use cluster_spec::{Resolved, ResolvedHost};
use render::Keys;
use tempfile::TempDir;
use turnup::{
    Context, Credential, Ending, Error, Event, HostPath, HostPlan, Issued, Joins, Journal, Observed, Owner,
    Session, SshOptions, Target, Units, Wanted, apply, compare, observe, removal, remove,
};

/// What hosts join with. It must be found nowhere.
pub const TOKEN: &str = "abcdef.0123456789abcdef";

/// Keys that are told from everything else.
pub struct MarkedKeys;

impl Keys for MarkedKeys {
    fn file(&self, host: &ResolvedHost, name: &str) -> Option<Vec<u8>> {
        let kind = if name.ends_with(".crt") || name.ends_with(".pub") { "PUBLIC" } else { "PRIVATE-KEY" };
        Some(format!("{kind} {name} of {}\n", host.name).into_bytes())
    }

    fn value(&self, name: &str) -> Option<String> {
        Some(format!("PRIVATE-KEY {name}"))
    }
}

/// Gives out the token.
pub struct FakeJoins;

impl Joins for FakeJoins {
    fn issue<'a>(&'a self, _host: &'a str) -> Issued<'a> {
        Box::pin(async { Ok(Credential::new(format!("token: {TOKEN}\n"))) })
    }
}

/// A cluster of a text.
pub fn cluster(text: &str) -> Resolved {
    cluster_spec::read(text, None).unwrap_or_else(|findings| panic!("{findings:?}\n{text}")).resolve()
}

/// What shall lie on one of its hosts.
pub fn wanted(resolved: &Resolved, host: usize, observed: Option<&Observed>) -> Wanted {
    let deploy = render::Deploy::embedded();
    let facts = observed.map(|observed| observed.facts.for_files()).unwrap_or_default();
    let host = &resolved.hosts[host];
    let tree = render::render(&deploy, resolved, host, &facts, &MarkedKeys).expect("a tree");
    let name = resolved.decisions.get("cluster.name").and_then(cluster_spec::Decision::text).expect("a name");
    Wanted::new(&name, &tree, &Units::of(&deploy).expect("units")).expect("wanted")
}

/// A run over one host.
pub struct Run {
    pub options: SshOptions,
    pub target: Target,
    pub resolved: Resolved,
    pub host: usize,
    pub overwrite: BTreeSet<HostPath>,
    pub state: TempDir,
}

impl Run {
    pub fn new(options: SshOptions, target: Target, text: &str, host: usize) -> Self {
        let state = TempDir::new().expect("a folder");
        Self { options, target, resolved: cluster(text), host, overwrite: BTreeSet::new(), state }
    }

    pub fn owner(&self) -> Owner {
        Owner { id: "0123456789abcdef".to_owned(), name: "tester@here".to_owned() }
    }

    /// Looks, and compares.
    pub async fn look(&self) -> Result<(Session, Observed, Wanted, HostPlan), Error> {
        let mut session = Session::open(&self.options, &self.target).await?;
        let first = wanted(&self.resolved, self.host, None);
        let mut observed = observe(&mut session, &first, "127.0.0.1", &[6443, 10250]).await?;
        let wanted = wanted(&self.resolved, self.host, Some(&observed));
        observed.complete(&mut session, &wanted).await?;
        let plan = compare(&wanted, &observed, &self.overwrite)?;
        Ok((session, observed, wanted, plan))
    }

    pub async fn plan(&self) -> HostPlan {
        let (session, _, _, plan) = self.look().await.unwrap_or_else(|error| panic!("{error}"));
        session.close().await;
        plan
    }

    /// Looks, and does what has to be done. Stops before step `stop` when it is given.
    pub async fn apply_until(&self, stop: Option<usize>) -> Result<(HostPlan, Vec<Event>, Ending), Error> {
        let (mut session, observed, wanted, plan) = self.look().await?;
        assert!(plan.conflicts.is_empty(), "{}", plan.to_text(false));
        let (mut journal, events) = self.journal();
        let owner = self.owner();
        let begun = || {
            events.lock().expect("no panic").iter().filter(|event| event.state == turnup::State::Done).count()
        };
        let until = || stop.is_some_and(|stop| begun() + 1 >= stop);
        let context = Context { owner: &owner, joins: &FakeJoins, stop: &until };
        let ending = apply(&mut session, &plan, &wanted, &observed, &context, &mut journal).await?;
        if ending == Ending::Done {
            session.close().await;
        }
        let events = events.lock().expect("no panic").clone();
        Ok((plan, events, ending))
    }

    pub async fn apply(&self) -> (HostPlan, Vec<Event>) {
        let (plan, events, ending) = self.apply_until(None).await.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(ending, Ending::Done);
        (plan, events)
    }

    /// Takes everything away.
    pub async fn down(&self) -> HostPlan {
        let (mut session, observed, wanted, _) = self.look().await.unwrap_or_else(|error| panic!("{error}"));
        let plan = removal("n1", &wanted.cluster, &observed);
        assert!(plan.conflicts.is_empty(), "{}", plan.to_text(false));
        let (mut journal, _) = self.journal();
        let owner = self.owner();
        let context = Context { owner: &owner, joins: &FakeJoins, stop: &|| false };
        remove(&mut session, &plan, &context, &mut journal).await.unwrap_or_else(|error| panic!("{error}"));
        plan
    }

    fn journal(&self) -> (Journal, Arc<std::sync::Mutex<Vec<Event>>>) {
        let events = Arc::new(std::sync::Mutex::new(Vec::new()));
        let kept = Arc::clone(&events);
        let listener = Arc::new(move |event: &Event| kept.lock().expect("no panic").push(event.clone()));
        (Journal::new(&self.state.path().join("journal"), &self.target.host, listener), events)
    }
}

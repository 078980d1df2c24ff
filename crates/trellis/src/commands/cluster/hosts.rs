//! What the commands that go to hosts have in common: reading the object, looking at all hosts, saying what was found.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use ::render::Deploy;
use cluster_spec::{Content, Decision, Resolved};
use turnup::{
    Facts, HostPath, Owner, Source, SshOptions, StateLock, Surveyed, Target, Units, Wanted,
    preflight::{Checked, Finding, preflight},
};

use super::{keys, keys::StateKeys, object::Files, render};
use crate::{
    args::{ObjectArgs, ReachArgs},
    exit::{Code, Outcome, Problem},
};

/// Ports of a control plane: etcd, API server, controllers, scheduler.
const CONTROL_PLANE_PORTS: [u16; 5] = [2379, 2380, 2381, 10257, 10259];
/// Ports of every host: kubelet, its health, kube-proxy.
const PORTS: [u16; 4] = [10248, 10249, 10250, 10256];

/// A cluster, ready to be worked with.
pub(super) struct Prepared {
    pub(super) name: String,
    pub(super) state: PathBuf,
    pub(super) resolved: Resolved,
    pub(super) owner: Owner,
    /// Whether the state folder had no keys: those of a cluster that is there would be replaced.
    new_keys: bool,
}

impl Prepared {
    /// Reads the object; the state folder is made when it is not there.
    pub(super) fn new(args: &ObjectArgs) -> Outcome<Self> {
        let resolved = Files::read(&args.file)?.cluster()?.resolve();
        let state = args.state.clone().unwrap_or_else(|| args.file.with_extension("state"));
        pki::create_private_dir(&state).map_err(Problem::state)?;
        let owner = Owner::of(&state, &person()).map_err(|error| problem(&error))?;
        let name = text(&resolved, "cluster.name");
        let new_keys = !keys::are_there(&state);
        Ok(Self { name, state, resolved, owner, new_keys })
    }

    /// The hosts, in the order of the object.
    pub(super) fn targets(&self) -> Vec<Target> {
        self.resolved.hosts.iter().map(Target::of).collect()
    }

    /// How hosts are reached.
    pub(super) fn options(&self, reach: &ReachArgs) -> SshOptions {
        SshOptions {
            accept_new: reach.accept_new_host_keys,
            connect_seconds: reach.connect_timeout,
            ..SshOptions::new(self.state.join("known_hosts"))
        }
    }

    /// What shall lie on hosts; keys that are missing are made.
    pub(super) fn source(&self, deploy: Option<&Path>) -> Outcome<Arc<Trees>> {
        let deploy = render::deploy(deploy)?;
        let units = Units::of(&deploy).map_err(|error| problem(&error))?;
        let keys = keys::ensure(&self.state, &self.resolved)?;
        let (name, resolved) = (self.name.clone(), self.resolved.clone());
        Ok(Arc::new(Trees { name, resolved, deploy, units, keys }))
    }

    /// This run alone works with the state folder as long as the lock lives.
    pub(super) fn lock(&self) -> Outcome<StateLock> {
        let taken = StateLock::take(&self.state, &self.owner).map_err(|error| problem(&error))?;
        taken.map_err(|holder| {
            let what = format!(
                "{} (pid {}) has worked with {} for {} s",
                holder.owner,
                holder.pid,
                self.state.display(),
                holder.age()
            );
            Problem::new(Code::Partly, what).next("wait until that run ends, or end it")
        })
    }

    /// Findings that the object says one can live with.
    pub(super) fn accepted(&self) -> Vec<String> {
        match self.resolved.decisions.get("preflight.accept").map(|decision| &decision.content) {
            Some(Content::Value(value)) => serde_json::from_value(value.clone()).unwrap_or_default(),
            _ => Vec::new(),
        }
    }
}

/// The trees of a cluster.
pub(super) struct Trees {
    name: String,
    resolved: Resolved,
    deploy: Deploy,
    units: Units,
    keys: StateKeys,
}

impl Source for Trees {
    fn wanted(&self, host: &str, facts: Option<&Facts>) -> Result<Wanted, turnup::Error> {
        let failed = |source| turnup::Error::Render { host: host.to_owned(), source };
        let missing =
            || failed(::render::Error::NoFile { by: "the object".to_owned(), file: host.to_owned() });
        let found = self.resolved.hosts.iter().find(|found| found.name == host).ok_or_else(missing)?;
        let facts = facts.map(Facts::for_files).unwrap_or_default();
        let tree =
            ::render::render(&self.deploy, &self.resolved, found, &facts, &self.keys).map_err(failed)?;
        Wanted::new(&self.name, &tree, &self.units)
    }

    fn ports(&self, host: &str) -> Vec<u16> {
        let control_plane = self.resolved.hosts.iter().any(|found| found.name == host && found.control_plane);
        let api = text(&self.resolved, "api.port").parse().ok();
        let own = CONTROL_PLANE_PORTS.into_iter().chain(api).filter(|_| control_plane);
        PORTS.into_iter().chain(own).collect()
    }
}

/// What was found on all hosts.
pub(super) struct Looked {
    pub(super) hosts: Vec<Surveyed>,
    /// Hosts that could not be looked at.
    pub(super) failed: Vec<turnup::Error>,
    pub(super) findings: Vec<Finding>,
}

impl Looked {
    /// Looks at all hosts at once.
    pub(super) async fn at(
        prepared: &Prepared,
        reach: &ReachArgs,
        source: Arc<Trees>,
        overwrite: &BTreeSet<HostPath>,
    ) -> Self {
        let (options, targets) = (prepared.options(reach), prepared.targets());
        let surveyed = turnup::survey(&options, &targets, source, overwrite).await;
        let mut looked = Self { hosts: Vec::new(), failed: Vec::new(), findings: Vec::new() };
        for (_, outcome) in surveyed {
            match outcome {
                Ok(host) => looked.hosts.push(host),
                Err(error) => looked.failed.push(error),
            }
        }
        let checked: Vec<Checked<'_>> = looked
            .hosts
            .iter()
            .map(|host| Checked {
                name: &host.target.host,
                observed: &host.observed,
                wanted: &host.wanted,
                probed: &host.probed,
            })
            .collect();
        let mut findings = preflight(&checked, &prepared.accepted());
        let known = checked.iter().filter(|host| prepared.new_keys && !host.observed.record.is_empty());
        findings.extend(known.map(|host| Finding {
            id: "keys-lost",
            host: host.name.to_owned(),
            value: format!("it belongs to a cluster whose keys are not in {}", prepared.state.display()),
            fix: "fetch them with trellis cluster adopt into an empty state folder, or name the right one with --state"
                .to_owned(),
            accepted: false,
        }));
        looked.findings = findings;
        looked
    }

    /// Whether anything stands in the way of changes.
    pub(super) fn is_blocked(&self) -> bool {
        let conflicts = self.hosts.iter().any(|host| !host.plan.conflicts.is_empty());
        conflicts || !self.failed.is_empty() || self.findings.iter().any(|finding| !finding.accepted)
    }

    /// How many changes there would be.
    pub(super) fn changes(&self) -> usize {
        self.hosts.iter().map(|host| host.plan.changes.len()).sum()
    }

    /// The whole, as people read it.
    pub(super) fn to_text(&self, full: bool) -> String {
        let mut text = String::new();
        for error in &self.failed {
            text.push_str(&format!("! {}\n", failure(error)));
        }
        for finding in &self.findings {
            let mark = if finding.accepted { "." } else { "!" };
            text.push_str(&format!("{mark} {finding}\n"));
        }
        for host in &self.hosts {
            text.push_str(&host.plan.to_text(full));
        }
        let (changes, hosts) = (self.changes(), self.hosts.len());
        match changes {
            0 => text.push_str(&format!("no change on {hosts} hosts\n")),
            _ => {
                let touched = self.hosts.iter().filter(|host| !host.plan.changes.is_empty()).count();
                text.push_str(&format!("{changes} changes on {touched} of {hosts} hosts\n"));
            }
        }
        text
    }

    /// The whole, for programs.
    pub(super) fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "hosts": self.hosts.iter().map(|host| &host.plan).collect::<Vec<_>>(),
            "facts": self.hosts.iter().map(|host| (host.target.host.clone(), &host.observed.facts)).collect::<std::collections::BTreeMap<_, _>>(),
            "findings": self.findings,
            "unreached": self.failed.iter().map(failure).collect::<Vec<_>>(),
        })
    }

    /// Ends the streams.
    pub(super) async fn close(self) {
        for host in self.hosts {
            host.session.close().await;
        }
    }
}

/// Paths of `--overwrite`.
pub(super) fn overwrite(paths: &[String]) -> Outcome<BTreeSet<HostPath>> {
    let parse = |path: &String| HostPath::new(path).map_err(|error| Problem::new(Code::Input, error));
    paths.iter().map(parse).collect()
}

/// An error with what to do about it.
pub(super) fn failure(error: &turnup::Error) -> String {
    match error.fix() {
        Some(fix) => format!("{error}; {fix}"),
        None => error.to_string(),
    }
}

/// An error that ends the command.
pub(super) fn problem(error: &turnup::Error) -> Problem {
    let code = match error {
        turnup::Error::File { .. } => Code::State,
        turnup::Error::Units { .. } | turnup::Error::Render { .. } | turnup::Error::Path { .. } => {
            Code::Input
        }
        _ => Code::Preflight,
    };
    let problem = Problem::new(code, error);
    match error.fix() {
        Some(fix) => problem.next(fix),
        None => problem,
    }
}

/// A value that was decided, as text.
pub(super) fn text(resolved: &Resolved, name: &str) -> String {
    resolved.decisions.get(name).and_then(Decision::text).unwrap_or_default()
}

/// Asks a question on a terminal. Elsewhere the answer must have been given.
pub(super) fn confirm(question: &str, yes: bool) -> Outcome {
    use std::io::{BufRead as _, IsTerminal as _, Write as _};
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return Err(
            Problem::new(Code::Pending, format!("{question} Nobody can be asked here")).next("give --yes")
        );
    }
    eprint!("{question} [y/N] ");
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    match read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes") {
        true => Ok(()),
        false => Err(Problem::new(Code::Pending, "nothing was changed")),
    }
}

/// Who works, for locks: person and machine.
fn person() -> String {
    let user =
        std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_else(|_| "somebody".to_owned());
    let host = fs_err::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{user}@{}", host.trim())
}

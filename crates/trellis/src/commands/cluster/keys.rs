//! The keys of a cluster in its state folder: made when they are not there, kept otherwise.
//!
//! Below `pki/` lie the authorities and everything they signed, each under its name on the hosts.
//! Kubeconfigs are written from the pairs below `pki/users/` whenever they are asked for.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use ::render::Keys;
use cluster_spec::{Content, Decisions, Resolved, ResolvedHost};
use pki::{Authority, Kubeconfig, KubeconfigUser, Leaf};

use crate::exit::{Outcome, Problem};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// File and common name of the authorities.
const AUTHORITIES: [(&str, &str); 3] =
    [("ca", "kubernetes"), ("etcd/ca", "etcd-ca"), ("front-proxy-ca", "front-proxy-ca")];

/// Client certificates: authority, file, common name.
const CLIENTS: [(&str, &str, &str); 3] = [
    ("ca", "apiserver-kubelet-client", "kube-apiserver-kubelet-client"),
    ("etcd/ca", "apiserver-etcd-client", "kube-apiserver-etcd-client"),
    ("front-proxy-ca", "front-proxy-client", "front-proxy-client"),
];

/// Kubeconfigs of components on the control-plane host: name, user, group.
const USERS: [(&str, &str, Option<&str>); 3] = [
    ("controller-manager", "system:kube-controller-manager", None),
    ("scheduler", "system:kube-scheduler", None),
    ("addon-manager", "trellis:addon-manager", Some("system:masters")),
];

/// All keys, ready to be laid down.
pub(super) struct StateKeys {
    files: BTreeMap<String, Vec<u8>>,
    encryption: String,
}

impl Keys for StateKeys {
    fn file(&self, host: &ResolvedHost, name: &str) -> Option<Vec<u8>> {
        let own = format!("hosts/{}/{name}", host.name);
        self.files.get(&own).or_else(|| self.files.get(name)).cloned()
    }

    fn value(&self, name: &str) -> Option<String> {
        (name == "encryption").then(|| self.encryption.clone())
    }
}

/// Makes what is missing.
pub(super) fn ensure(state: &Path, resolved: &Resolved) -> Outcome<StateKeys> {
    pki::create_private_dir(state).map_err(Problem::state)?;
    let mut maker = Maker::new(state.join("pki"), &resolved.decisions)?;
    for host in resolved.hosts.iter().filter(|host| host.control_plane) {
        maker.control_plane(host)?;
    }
    let (private, public) = (maker.path("sa.key"), maker.path("sa.pub"));
    pki::ensure_signing_key(&private, &public).map_err(Problem::state)?;
    maker.take("sa.key")?;
    maker.take("sa.pub")?;
    let encryption = pki::ensure_secret(&maker.path("encryption.key")).map_err(Problem::state)?;
    Ok(StateKeys { files: maker.files, encryption })
}

/// The kubeconfig of an administrator; its key is made when it is not there.
pub(super) fn admin(state: &Path, resolved: &Resolved) -> Outcome<Kubeconfig> {
    let maker = Maker::new(state.join("pki"), &resolved.decisions)?;
    let leaf = Leaf::client("kubernetes-admin").organization("system:masters");
    let user = KubeconfigUser::Certificate(maker.pair("ca", "users/admin", leaf)?);
    let ca_pem = maker.files.get("ca.crt").cloned().unwrap_or_default();
    let decided =
        |name| resolved.decisions.get(name).and_then(cluster_spec::Decision::text).unwrap_or_default();
    let server = format!("https://{}", decided("api.endpoint"));
    Ok(Kubeconfig { server, ca_pem, user, context: decided("cluster.name") })
}

/// Whether the state folder has the keys of a cluster.
pub(super) fn are_there(state: &Path) -> bool {
    state.join("pki/ca.crt").exists()
}

/// Refuses to go on without keys: new ones would be those of another cluster.
pub(super) fn must_be_there(state: &Path) -> Outcome {
    if are_there(state) {
        return Ok(());
    }
    let what = format!("{} has no keys of a cluster", state.display());
    Err(Problem::new(crate::exit::Code::State, what).next(
        "name the state folder with --state, make the cluster with apply, or fetch its keys with adopt",
    ))
}

struct Maker<'a> {
    folder: PathBuf,
    decisions: &'a Decisions,
    validity: Duration,
    authorities: BTreeMap<&'static str, Authority>,
    files: BTreeMap<String, Vec<u8>>,
}

impl<'a> Maker<'a> {
    fn new(folder: PathBuf, decisions: &'a Decisions) -> Outcome<Self> {
        let validity = days(decisions, "pki.certificateDays");
        let mut maker =
            Self { folder, decisions, validity, authorities: BTreeMap::new(), files: BTreeMap::new() };
        for (name, common_name) in AUTHORITIES {
            let (certificate, key) = (maker.path(&format!("{name}.crt")), maker.path(&format!("{name}.key")));
            let validity = days(decisions, "pki.authorityDays");
            let made = pki::ensure_authority(&certificate, &key, common_name, validity);
            maker.authorities.insert(name, made.map_err(Problem::state)?.0);
            maker.take(&format!("{name}.crt"))?;
        }
        // The controller manager signs with the first; all three are kept on the control plane, so that a lost state
        // folder can be fetched from there.
        for (name, _) in AUTHORITIES {
            maker.take(&format!("{name}.key"))?;
        }
        Ok(maker)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn take(&mut self, name: &str) -> Outcome {
        let contents = pki::read_limited(&self.path(name)).map_err(Problem::state)?;
        self.files.insert(name.to_owned(), contents);
        Ok(())
    }

    fn control_plane(&mut self, host: &ResolvedHost) -> Outcome {
        for (authority, name, common_name) in CLIENTS {
            self.leaf(authority, name, Leaf::client(common_name))?;
        }
        self.leaf(
            "ca",
            "apiserver",
            self.api_names().into_iter().fold(Leaf::server("kube-apiserver"), |leaf, name| leaf.name(&name)),
        )?;
        let address = host.address.to_string();
        let names = [host.name.as_str(), "localhost", &address, "127.0.0.1", "::1"];
        for name in ["etcd/server", "etcd/peer"] {
            self.leaf(
                "etcd/ca",
                name,
                names.iter().fold(Leaf::peer(&host.name), |leaf, name| leaf.name(name)),
            )?;
        }
        let port = self.decisions.get("api.port").and_then(cluster_spec::Decision::text).unwrap_or_default();
        // Components talk to the API server beside them, whatever stands in front of it.
        let server = format!("https://{address}:{port}");
        for (name, user, group) in USERS {
            let leaf = group.iter().fold(Leaf::client(user), |leaf, group| leaf.organization(*group));
            self.kubeconfig(&format!("users/{name}"), &format!("{name}.conf"), leaf, &server)?;
        }
        let node = Leaf::client(format!("system:node:{}", host.name)).organization("system:nodes");
        let at = format!("hosts/{}/kubelet", host.name);
        self.kubeconfig(&at, &format!("{at}.conf"), node, &server)
    }

    fn api_names(&self) -> Vec<String> {
        match self.decisions.get("api.names").map(|decision| &decision.content) {
            Some(Content::Items(items)) => items.iter().map(|item| item.text.clone()).collect(),
            _ => Vec::new(),
        }
    }

    fn pair(&self, authority: &str, name: &str, leaf: Leaf) -> Outcome<pki::CertifiedKey> {
        let (certificate, key) = (self.path(&format!("{name}.crt")), self.path(&format!("{name}.key")));
        let Some(authority) = self.authorities.get(authority) else {
            return Err(Problem::new(
                crate::exit::Code::Failure,
                format!("there is no authority {authority}"),
            ));
        };
        let leaf = leaf.valid_for(self.validity);
        let made = pki::ensure_leaf(authority, &certificate, &key, &leaf).map_err(Problem::state)?;
        Ok(made.0)
    }

    fn leaf(&mut self, authority: &str, name: &str, leaf: Leaf) -> Outcome {
        self.pair(authority, name, leaf)?;
        self.take(&format!("{name}.crt"))?;
        self.take(&format!("{name}.key"))
    }

    fn kubeconfig(&mut self, pair: &str, name: &str, leaf: Leaf, server: &str) -> Outcome {
        let user = self.pair("ca", pair, leaf)?;
        let ca_pem = self.files.get("ca.crt").cloned().unwrap_or_default();
        let context =
            self.decisions.get("cluster.name").and_then(cluster_spec::Decision::text).unwrap_or_default();
        let user = KubeconfigUser::Certificate(user);
        let kubeconfig = Kubeconfig { server: server.to_owned(), ca_pem, user, context };
        self.files.insert(name.to_owned(), kubeconfig.to_yaml().into_bytes());
        Ok(())
    }
}

fn days(decisions: &Decisions, name: &str) -> Duration {
    let days = match decisions.get(name).map(|decision| &decision.content) {
        Some(Content::Value(value)) => value.as_u64().and_then(|days| u32::try_from(days).ok()),
        _ => None,
    };
    DAY * days.unwrap_or(365)
}

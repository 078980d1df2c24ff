//! What hosts join a cluster with: a token of their own that lives an hour, made in the cluster itself.

use std::time::Duration;

use http::{Method, Request};
use pki::{Kubeconfig, KubeconfigUser};
use serde_json::{Value, json};
use turnup::{Credential, Issued, Joins};

use super::{
    hosts::{Prepared, text},
    keys,
};
use crate::exit::{Code, Outcome, Problem, chain};

/// How long an API server may take to be there.
const WAIT: Duration = Duration::from_secs(600);
/// How often it is asked.
const PERIOD: Duration = Duration::from_millis(500);
/// How long one request may take.
const REQUEST: Duration = Duration::from_secs(10);
/// How long a token lives.
const LIFE: time::Duration = time::Duration::hours(1);
/// Characters of tokens.
const ALPHABET: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// Gives out tokens of a cluster.
pub(super) struct ClusterJoins {
    admin: String,
    server: String,
    ca_pem: Vec<u8>,
    name: String,
}

/// Nobody joins.
pub(super) struct NoJoins;

impl Joins for NoJoins {
    fn issue<'a>(&'a self, _host: &'a str) -> Issued<'a> {
        Box::pin(async { Err("nobody joins a cluster that is removed".to_owned()) })
    }
}

impl ClusterJoins {
    /// With the keys of the cluster.
    pub(super) fn new(prepared: &Prepared) -> Outcome<Self> {
        let admin = keys::admin(&prepared.state, &prepared.resolved)?;
        let server = format!("https://{}", text(&prepared.resolved, "api.endpoint"));
        Ok(Self { server, ca_pem: admin.ca_pem.clone(), admin: admin.to_yaml(), name: prepared.name.clone() })
    }

    /// Waits for the cluster, makes a token in it, and the kubeconfig of the token. Its second value is a sentence.
    pub(super) async fn make(&self, host: &str, wait: Duration) -> Result<String, String> {
        let client = self.client().await?;
        self.ready(&client, wait).await?;
        let (id, secret) = (word(6)?, word(16)?);
        let expires = (time::OffsetDateTime::now_utc() + LIFE)
            .format(&time::format_description::well_known::Rfc3339)
            .map_err(|error| error.to_string())?;
        let object = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": format!("bootstrap-token-{id}"), "namespace": "kube-system"},
            "type": "bootstrap.kubernetes.io/token",
            "stringData": {
                "token-id": id,
                "token-secret": secret,
                "expiration": expires,
                "usage-bootstrap-authentication": "true",
                "description": format!("{host} joins"),
            },
        });
        let made = send(&client, Method::POST, "/api/v1/namespaces/kube-system/secrets", Some(&object)).await;
        made.map_err(|cause| format!("no token could be made in the cluster: {cause}"))?;
        let user = KubeconfigUser::Token(format!("{id}.{secret}"));
        let kubeconfig = Kubeconfig {
            server: self.server.clone(),
            ca_pem: self.ca_pem.clone(),
            user,
            context: self.name.clone(),
        };
        Ok(kubeconfig.to_yaml())
    }

    async fn client(&self) -> Result<kube::Client, String> {
        let parsed = kube::config::Kubeconfig::from_yaml(&self.admin).map_err(|error| chain(&error))?;
        let options = kube::config::KubeConfigOptions::default();
        let mut config =
            kube::Config::from_custom_kubeconfig(parsed, &options).await.map_err(|error| chain(&error))?;
        config.default_retry = false;
        config.connect_timeout = Some(REQUEST);
        kube::Client::try_from(config).map_err(|error| chain(&error))
    }

    /// Waits for the API server; says what it last said.
    async fn ready(&self, client: &kube::Client, wait: Duration) -> Result<(), String> {
        let mut last = "it was not asked".to_owned();
        let waiting = async {
            loop {
                match tokio::time::timeout(REQUEST, send(client, Method::GET, "/readyz", None)).await {
                    Ok(Ok(())) => return,
                    Ok(Err(cause)) => last = cause,
                    Err(_) => last = format!("no answer within {} s", REQUEST.as_secs()),
                }
                tokio::time::sleep(PERIOD).await;
            }
        };
        match tokio::time::timeout(wait, waiting).await {
            Ok(()) => Ok(()),
            Err(_) => Err(format!(
                "the API server at {} is not ready after {} s: {last}; on its host: journalctl -u kubelet, crictl ps -a",
                self.server,
                wait.as_secs()
            )),
        }
    }
}

impl Joins for ClusterJoins {
    fn issue<'a>(&'a self, host: &'a str) -> Issued<'a> {
        Box::pin(async move { self.make(host, WAIT).await.map(Credential::new) })
    }
}

async fn send(client: &kube::Client, method: Method, path: &str, body: Option<&Value>) -> Result<(), String> {
    let bytes = body.map(Value::to_string).unwrap_or_default().into_bytes();
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(http::header::CONTENT_TYPE, "application/json")
        .body(bytes)
        .map_err(|error| error.to_string())?;
    client.request_text(request).await.map(drop).map_err(|error| chain(&error))
}

/// Random letters and digits. 252 is the largest multiple of 36 in a byte: what is above would favour some.
fn word(length: usize) -> Result<String, String> {
    let mut word = String::with_capacity(length);
    while word.len() < length {
        let mut bytes = [0; 32];
        let filled = pki::provider().secure_random.fill(&mut bytes);
        filled.map_err(|_| "no random numbers are to be had".to_owned())?;
        let fair = bytes.iter().filter(|byte| **byte < 252).map(|byte| ALPHABET[usize::from(byte % 36)]);
        word.extend(fair.take(length - word.len()).map(char::from));
    }
    Ok(word)
}

/// `trellis cluster token`.
pub(super) async fn token(args: &crate::args::ClusterTokenArgs) -> Outcome {
    let prepared = Prepared::new(&args.object)?;
    if !prepared.resolved.hosts.iter().any(|host| host.name == args.host) {
        let names: Vec<&str> = prepared.resolved.hosts.iter().map(|host| host.name.as_str()).collect();
        return Err(Problem::new(Code::Input, format!("there is no host {:?} in the object", args.host))
            .next(format!("give one of {}", names.join(", "))));
    }
    keys::must_be_there(&prepared.state)?;
    let joins = ClusterJoins::new(&prepared)?;
    let kubeconfig =
        joins.make(&args.host, REQUEST).await.map_err(|what| Problem::new(Code::Unhealthy, what))?;
    match &args.output {
        None => crate::commands::print(&kubeconfig),
        Some(path) => pki::write_private(path, kubeconfig.as_bytes()).map_err(Problem::given),
    }
}

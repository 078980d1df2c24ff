//! Credential plugins of a kubeconfig (`users[].user.exec`): a program that prints credentials, in the
//! protocol `client.authentication.k8s.io`.

use std::{
    io::Read,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Mutex, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kube::config::{AuthInfo, Cluster, ExecConfig, ExecInteractiveMode};
use serde::Deserialize;
use serde_json::json;

use crate::clock;

/// How long a plugin may take.
const LIMIT: Duration = Duration::from_secs(15);
/// Bytes that it may print.
const MAX_OUTPUT: u64 = 1 << 20;
/// Seconds for which credentials are kept that do not say when they expire.
const KEEP: i64 = 600;
/// Credentials are made anew when less than this many seconds of them are left.
const MARGIN: i64 = 30;
/// How often it is looked whether the program has ended.
const LOOK: Duration = Duration::from_millis(20);

/// Runs plugins, and remembers what they gave until it expires.
#[derive(Debug, Default)]
pub(super) struct Plugins(Mutex<Option<Known>>);

struct Known {
    plugin: serde_json::Value,
    given: Given,
    /// Unix seconds.
    until: i64,
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Known").field("until", &self.until).finish_non_exhaustive()
    }
}

/// What a plugin prints.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Credential {
    kind: String,
    api_version: String,
    status: Option<Given>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Given {
    expiration_timestamp: Option<String>,
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
}

impl Plugins {
    /// `user` with what its plugin gives, when it has one. Blocks, at most as long as a plugin may take.
    ///
    /// # Errors
    /// A part of a sentence, about the plugin.
    pub(super) fn resolve(
        &self,
        user: &AuthInfo,
        cluster: &Cluster,
        folder: &Path,
    ) -> Result<AuthInfo, String> {
        let Some(exec) = &user.exec else { return Ok(user.clone()) };
        let name = exec.command.as_deref().filter(|name| !name.is_empty());
        let name = name.ok_or("its user has a credential plugin without a command")?;
        let wrong = |why: String| format!("its credential plugin `{name}` {why}");
        let plugin = serde_json::to_value(exec).map_err(|error| wrong(error.to_string()))?;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) =
            known.as_ref().filter(|known| known.plugin == plugin && clock::now() < known.until)
        {
            return user_with(user, &known.given);
        }
        let given = run(exec, name, cluster, folder).map_err(wrong)?;
        let until = until(&given).map_err(wrong)?;
        let resolved = user_with(user, &given);
        *known = Some(Known { plugin, given, until });
        resolved
    }
}

/// The user with these credentials instead of a plugin.
fn user_with(user: &AuthInfo, given: &Given) -> Result<AuthInfo, String> {
    let mut plain = serde_json::to_value(user).map_err(|error| error.to_string())?;
    let fields = plain.as_object_mut().ok_or("a user is an object")?;
    fields.remove("exec");
    let base64 = |pem: &String| STANDARD.encode(pem);
    let given = [
        ("token", given.token.clone()),
        ("client-certificate-data", given.client_certificate_data.as_ref().map(base64)),
        ("client-key-data", given.client_key_data.as_ref().map(base64)),
    ];
    fields.extend(given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))));
    serde_json::from_value(plain).map_err(|error| error.to_string())
}

fn until(given: &Given) -> Result<i64, String> {
    let now = clock::now();
    match &given.expiration_timestamp {
        None => Ok(now + KEEP),
        Some(text) => match clock::parse(text) {
            Some(expires) if expires <= now => Err(format!("gave credentials that expired at {text}")),
            Some(expires) => Ok((expires - MARGIN).max(now + 1)),
            None => Err(format!("gave credentials with the time {text:?}, which is none")),
        },
    }
}

fn run(exec: &ExecConfig, name: &str, cluster: &Cluster, folder: &Path) -> Result<Given, String> {
    if exec.interactive_mode == Some(ExecInteractiveMode::Always) {
        return Err("wants to ask a person, and nobody sits at the door".to_owned());
    }
    let version = exec.api_version.as_deref().unwrap_or("client.authentication.k8s.io/v1");
    let child = command(exec, name, version, cluster, folder).spawn().map_err(|error| {
        let hint = exec.install_hint.as_deref().map(|hint| format!(" ({})", hint.trim()));
        format!("cannot be started: {error}{}", hint.unwrap_or_default())
    })?;
    let output = finish(child)?;
    // What it printed stays here: it may hold half a secret.
    let credential: Credential = serde_json::from_slice(&output)
        .map_err(|_| format!("printed {} bytes that are no ExecCredential in JSON", output.len()))?;
    if credential.kind != "ExecCredential" || credential.api_version != version {
        return Err(format!("answered in another version than {version}"));
    }
    let given = credential.status.ok_or("gave no credentials: its answer has no status")?;
    match (&given.token, &given.client_certificate_data, &given.client_key_data) {
        (None, None, None) => Err("gave neither a token nor a client certificate".to_owned()),
        (_, Some(_), None) | (_, None, Some(_)) => {
            Err("gave half of a client certificate and its key".to_owned())
        }
        _ => Ok(given),
    }
}

fn command(exec: &ExecConfig, name: &str, version: &str, cluster: &Cluster, folder: &Path) -> Command {
    // As kubectl: a path is relative to the kubeconfig, a bare name is looked for in PATH.
    let program = if name.contains('/') { folder.join(name) } else { name.into() };
    let mut spec = json!({"interactive": false});
    if exec.provide_cluster_info {
        spec["cluster"] = json!({
            "server": cluster.server,
            "tls-server-name": cluster.tls_server_name,
            "insecure-skip-tls-verify": cluster.insecure_skip_tls_verify,
            "certificate-authority-data": cluster.certificate_authority_data,
            "proxy-url": cluster.proxy_url,
        });
    }
    let info = json!({"kind": "ExecCredential", "apiVersion": version, "spec": spec});
    let variables = exec.env.iter().flatten();
    let variables = variables.filter_map(|entry| Some((entry.get("name")?, entry.get("value")?)));
    let mut command = Command::new(program);
    command
        .args(exec.args.iter().flatten())
        .envs(variables)
        .env("KUBERNETES_EXEC_INFO", info.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Waits for a program within its limits, and gives what it printed.
fn finish(mut child: Child) -> Result<Vec<u8>, String> {
    let end = Instant::now() + LIMIT;
    let output = read(child.stdout.take());
    let complaint = read(child.stderr.take());
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break status,
            None if Instant::now() < end => thread::sleep(LOOK),
            None => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("did not end within {} s", LIMIT.as_secs()));
            }
        }
    };
    let rest = |receiver: &mpsc::Receiver<Vec<u8>>| {
        receiver.recv_timeout(end.saturating_duration_since(Instant::now())).unwrap_or_default()
    };
    let output = rest(&output);
    if output.len() as u64 > MAX_OUTPUT {
        return Err(format!("printed more than {MAX_OUTPUT} bytes"));
    }
    if !status.success() {
        let text = String::from_utf8_lossy(&rest(&complaint)).into_owned();
        let said = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing").trim();
        return Err(format!("failed ({status}) and said: {said}"));
    }
    Ok(output)
}

/// Reads to the end, in a thread of its own, one byte more than is taken.
fn read(from: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(from) = from {
            let _ = from.take(MAX_OUTPUT + 1).read_to_end(&mut bytes);
        }
        let _ = sender.send(bytes);
    });
    receiver
}

#[cfg(test)]
mod tests;

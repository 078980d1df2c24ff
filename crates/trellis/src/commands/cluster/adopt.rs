//! `trellis cluster adopt`: the keys of a cluster come back from its control-plane host.

use std::{path::Path, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use turnup::{Record, Request, Session, Target};

use super::{
    hosts::{Prepared, problem},
    keys,
};
use crate::{
    args::ClusterAdoptArgs,
    commands::print,
    exit::{Code, Outcome, Problem},
};

/// Where keys lie on a host.
const PKI: &str = "/etc/kubernetes/pki";
/// Kubeconfigs there, and the pair that is in each; that of the kubelet is of the host.
const KUBECONFIGS: [(&str, &str); 4] = [
    ("controller-manager.conf", "users/controller-manager"),
    ("scheduler.conf", "users/scheduler"),
    ("addon-manager.conf", "users/addon-manager"),
    ("kubelet.conf", ""),
];
/// The file with the key that encrypts what is stored.
const ENCRYPTION: &str = "/etc/kubernetes/apiserver/encryption.yaml";
/// Largest file, in bytes.
const LIMIT: &str = "1048576";
/// How long the host may take.
const WAIT: Duration = Duration::from_secs(60);

/// Fetches them.
pub(super) async fn run(args: &ClusterAdoptArgs) -> Outcome {
    let prepared = Prepared::new(&args.object)?;
    let _lock = prepared.lock()?;
    if keys::are_there(&prepared.state) {
        let what = format!("{} has keys already", prepared.state.display());
        return Err(Problem::new(Code::Conflict, what).next("name another folder with --state"));
    }
    let Some(host) = prepared.resolved.hosts.iter().find(|host| host.control_plane) else {
        return Err(Problem::new(Code::Input, "no host of the object has the control plane"));
    };
    let options = prepared.options(&args.reach);
    let mut session = Session::open(&options, &Target::of(host)).await.map_err(|error| problem(&error))?;
    let recorded =
        session.ask(Request::new("recorded", [""; 0]), WAIT).await.map_err(|error| problem(&error))?;
    let record = Record::parse(&host.name, &recorded).map_err(|error| problem(&error))?;
    if record.cluster != prepared.name {
        let found = if record.is_empty() {
            "no cluster".to_owned()
        } else {
            format!("the cluster {:?}", record.cluster)
        };
        let what = format!("{}: {found} is recorded there, not {:?}", host.name, prepared.name);
        return Err(Problem::new(Code::Input, what).next("give the object of that cluster"));
    }
    let fetched = fetch(&mut session, &record, &host.name).await?;
    session.close().await;
    let folder = prepared.state.join("pki");
    // The certificate of the authority comes last: with it the folder counts as having keys.
    let (last, others): (Vec<_>, Vec<_>) = fetched.into_iter().partition(|(name, _)| name == "ca.crt");
    let count = others.len() + last.len();
    for (name, bytes) in others.into_iter().chain(last) {
        write(&folder, &name, &bytes)?;
    }
    keys::ensure(&prepared.state, &prepared.resolved)?;
    print(&format!(
        "fetched {count} keys and certificates of {} from {}\nnext: trellis cluster plan {}\n",
        prepared.name,
        host.name,
        args.object.file.display()
    ))
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Outcome {
    pki::write_private(&folder.join(name), bytes).map_err(Problem::state)
}

/// Name below `pki/` and contents of everything that is recorded there.
async fn fetch(session: &mut Session, record: &Record, host: &str) -> Outcome<Vec<(String, Vec<u8>)>> {
    let mut fetched = Vec::new();
    for path in record.entries.keys() {
        let path = path.as_str();
        if let Some(name) = path.strip_prefix(PKI).and_then(|name| name.strip_prefix('/')) {
            if name.ends_with(".crt") || name.ends_with(".key") || name.ends_with(".pub") {
                fetched.push((name.to_owned(), contents(session, path).await?));
            }
        } else if path == ENCRYPTION {
            let text = contents(session, path).await?;
            let secret = value(&text, "secret:");
            fetched.extend(
                secret.map(|secret| ("encryption.key".to_owned(), format!("{secret}\n").into_bytes())),
            );
        } else if let Some((_, pair)) =
            KUBECONFIGS.iter().find(|(name, _)| path == format!("/etc/kubernetes/{name}"))
        {
            let text = contents(session, path).await?;
            let pair = if pair.is_empty() { format!("hosts/{host}/kubelet") } else { (*pair).to_owned() };
            for (field, ending) in [("client-certificate-data:", "crt"), ("client-key-data:", "key")] {
                let decoded = value(&text, field).and_then(|encoded| STANDARD.decode(encoded).ok());
                fetched.extend(decoded.map(|bytes| (format!("{pair}.{ending}"), bytes)));
            }
        }
    }
    Ok(fetched)
}

async fn contents(session: &mut Session, path: &str) -> Outcome<Vec<u8>> {
    let lines =
        session.ask(Request::new("contents", [path, LIMIT]), WAIT).await.map_err(|error| problem(&error))?;
    let encoded: String = lines.concat();
    STANDARD.decode(encoded.trim()).map_err(|_| {
        Problem::new(Code::Preflight, format!("{}: {path} did not arrive whole", session.host()))
            .next("run it again")
    })
}

/// What follows a word in a file, without quotes.
fn value(text: &[u8], word: &str) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let (_, rest) = text.split_once(word)?;
    let value = rest.lines().next()?.trim();
    let end = value.find([',', '}', ' ']).unwrap_or(value.len());
    Some(value[..end].trim_matches('"').to_owned()).filter(|value| !value.is_empty())
}

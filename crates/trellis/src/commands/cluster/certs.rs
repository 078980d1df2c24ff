//! `trellis cluster certs`.

use std::{
    collections::BTreeSet,
    path::Path,
    time::{Duration, SystemTime},
};

use pki::Peer;
use serde::Serialize;
use turnup::Request;

use super::{
    hosts::{Looked, Prepared, failure},
    keys,
};
use crate::{
    args::{ClusterCertsArgs, TellAs},
    commands::print,
    exit::{Code, Outcome, Problem},
    output,
};

/// Certificates that a kubelet keeps by itself.
const KUBELET: [&str; 2] =
    ["/var/lib/kubelet/pki/kubelet-client-current.pem", "/var/lib/kubelet/pki/kubelet-server-current.pem"];
/// Days that should be left.
const SOON: i64 = 30;
/// How long a host may take to show them.
const SHORT: Duration = Duration::from_secs(30);

/// A certificate and what is left of it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    place: String,
    subject: String,
    days_left: i64,
    names: Vec<String>,
}

/// Lists all certificates.
pub(super) async fn run(args: &ClusterCertsArgs) -> Outcome {
    let prepared = Prepared::new(&args.object)?;
    keys::must_be_there(&prepared.state)?;
    let mut rows = Vec::new();
    let folder = prepared.state.join("pki");
    walk(&folder, &folder, &mut rows)?;
    rows.sort_by(|a, b| a.place.cmp(&b.place));
    if !args.local {
        of_hosts(&prepared, args, &mut rows).await?;
    }
    print(&match args.output {
        Some(TellAs::Json) => output::json(&serde_json::json!(rows)),
        None => table(&rows),
    })?;
    match rows.iter().filter(|row| row.days_left < SOON).count() {
        0 => Ok(()),
        soon => Err(Problem::new(
            Code::Unhealthy,
            format!("{soon} certificates have fewer than {SOON} days left"),
        )
        .next("trellis cluster apply renews what is near its end")),
    }
}

async fn of_hosts(prepared: &Prepared, args: &ClusterCertsArgs, rows: &mut Vec<Row>) -> Outcome {
    let source = prepared.source(args.reach.deploy.as_deref())?;
    let mut looked = Looked::at(prepared, &args.reach, source, &BTreeSet::new()).await;
    for error in &looked.failed {
        eprintln!("! {}", failure(error));
    }
    for host in &mut looked.hosts {
        let requests = KUBELET.map(|path| Request::new("certificates", [path]));
        match host.session.ask_all(&requests, SHORT).await {
            Ok(answers) => {
                for (path, lines) in KUBELET.iter().zip(answers) {
                    let place = format!("{}:{path}", host.target.host);
                    let pem = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
                    // A host that has not joined yet has none.
                    rows.extend(row(&place, pem.as_bytes()).unwrap_or_default());
                }
            }
            Err(error) => eprintln!("! {}", failure(&error)),
        }
    }
    looked.close().await;
    Ok(())
}

fn walk(top: &Path, folder: &Path, rows: &mut Vec<Row>) -> Outcome {
    let failed = |error: std::io::Error| Problem::new(Code::State, error);
    for entry in fs_err::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            walk(top, &path, rows)?;
        } else if path.extension().is_some_and(|extension| extension == "crt") {
            let place = path.strip_prefix(top).unwrap_or(&path).display().to_string();
            let pem = pki::read_limited(&path).map_err(Problem::state)?;
            rows.extend(row(&place, &pem).map_err(Problem::state)?);
        }
    }
    Ok(())
}

/// The first certificate of a file: the one that is shown; what follows is its chain.
fn row(place: &str, pem: &[u8]) -> Result<Option<Row>, pki::Error> {
    let certificates = pki::certificates(pem, place)?;
    let Some(first) = certificates.first() else { return Ok(None) };
    let peer = Peer::parse(first)?;
    let now = SystemTime::now();
    let seconds = match peer.not_after.duration_since(now) {
        Ok(left) => i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
        Err(gone) => -i64::try_from(gone.duration().as_secs()).unwrap_or(i64::MAX),
    };
    let names = peer.names();
    Ok(Some(Row {
        place: place.to_owned(),
        subject: peer.common_name,
        days_left: seconds.div_euclid(86_400),
        names,
    }))
}

fn table(rows: &[Row]) -> String {
    let mut table = output::Columns::new(["DAYS LEFT", "CERTIFICATE", "SUBJECT", "NAMES"]);
    for row in rows {
        table.row([row.days_left.to_string(), row.place.clone(), row.subject.clone(), row.names.join(",")]);
    }
    table.render(true)
}

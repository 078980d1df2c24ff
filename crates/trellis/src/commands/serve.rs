//! `trellis serve`.

use std::path::Path;

use tokio::signal::unix::{SignalKind, signal};

use super::{
    print,
    signals::{StopSignals, recv},
};
use crate::{
    args::ServeArgs,
    config::{self, Settings},
    exit::Outcome,
    logging,
    wiring::{RunningDoor, listen},
};

/// Runs the door until it is told to stop.
pub(super) async fn run(args: ServeArgs) -> Outcome {
    let options = match &args.config {
        Some(file) => args.options.over(config::read(file)?),
        None => args.options,
    };
    let settings = Settings::new(options)?;
    logging::start(&settings.log, settings.log_format)?;
    let mut signals = StopSignals::listen();
    let listener = listen(settings.listen).await?;
    let mut door = RunningDoor::start(&settings, listener).await?;
    print(&ready(&door))?;
    door.log_problems();
    run_until_stopped(&mut door, &mut signals).await;
    Ok(())
}

/// The one line that says that the door serves, and how to come in.
fn ready(door: &RunningDoor) -> String {
    let shown = |path: &Path| path.display().to_string();
    let mut line = format!("ready: {}", door.url());
    if let Some(kubeconfig) = &door.admin_kubeconfig {
        line.push_str(&format!(" kubeconfig={}", shown(kubeconfig)));
    }
    if let Some(ca) = &door.front_proxy_ca {
        line.push_str(&format!(" front-proxy-ca={}", shown(ca)));
    }
    line.push('\n');
    line
}

/// Serves until a signal; the first drains, the second ends at once. SIGHUP reopens the audit log.
pub(super) async fn run_until_stopped(door: &mut RunningDoor, signals: &mut StopSignals) {
    let mut hangup = signal(SignalKind::hangup()).ok();
    loop {
        tokio::select! {
            () = door.stopped() => return,
            () = signals.next() => {
                tracing::info!("stopping: no new connections, what is in flight finishes; again to end at once");
                door.signal();
            }
            () = recv(&mut hangup) => door.reopen_audit(),
        }
    }
}

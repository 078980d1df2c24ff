//! A small federated API server: group `example.trellis.dev/v1`, kind `Note`.
//!
//! It is what `trellis up` starts and registers, and an example of what the door expects of a server:
//! discovery in both forms, OpenAPI, resource versions, watches, and callers named by the front proxy
//! in `X-Remote-*` headers under its client certificate. Every caller that the door names may do
//! everything; a real server would ask for more.

// An error here is an answer: made once, moved once, and not in a hot path.
#![allow(clippy::result_large_err)]

mod answer;
mod apply;
mod caller;
mod discovery;
mod fields;
mod listen;
mod note;
mod openapi;
mod patch;
mod read;
mod request;
mod route;
mod select;
mod store;
mod table;
mod watch;
mod write;

use std::{
    io::{Read as _, Write as _},
    sync::Arc,
};

use pki::ClientAuthorities;

use crate::{
    args::ExampleServerArgs,
    commands::StopSignals,
    config::{LogFormat, listen_address},
    exit::{Code, Outcome, Problem},
    logging,
};
use caller::FrontProxy;
use listen::Listener;
use store::Store;

/// What the line begins with that says, on standard output, where the server listens.
pub(crate) const READY: &str = "example server listens on ";

/// Runs the server until it is told to stop.
pub(crate) async fn run(args: ExampleServerArgs) -> Outcome {
    logging::start(&args.log, LogFormat::Text)?;
    let address = listen_address(&args.listen)?;
    let ca = pki::read_limited(&args.front_proxy_ca).map_err(Problem::given)?;
    let authorities = ClientAuthorities::front_proxy_only(&ca, &args.front_proxy_ca.display().to_string())
        .map_err(Problem::given)?;
    pki::create_private_dir(&args.state).map_err(Problem::state)?;
    let journal = args.state.join("notes.jsonl");
    let store = Store::open(&journal).map_err(|error| {
        Problem::new(Code::State, format!("cannot use the notes in {}: {error}", journal.display()))
            .next("move the file away to begin without notes")
    })?;
    let front_proxy = FrontProxy { authorities, names: args.front_proxy_names.into() };
    let listener = Listener::bind(address, &args.state, front_proxy, Arc::new(store)).await?;
    let address = listener.address().map_err(|error| Problem::new(Code::Listen, error))?;
    let mut signals = StopSignals::listen();
    announce(&format!("{READY}https://{address}"));
    tokio::select! {
        () = listener.run() => {}
        () = parent_gone(), if args.until_stdin_closes => {}
        () = signals.next() => {}
    }
    Ok(())
}

fn announce(line: &str) {
    let mut out = std::io::stdout();
    // Nobody may be listening.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Returns when standard input is at its end: the parent holds the other end and is gone. A thread of
/// its own reads, because a blocked read would keep the runtime from ending.
async fn parent_gone() {
    let (gone, seen) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 64];
        while matches!(std::io::stdin().read(&mut buffer), Ok(count) if count > 0) {}
        let _ = gone.send(());
    });
    let _ = seen.await;
}

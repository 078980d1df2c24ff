//! `trellis up`.

mod example;
mod folder;
mod kept;

use std::path::Path;

use tokio::net::TcpListener;

use super::{StopSignals, print, serve::run_until_stopped};
use crate::{
    args::UpArgs,
    config::{LogFormat, ServeOptions, Settings, listen_address},
    exit::Outcome,
    logging, output,
    wiring::{RunningDoor, listen},
};
use example::Example;
use folder::Folder;
use kept::Kept;

/// Where the door listens when nothing is said; the port of every Kubernetes API.
const USUAL_ADDRESS: &str = "127.0.0.1:6443";

/// Runs the door and the example server until it is told to stop.
pub(super) async fn run(args: UpArgs) -> Outcome {
    let filter = std::env::var("TRELLIS_LOG").unwrap_or_else(|_| "warn".to_owned());
    logging::start(&filter, LogFormat::Text)?;
    let mut signals = StopSignals::listen();
    let folder = Folder::choose(args.data, args.ephemeral)?;
    let (listener, note) = listener(args.listen.as_deref()).await?;
    let options = ServeOptions {
        listen: Some(USUAL_ADDRESS.to_owned()),
        state: Some(folder.path().to_owned()),
        ..ServeOptions::default()
    };
    let mut door = RunningDoor::start(&Settings::new(options)?, listener).await?;
    // Until the example is registered, a signal ends everything at once: there is nothing to lose.
    let mut kept = tokio::select! {
        kept = Kept::start(&door, folder.path()) => kept?,
        () = signals.next() => return Ok(()),
    };
    if let Some(example) = kept.example() {
        print(&story(&door, &folder, example, note.as_deref()))?;
    }
    tokio::select! {
        () = run_until_stopped(&mut door, &mut signals) => {}
        never = kept.keep() => match never {},
    }
    kept.stop().await;
    print("stopped\n")
}

/// The listener that was asked for; without a wish the usual one, or a free port with a note that says so.
async fn listener(wish: Option<&str>) -> Outcome<(TcpListener, Option<String>)> {
    if let Some(wish) = wish {
        return Ok((listen(listen_address(wish)?).await?, None));
    }
    match TcpListener::bind(USUAL_ADDRESS).await {
        Ok(listener) => Ok((listener, None)),
        Err(error) => {
            let listener = listen(listen_address("127.0.0.1:0")?).await?;
            Ok((
                listener,
                Some(format!("{USUAL_ADDRESS} cannot be used ({error}), so a free port was taken")),
            ))
        }
    }
}

/// What happened, and what to try.
fn story(door: &RunningDoor, folder: &Folder, example: &Example, note: Option<&str>) -> String {
    let kubeconfig = door.admin_kubeconfig.as_deref().unwrap_or(Path::new("")).display();
    let note = note.map(|note| format!("  note                {note}\n")).unwrap_or_default();
    let kept = if folder.is_temporary() { " (removed at the end)" } else { "" };
    format!(
        "Trellis is up.\n  \
           the door            {door}\n  \
           an example server   {example}, process {process}, registered as `{name}` while the door ran\n  \
           state               {state}{kept}\n  \
           kubeconfig          {kubeconfig}\n\
         {note}\n\
         Try, in another terminal:\n  \
           export KUBECONFIG={kubeconfig}\n  \
           kubectl api-resources --api-group=example.trellis.dev\n  \
           echo '{note_object}' | kubectl apply --server-side -f -\n  \
           kubectl get notes --watch\n  \
           kubectl explain note.spec\n  \
           kubectl get apiservers -o wide\n\n\
         Ctrl-C stops it.\n",
        door = door.url(),
        name = kept::NAME,
        example = example.url(),
        process = example.id(),
        state = folder.path().display(),
        note_object = output::one_line(&serde_json::json!({
            "apiVersion": "example.trellis.dev/v1",
            "kind": "Note",
            "metadata": { "name": "hello" },
            "spec": { "text": "written through the door" },
        })),
    )
}

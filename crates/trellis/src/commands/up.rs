//! `trellis up`.

mod example;
mod folder;

use std::path::Path;

use tokio::net::TcpListener;

use super::{
    StopSignals, print,
    register::{store, wait},
    serve::run_until_stopped,
};
use crate::{
    args::{DoorArgs, UpArgs},
    config::{LogFormat, ServeOptions, Settings, listen_address},
    door::{Door, Registration},
    exit::{Code, Outcome, Problem},
    logging, output,
    wiring::{RunningDoor, listen},
};
use example::Example;
use folder::Folder;

/// Where the door listens when nothing is said; the port of every Kubernetes API.
const USUAL_ADDRESS: &str = "127.0.0.1:6443";
/// Name of the example's registration.
const EXAMPLE: &str = "example";
/// How long the example may take to answer through the door.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(15);

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
    let example = tokio::select! {
        example = start_example(&door, folder.path()) => example?,
        () = signals.next() => return Ok(()),
    };
    print(&story(&door, &folder, &example, note.as_deref()))?;
    tokio::select! {
        () = run_until_stopped(&mut door, &mut signals) => {}
        ended = example.ended() => {
            eprintln!("trellis: the example server ended ({ended}); the door goes on without it, and starts it with the next `trellis up`");
            run_until_stopped(&mut door, &mut signals).await;
        }
    }
    example.stop().await;
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

/// Starts the example server as a process of its own, and registers it by its URL as anybody would.
async fn start_example(door: &RunningDoor, folder: &Path) -> Outcome<Example> {
    let missing = |what: &str| Problem::new(Code::Failure, format!("the door has no {what}"));
    let front_proxy_ca = door.front_proxy_ca.as_deref().ok_or_else(|| missing("front-proxy authority"))?;
    let kubeconfig = door.admin_kubeconfig.clone().ok_or_else(|| missing("admin kubeconfig"))?;
    let example = Example::start(&folder.join("example"), front_proxy_ca).await?;
    let client = Door::find(&DoorArgs { kubeconfig: Some(kubeconfig), context: None }).await?;
    let mut registration = Registration::new(EXAMPLE.to_owned(), &[example.url().to_owned()]);
    registration.trust(&example.authority()?);
    store(&client, &registration, true).await?;
    wait(&client, EXAMPLE, PATIENCE).await?;
    Ok(example)
}

/// What happened, and what to try.
fn story(door: &RunningDoor, folder: &Folder, example: &Example, note: Option<&str>) -> String {
    let kubeconfig = door.admin_kubeconfig.as_deref().unwrap_or(Path::new("")).display();
    let note = note.map(|note| format!("  note                {note}\n")).unwrap_or_default();
    let kept = if folder.is_temporary() { " (removed at the end)" } else { "" };
    format!(
        "Trellis is up.\n  \
           the door            {door}\n  \
           an example server   {example}, process {process}, registered as `{EXAMPLE}` while the door ran\n  \
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

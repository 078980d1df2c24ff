//! `trellis register`.

use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::print;
use crate::{
    args::{IdentityArg, RegisterArgs},
    door::{Door, Registration, State, default_name},
    exit::{Code, Outcome, Problem},
    output::Progress,
};

/// How often the status is asked for while waiting.
const POLL: Duration = Duration::from_millis(50);

/// Registers a server and waits until it is available.
pub(super) async fn run(args: RegisterArgs) -> Outcome {
    let registration = registration(&args)?;
    registration.check()?;
    let door = Door::find(&args.door).await?;
    let verb = store(&door, &registration, args.replace).await?;
    print(&format!("{} is {verb}\n", registration.name))?;
    if args.no_wait {
        return Ok(());
    }
    let groups = wait(&door, &registration.name, args.timeout.0).await?;
    let groups = if groups.is_empty() { "no groups".to_owned() } else { groups.join(", ") };
    print(&format!("{} is available: {groups}\n", registration.name))
}

/// What was typed, as an object.
fn registration(args: &RegisterArgs) -> Outcome<Registration> {
    let name = args.name.clone().unwrap_or_else(|| default_name(&args.urls[0]));
    let mut registration = Registration::new(name, &args.urls);
    if let Some(file) = &args.ca {
        let pem = pki::read_limited(file).map_err(|error| {
            Problem::new(Code::Input, format!("--ca: {error}"))
                .next("give the PEM file with the server's authorities")
        })?;
        let object = format!("--ca {}", file.display());
        pki::certificates(&pem, &object).map_err(|error| {
            Problem::new(Code::Input, error).next("give the PEM file with the server's authorities")
        })?;
        registration.trust(&pem);
    }
    if let Some(name) = &args.server_name {
        registration.set("serverName", json!(name));
    }
    if args.identity != IdentityArg::RequestHeader {
        registration.set("identity", json!(args.identity.as_str()));
    }
    if let Some(path) = &args.openapi_path {
        registration.set("openAPI", json!({ "v2Path": path }));
    }
    if args.direct {
        registration.set("direct", json!({}));
    }
    Ok(registration)
}

/// Creates the object, or replaces its spec; says which.
pub(super) async fn store(door: &Door, registration: &Registration, replace: bool) -> Outcome<&'static str> {
    let mut object = registration.object();
    let path = Registration::collection();
    let answer = door.send(Method::POST, &path, Some("application/json"), Some(&object)).await?;
    match answer.code {
        code if code.is_success() => return Ok("registered"),
        StatusCode::CONFLICT if replace => {}
        StatusCode::CONFLICT => {
            let what = format!("{} is registered already at {}", registration.name, door.url());
            return Err(Problem::new(Code::Conflict, what)
                .next("choose another --name, or change the registration with --replace"));
        }
        StatusCode::NOT_FOUND => {
            return Err(Problem::new(Code::NotFound, format!("{} is no Trellis door, or knows no registrations", door.url()))
                .next("point --kubeconfig at the door; with a core, install the definition: `trellis serve --install-crds`"));
        }
        _ => return Err(door.refused(&answer)),
    }
    let path = Registration::path(&registration.name);
    let live = door.expect(Method::GET, &path, None).await?;
    if live["spec"] == object["spec"] {
        return Ok("registered already");
    }
    object["metadata"] = live["metadata"].clone();
    door.expect(Method::PUT, &path, Some(&object)).await?;
    Ok("registered anew")
}

/// Waits until the server is available; gives its groups.
pub(super) async fn wait(door: &Door, name: &str, patience: Duration) -> Outcome<Vec<String>> {
    let end = Instant::now() + patience;
    let mut progress = Progress::new();
    let mut last = String::from("the door has not said anything about it yet");
    loop {
        let object: Value = door.expect(Method::GET, &Registration::path(name), None).await?;
        match State::of(&object) {
            State::Available(groups) => return Ok(groups),
            State::Not(why) => last = why,
            State::Unknown => {}
        }
        progress.say(&format!("waiting for {name}: {last}"));
        if Instant::now() + POLL > end {
            drop(progress);
            let what = format!("{name} is registered, but not available after {patience:?}: {last}");
            return Err(Problem::new(Code::Waited, what).next(format!(
                "the door goes on trying; `trellis servers -o wide` shows how it is, `trellis unregister {name}` takes it away"
            )));
        }
        tokio::time::sleep(POLL).await;
    }
}

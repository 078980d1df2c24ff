//! A federated API server in one file: notes, kept on disk, served over HTTPS.
//!
//! ```sh
//! notes LISTEN DATA CERTIFICATE KEY FRONT-PROXY-CA
//! ```
//!
//! Behind a door, the door's front proxy says who asks; docs/write-an-api-server.md walks through it.

use std::{collections::BTreeSet, env, error::Error, io::Write as _, net::SocketAddr, path::Path, sync::Arc};

use apiserver::{
    engine::Hooks,
    hooks::AllowAuthenticated,
    listen,
    resource::{Column, Definition, Generation, Object, Resource, Writer},
    service::Service,
    serving::Files,
    storage::{Embedded, Options},
    validation::{self, FieldError},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::{net::TcpListener, signal::unix};

/// A note.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Note {
    /// What is noted.
    spec: NoteSpec,
    /// What the server knows of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<NoteStatus>,
}

/// What is noted.
#[derive(Serialize, Deserialize, JsonSchema)]
struct NoteSpec {
    /// The text, at most 64 kB.
    #[serde(default)]
    text: String,
    /// Words by which notes are found.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    tags: BTreeSet<String>,
    /// How urgent it is.
    #[serde(default)]
    urgency: Urgency,
}

/// How urgent something is.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Urgency {
    Low,
    #[default]
    Normal,
    High,
}

/// What the server knows of a note.
#[derive(Serialize, Deserialize, JsonSchema)]
struct NoteStatus {
    /// Who wrote it first.
    author: String,
}

const MAX_TEXT: usize = 64 * 1024;

impl Resource for Note {
    const GROUP: &'static str = "example.trellis.dev";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Note";
    const PLURAL: &'static str = "notes";

    fn describe(definition: &mut Definition) {
        definition.names.short_names = vec!["nt".to_owned()];
        definition.names.categories = vec!["all".to_owned()];
        definition.generation = Generation::Counted;
        definition.status = true;
        definition.selectable = vec!["spec.urgency".to_owned()];
        definition.versions[0].columns = vec![
            Column::name(),
            Column::new("Urgency", "string", "How urgent it is.", "spec.urgency"),
            Column::new("Text", "string", "What is noted.", "spec.text"),
            Column::new("Author", "string", "Who wrote it first.", "status.author").wide(),
            Column::age(),
        ];
    }

    fn prepare_for_create(note: &mut Object<Self>, writer: Writer<'_>) {
        note.body.status = Some(NoteStatus { author: writer.user.name.clone() });
    }

    fn validate(note: &Object<Self>) -> Vec<FieldError> {
        let spec = validation::Path::new("spec");
        let (text, tags) = (spec.child("text"), spec.child("tags"));
        let mut errors = Vec::new();
        if note.body.spec.text.is_empty() {
            errors.push(FieldError::required(&text, ""));
        } else if note.body.spec.text.len() > MAX_TEXT {
            errors.push(FieldError::too_long(&text, MAX_TEXT));
        }
        for (place, tag) in note.body.spec.tags.iter().enumerate() {
            let problems = validation::names::is_dns_label(tag);
            errors.extend(problems.into_iter().map(|why| FieldError::invalid(&tags.index(place), tag, why)));
        }
        errors
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [address, data, certificate, key, front_proxy_ca] = &arguments[..] else {
        return Err("usage: notes LISTEN DATA CERTIFICATE KEY FRONT-PROXY-CA".into());
    };
    let serving = Files {
        certificate: certificate.into(),
        key: key.into(),
        front_proxy_ca: Some(front_proxy_ca.into()),
        ..Files::default()
    }
    .load()?;
    let store = Arc::new(Embedded::open(Path::new(data), Options::default())?);
    let service = Service::builder()
        .title("Notes")
        .resource(Definition::of::<Note>())
        // The door has asked the core already what this user may do.
        .hooks(Hooks::authorized_by(AllowAuthenticated))
        .authenticator(serving.certificates.clone())
        .build(store)?;

    let listener = TcpListener::bind(address.parse::<SocketAddr>()?).await?;
    writeln!(std::io::stdout(), "listening on {}", listener.local_addr()?)?;
    let mut terminate = unix::signal(unix::SignalKind::terminate())?;
    let stop = async move {
        terminate.recv().await;
    };
    listen::serve(Arc::new(service), listener, serving.tls.clone(), listen::Limits::default(), stop).await;
    Ok(())
}

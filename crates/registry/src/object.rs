//! The two kinds of objects that make servers known, read from JSON.

use std::{fmt, path::PathBuf, sync::Arc};

use serde_json::Value;

use crate::{
    api_service::{self, ApiServiceSpec},
    registration::{self, Spec},
    validation::{Problem, ProblemKind, Problems, check_api_service, check_name, check_spec},
};

/// The kinds that the registry knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Resource {
    /// `apiservers.federation.trellis.dev`
    ApiServer,
    /// `apiservices.apiregistration.k8s.io`
    ApiService,
}

impl Resource {
    /// Both.
    pub const ALL: [Self; 2] = [Self::ApiServer, Self::ApiService];

    /// API group.
    pub fn group(self) -> &'static str {
        match self {
            Self::ApiServer => registration::GROUP,
            Self::ApiService => api_service::GROUP,
        }
    }

    /// API version.
    pub fn version(self) -> &'static str {
        match self {
            Self::ApiServer => registration::VERSION,
            Self::ApiService => api_service::VERSION,
        }
    }

    /// Kind.
    pub fn kind(self) -> &'static str {
        match self {
            Self::ApiServer => registration::KIND,
            Self::ApiService => api_service::KIND,
        }
    }

    /// Plural, as in paths.
    pub fn plural(self) -> &'static str {
        match self {
            Self::ApiServer => registration::PLURAL,
            Self::ApiService => api_service::PLURAL,
        }
    }

    /// `group/version`.
    pub fn api_version(self) -> String {
        format!("{}/{}", self.group(), self.version())
    }

    /// The kind that `apiVersion` and `kind` name.
    pub fn of(api_version: &str, kind: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|resource| resource.kind() == kind && resource.api_version() == api_version)
    }
}

/// Identifies an object among all sources.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey {
    /// Its kind.
    pub resource: Resource,
    /// `metadata.name`.
    pub name: String,
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.resource.kind(), self.name)
    }
}

/// Where an object comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Our own API, kept in the state folder.
    Store,
    /// A file of the watched directory.
    File {
        /// The file.
        path: PathBuf,
        /// Line at which the object starts, from 1.
        line: usize,
    },
    /// The core.
    Core,
}

impl Source {
    /// Whether objects from here may name files of the door's host. The watched directory is written by
    /// whoever owns the host; the others could make the door send any file to a server of their choice.
    pub fn may_name_files(&self) -> bool {
        matches!(self, Self::File { .. })
    }
}

/// A valid object.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// Kind and name.
    pub key: ObjectKey,
    /// `metadata.uid`.
    pub uid: String,
    /// `metadata.creationTimestamp`, seconds since the Unix epoch.
    pub created: i64,
    /// `metadata.generation`.
    pub generation: i64,
    /// Where it comes from.
    pub source: Source,
    /// What it says.
    pub spec: DeclaredSpec,
}

/// The spec of either kind.
#[derive(Clone, Debug, PartialEq)]
pub enum DeclaredSpec {
    /// Of an `APIServer`.
    ApiServer(Arc<Spec>),
    /// Of an `APIService`.
    ApiService(Arc<ApiServiceSpec>),
}

/// Reads an object; `value` has kind and version of `resource`.
///
/// # Errors
/// All that is wrong with it, unknown fields included.
pub fn check(resource: Resource, value: &Value) -> Result<DeclaredSpec, Problems> {
    let mut problems = Problems::default();
    check_top_level(value, &mut problems);
    let name = text(value, "/metadata/name").unwrap_or_default();
    let spec = match resource {
        Resource::ApiServer => {
            check_name("metadata.name", name, &mut problems);
            check_spec(value.get("spec"), &mut problems).map(Arc::new).map(DeclaredSpec::ApiServer)
        }
        Resource::ApiService => check_api_service(name, value.get("spec"), &mut problems)
            .map(Arc::new)
            .map(DeclaredSpec::ApiService),
    };
    match spec {
        Some(spec) if problems.is_empty() => Ok(spec),
        _ => Err(problems),
    }
}

/// Reads an object as it came from a source, with its metadata.
///
/// # Errors
/// All that is wrong with it.
pub fn declare(resource: Resource, value: &Value, source: Source) -> Result<Declared, Problems> {
    let spec = check(resource, value)?;
    if let DeclaredSpec::ApiServer(spec) = &spec
        && !source.may_name_files()
        && let Some(path) = spec.files().first()
    {
        let mut problems = Problems::default();
        let reason = format!(
            "only registrations in the watched directory may name files of the door's host ({})",
            path.display()
        );
        problems.forbidden("spec", reason);
        return Err(problems);
    }
    Ok(Declared {
        key: ObjectKey { resource, name: text(value, "/metadata/name").unwrap_or_default().to_owned() },
        uid: text(value, "/metadata/uid").unwrap_or_default().to_owned(),
        created: text(value, "/metadata/creationTimestamp").and_then(crate::clock::parse).unwrap_or(0),
        generation: value.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or(1),
        source,
        spec,
    })
}

/// Removes what a server of the Kubernetes API drops silently: fields that do not exist.
pub(crate) fn prune(value: &mut Value, problems: &Problems) {
    for Problem { field, kind, .. } in problems.iter() {
        if *kind == ProblemKind::Unknown {
            remove(value, field);
        }
    }
}

/// The text at a JSON pointer.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// Removes the field at `path`, whose last segment may itself contain dots.
fn remove(value: &mut Value, path: &str) {
    let Some(object) = value.as_object_mut() else { return };
    if object.remove(path).is_some() {
        return;
    }
    if let Some((first, rest)) = path.split_once('.')
        && let Some(inner) = object.get_mut(first)
    {
        remove(inner, rest);
    }
}

fn check_top_level(value: &Value, problems: &mut Problems) {
    let mut fields = crate::validation::fields_of("", value, problems);
    for field in ["apiVersion", "kind", "spec", "status"] {
        fields.get(field);
    }
    if let Some(mut metadata) = fields.object("metadata", problems) {
        for field in ["name", "namespace", "generateName", "uid", "resourceVersion", "creationTimestamp"] {
            metadata.text(field, problems);
        }
        for field in [
            "generation",
            "labels",
            "annotations",
            "managedFields",
            "ownerReferences",
            "finalizers",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "selfLink",
        ] {
            metadata.get(field);
        }
        metadata.finish(problems);
    }
    fields.finish(problems);
}

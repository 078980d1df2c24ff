//! From objects to servers: one for each `APIServer`, one for all APIServices that name the same Service.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use catalog::{IdentityMode, Limits, SelectedVersion, Selection, ServerName};

use crate::{
    api_service::ApiServiceSpec,
    object::{Declared, DeclaredSpec, ObjectKey, Source},
    registration::{
        CredentialSource, DEFAULT_GROUP_PRIORITY, DEFAULT_VERSION_PRIORITY, OpenApiPaths, RootsSource,
        ServicePort, ServiceReference, Spec, Target,
    },
    validation::RESERVED_NAME,
};

/// A server that somebody registered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) name: ServerName,
    /// What it was learned of the server under another uid is not about this one.
    pub(crate) uid: String,
    pub(crate) registered_at: i64,
    /// For the health report.
    pub(crate) source: &'static str,
    pub(crate) spec: Arc<Spec>,
    pub(crate) selection: Selection,
    /// The objects that it comes from, with their generations.
    pub(crate) objects: Vec<(ObjectKey, i64)>,
}

/// All servers, and what cannot be one.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    pub(crate) servers: BTreeMap<ServerName, Candidate>,
    /// Objects whose name is taken by an older one.
    pub(crate) doubles: Vec<(ObjectKey, String)>,
    /// APIServices without a Service.
    pub(crate) local: Vec<ObjectKey>,
}

impl Candidates {
    /// Sorts out `objects`; of two with the same name the older counts.
    pub(crate) fn of(objects: &[Arc<Declared>]) -> Self {
        let mut sorted: Vec<&Arc<Declared>> = objects.iter().collect();
        sorted.sort_by(|a, b| (a.created, &a.key).cmp(&(b.created, &b.key)));
        let mut found = Self::default();
        let mut services: Vec<Group<'_>> = Vec::new();
        let mut seen = HashSet::new();
        for object in sorted {
            if !seen.insert(&object.key) {
                found.doubles.push((object.key.clone(), "registered twice; the older one counts".to_owned()));
                continue;
            }
            match &object.spec {
                DeclaredSpec::ApiServer(spec) => found.add(api_server(object, spec)),
                DeclaredSpec::ApiService(spec) => match &spec.service {
                    Some(service) => join(&mut services, object, spec, service),
                    None => found.local.push(object.key.clone()),
                },
            }
        }
        for group in services {
            let mut candidate = group.candidate();
            if found.servers.contains_key(&candidate.name) {
                // The same Service with another CA: another server in all but the address.
                let first = group.members.first().map_or("", |(object, _)| object.key.name.as_str());
                candidate.name = ServerName::new(&format!("{}#{first}", candidate.name));
            }
            found.add(candidate);
        }
        found
    }

    fn add(&mut self, candidate: Candidate) {
        let taken = self.servers.contains_key(&candidate.name)
            || candidate.name.as_str() == ServerName::CORE
            || candidate.name.as_str() == RESERVED_NAME;
        if taken {
            let reason = format!("the server name {} is taken by an older registration", candidate.name);
            self.doubles.extend(candidate.objects.iter().map(|(key, _)| (key.clone(), reason.clone())));
            return;
        }
        self.servers.insert(candidate.name.clone(), candidate);
    }
}

fn api_server(object: &Declared, spec: &Arc<Spec>) -> Candidate {
    Candidate {
        name: ServerName::new(&object.key.name),
        uid: object.uid.clone(),
        registered_at: object.created,
        source: if matches!(object.source, Source::File { .. }) { "File" } else { "APIServer" },
        spec: Arc::clone(spec),
        selection: Selection::All {
            group_priority: spec.group_priority,
            version_priority: spec.version_priority,
        },
        objects: vec![(object.key.clone(), object.generation)],
    }
}

/// APIServices of one Service, oldest first.
struct Group<'a> {
    service: &'a ServiceReference,
    members: Vec<(&'a Declared, &'a ApiServiceSpec)>,
}

fn join<'a>(
    groups: &mut Vec<Group<'a>>,
    object: &'a Declared,
    spec: &'a ApiServiceSpec,
    service: &'a ServiceReference,
) {
    let same_trust = |other: &ApiServiceSpec| {
        other.ca_bundle == spec.ca_bundle && other.insecure_skip_tls_verify == spec.insecure_skip_tls_verify
    };
    let same = |group: &&mut Group<'_>| {
        group.service == service && group.members.first().is_some_and(|(_, first)| same_trust(first))
    };
    match groups.iter_mut().find(same) {
        Some(group) => group.members.push((object, spec)),
        None => groups.push(Group { service, members: vec![(object, spec)] }),
    }
}

impl Group<'_> {
    fn candidate(&self) -> Candidate {
        let ServiceReference { namespace, name, port } = self.service;
        let host = format!("{name}.{namespace}.svc");
        let server = match port {
            ServicePort::Number(443) => host.clone(),
            ServicePort::Number(port) => format!("{host}:{port}"),
            ServicePort::Name(port) => format!("{host}:{port}"),
        };
        let first = self.members.first();
        let bundle = first.and_then(|(_, spec)| spec.ca_bundle.clone());
        let spec = Spec {
            target: Target::Service(self.service.clone()),
            base_path: String::new(),
            roots: bundle.map_or(RootsSource::System, RootsSource::Bundle),
            server_name: Some(host),
            skip_verification: first.is_some_and(|(_, spec)| spec.insecure_skip_tls_verify),
            credentials: CredentialSource::default(),
            openapi: OpenApiPaths::default(),
            identity: IdentityMode::RequestHeader,
            group_priority: DEFAULT_GROUP_PRIORITY,
            version_priority: DEFAULT_VERSION_PRIORITY,
            limits: Limits::default(),
            direct_address: None,
        };
        let selected = |(_, spec): &(&Declared, &ApiServiceSpec)| SelectedVersion {
            group: spec.group.clone(),
            version: spec.version.clone(),
            group_priority: spec.group_priority,
            version_priority: spec.version_priority,
        };
        Candidate {
            name: ServerName::new(&server),
            uid: server,
            registered_at: first.map_or(0, |(object, _)| object.created),
            source: "APIService",
            spec: Arc::new(spec),
            selection: Selection::Only(self.members.iter().map(selected).collect()),
            objects: self.members.iter().map(|(o, _)| (o.key.clone(), o.generation)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::object::{Resource, declare};

    fn object(value: &Value) -> Arc<Declared> {
        let kind = if value["kind"] == "APIServer" { Resource::ApiServer } else { Resource::ApiService };
        Arc::new(declare(kind, value, Source::Store).expect("valid"))
    }

    fn api_service(group: &str, version: &str, service: Option<&str>, insecure: bool) -> Arc<Declared> {
        let service = service.map(|name| json!({ "namespace": "wardle", "name": name }));
        object(&json!({
            "kind": "APIService",
            "metadata": { "name": format!("{version}.{group}"), "creationTimestamp": "2026-01-01T00:00:00Z" },
            "spec": { "group": group, "version": version, "service": service, "insecureSkipTLSVerify": insecure,
                "groupPriorityMinimum": 100, "versionPriority": 10 },
        }))
    }

    #[test]
    fn api_services_of_one_service_are_one_server() {
        let objects = [
            api_service("a.example.com", "v1", Some("api"), true),
            api_service("a.example.com", "v2", Some("api"), true),
            api_service("b.example.com", "v1", Some("api"), false),
            api_service("c.example.com", "v1", Some("other"), true),
            api_service("d.example.com", "v1", None, false),
        ];
        let found = Candidates::of(&objects);
        let servers: Vec<_> = found.servers.values().map(|c| (c.name.as_str(), c.objects.len())).collect();
        let expected =
            [("api.wardle.svc", 2), ("api.wardle.svc#v1.b.example.com", 1), ("other.wardle.svc", 1)];
        assert_eq!(servers, expected);
        assert_eq!(found.local.len(), 1);
        let Selection::Only(versions) = &found.servers[&ServerName::new("api.wardle.svc")].selection else {
            panic!("only what the APIServices name is exposed");
        };
        assert_eq!(versions.iter().map(|v| v.version.as_str()).collect::<Vec<_>>(), ["v1", "v2"]);
    }

    #[test]
    fn of_two_with_one_name_the_older_counts() {
        let server = |url: &str, created: &str| {
            object(&json!({ "kind": "APIServer",
                "metadata": { "name": "one", "creationTimestamp": created }, "spec": { "url": url } }))
        };
        let objects =
            [server("https://new", "2026-02-02T00:00:00Z"), server("https://old", "2026-01-01T00:00:00Z")];
        let found = Candidates::of(&objects);
        assert_eq!(found.doubles.len(), 1);
        let spec = &found.servers[&ServerName::new("one")].spec;
        assert!(matches!(&spec.target, Target::Addresses(a) if a[0].host == "old"));
    }
}

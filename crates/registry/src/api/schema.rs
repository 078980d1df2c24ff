//! The schema of the two kinds, once for the CustomResourceDefinition and once for OpenAPI.

use serde_json::{Value, json};

use crate::registration::{GROUP, KIND, PLURAL, VERSION};

/// The CustomResourceDefinition of `APIServer`, for a core: structural, with status and columns.
pub fn crd_manifest() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{PLURAL}.{GROUP}") },
        "spec": {
            "group": GROUP,
            "names": {
                "kind": KIND,
                "listKind": format!("{KIND}List"),
                "plural": PLURAL,
                "singular": "apiserver",
                "shortNames": ["apisrv"],
                "categories": ["api-extensions"],
            },
            "scope": "Cluster",
            "versions": [{
                "name": VERSION,
                "served": true,
                "storage": true,
                "schema": { "openAPIV3Schema": {
                    "type": "object",
                    "description": DESCRIPTION,
                    "required": ["spec"],
                    "properties": {
                        "apiVersion": { "type": "string" },
                        "kind": { "type": "string" },
                        "metadata": { "type": "object" },
                        "spec": spec(),
                        "status": status(),
                    },
                } },
                "subresources": { "status": {} },
                "additionalPrinterColumns": [
                    column("URL", "string", ".spec.url", 0),
                    column("Available", "string", ".status.conditions[?(@.type=='Available')].status", 0),
                    column("Reason", "string", ".status.conditions[?(@.type=='Available')].reason", 0),
                    column("Groups", "string", ".status.groups", 0),
                    column("Age", "date", ".metadata.creationTimestamp", 0),
                    column("Identity", "string", ".spec.identity", 1),
                    column("Conflict", "string", ".status.conditions[?(@.type=='Conflict')].status", 1),
                    column("Last Discovery", "date", ".status.lastDiscovery", 1),
                ],
            }],
        },
    })
}

/// What the kind is.
pub(super) const DESCRIPTION: &str = "APIServer makes an API server known to the door, which serves its API groups as if they were part of Kubernetes. The groups are discovered.";

fn column(name: &str, kind: &str, path: &str, priority: i32) -> Value {
    json!({ "name": name, "type": kind, "jsonPath": path, "priority": priority })
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn number(description: &str, least: i64, most: i64) -> Value {
    json!({ "type": "integer", "format": "int64", "description": description, "minimum": least, "maximum": most })
}

fn object(description: &str, properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({ "type": "object", "description": description, "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// `spec` of an `APIServer`.
pub(super) fn spec() -> Value {
    object(
        "Where the server is, how it is trusted and how identity reaches it. Exactly one of url, endpoints and service is given.",
        json!({
            "url": text("Base URL, for example https://host:8443/prefix. http is for loopback addresses only."),
            "endpoints": {
                "type": "array",
                "description": "Several addresses of one server: host:port or https://host:port.",
                "items": { "type": "string" },
                "minItems": 1,
                "maxItems": 256,
            },
            "service": object(
                "A Service of the core, followed to its ready endpoints.",
                json!({
                    "namespace": text("Namespace of the Service."),
                    "name": text("Name of the Service."),
                    "port": {
                        "x-kubernetes-int-or-string": true,
                        "description": "Number or name of the Service's port; 443 when absent.",
                    },
                }),
                &["namespace", "name"],
            ),
            "path": text("Path prefix below which the server's API starts, when it is not part of url."),
            "caBundle": {
                "type": "string",
                "format": "byte",
                "description": "PEM bundle of the authorities that signed the server's certificate, base64.",
            },
            "caFile": text("The same as a file on the door's host; only for registrations in the watched directory."),
            "systemRoots": {
                "type": "boolean",
                "description": "Trust the authorities of the operating system. The default when neither caBundle nor caFile is given.",
            },
            "serverName": text("Name expected in the server's certificate, when it is not the host."),
            "credentials": object(
                "What the door shows of itself. Without it, the door's own client certificate.",
                json!({
                    "certificateFile": text("PEM client certificate on the door's host; only in the watched directory."),
                    "keyFile": text("PEM private key on the door's host; only in the watched directory."),
                    "tokenFile": text("File with a bearer token on the door's host; only in the watched directory."),
                    "secretRef": object(
                        "A Secret of the core with tls.crt and tls.key, or token.",
                        json!({ "namespace": text("Namespace of the Secret."), "name": text("Name of the Secret.") }),
                        &["namespace", "name"],
                    ),
                }),
                &[],
            ),
            "openAPI": object(
                "Where the server's OpenAPI documents are, below its base path.",
                json!({
                    "v2Path": text("Swagger 2.0 document; /openapi/v2 when absent."),
                    "v3Path": text("Index of the OpenAPI v3 documents; /openapi/v3 when absent."),
                }),
                &[],
            ),
            "identity": {
                "type": "string",
                "description": "How the caller's identity travels: requestHeader (X-Remote-*, the default), impersonate (Impersonate-*) or passThrough (the caller's own bearer token).",
                "enum": ["requestHeader", "impersonate", "passThrough"],
            },
            "groupPriorityMinimum": number("Rank of the server's groups among all groups; 1000 when absent.", 1, 20_000),
            "versionPriority": number("Rank of the server's versions within a group; 15 when absent.", 1, 1000),
            "limits": object(
                "What the server may be asked to carry. A request over a limit is refused for this server alone.",
                json!({
                    "connections": number("Connections to each endpoint; 64 when absent.", 1, 10_000),
                    "requestsInFlight": number("Requests at once, watches not counted; 1000 when absent.", 1, 1_000_000),
                    "bodyBytes": number("Largest request body in bytes; unlimited when absent.", 1, i64::MAX),
                    "connectTimeout": text("Until a connection must stand, for example 5s; 5s when absent."),
                    "requestTimeout": text("Until an ordinary request must be answered, for example 60s; 60s when absent."),
                }),
                &[],
            ),
            "direct": object(
                "Lets clients reach the server directly: its address is put into discovery.",
                json!({ "address": text("host:port; the host and port of url when absent.") }),
                &[],
            ),
        }),
        &[],
    )
}

/// `status` of an `APIServer`.
pub(super) fn status() -> Value {
    object(
        "How the server is.",
        json!({
            "observedGeneration": { "type": "integer", "format": "int64", "description": "The generation that this is about." },
            "conditions": conditions("Available, Conflict, Degraded, IdentityRejected and CertificateExpiring."),
            "endpoints": {
                "type": "array",
                "description": "Every endpoint of the server.",
                "items": object(
                    "An endpoint.",
                    json!({
                        "address": text("host:port."),
                        "health": text("Healthy, Failing or Unknown."),
                        "reason": text("Why it fails, in one word."),
                        "message": text("Why it fails."),
                    }),
                    &["address", "health"],
                ),
            },
            "groups": {
                "type": "array",
                "description": "group/version of everything that the server serves through the door.",
                "items": { "type": "string" },
            },
            "lastDiscovery": {
                "type": "string",
                "format": "date-time",
                "description": "When the server last said something new of its groups.",
            },
        }),
        &[],
    )
}

fn conditions(description: &str) -> Value {
    json!({
        "type": "array",
        "description": description,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": object(
            "A condition.",
            json!({
                "type": text("Kind of the condition."),
                "status": { "type": "string", "enum": ["True", "False", "Unknown"], "description": "Whether it holds." },
                "reason": text("Why, in one word."),
                "message": text("Why, and what to do about it."),
                "lastTransitionTime": {
                    "type": "string",
                    "format": "date-time",
                    "description": "When the status last changed.",
                },
                "observedGeneration": { "type": "integer", "format": "int64", "description": "The generation that this is about." },
            }),
            &["type", "status"],
        ),
    })
}

/// `spec` of an APIService, as upstream.
pub(super) fn api_service_spec() -> Value {
    object(
        "Which Service serves a group version.",
        json!({
            "group": text("Group is the API group name this server hosts."),
            "version": text("Version is the API version this server hosts, for example v1."),
            "service": object(
                "Service is a reference to the service for this API server.",
                json!({
                    "namespace": text("Namespace is the namespace of the service."),
                    "name": text("Name is the name of the service."),
                    "port": { "type": "integer", "format": "int32", "description": "Port of the service; 443 when absent." },
                }),
                &[],
            ),
            "caBundle": { "type": "string", "format": "byte", "description": "PEM bundle that signed the server's certificate." },
            "insecureSkipTLSVerify": { "type": "boolean", "description": "Disables the check of the server's certificate." },
            "groupPriorityMinimum": { "type": "integer", "format": "int32", "description": "The priority this group should have at least." },
            "versionPriority": { "type": "integer", "format": "int32", "description": "The ordering of this version inside of its group." },
        }),
        &["groupPriorityMinimum", "versionPriority"],
    )
}

/// `status` of an APIService.
pub(super) fn api_service_status() -> Value {
    object("How the server is.", json!({ "conditions": conditions("Available.") }), &[])
}

//! The spec of an `apiregistration.k8s.io/v1` APIService, by the rules and in the words of upstream.

use serde_json::Value;

use super::{
    ProblemKind, Problems,
    fields::Fields,
    scalars::{dns_1035_problem, subdomain_problem},
    spec::ca_bundle,
};
use crate::{
    api_service::ApiServiceSpec,
    registration::{ServicePort, ServiceReference},
};

/// Reads the spec of the APIService `name`. With problems in it the result is of no use.
pub fn check_api_service(
    name: &str,
    value: Option<&Value>,
    problems: &mut Problems,
) -> Option<ApiServiceSpec> {
    let Some(value) = value.filter(|value| !value.is_null()) else {
        problems.required("spec", "an APIService names a group and a version");
        return None;
    };
    let mut spec = Fields::of("spec", value, problems);
    let group = spec.text("group", problems).unwrap_or_default();
    let version = spec.required_text("version", "an APIService names a version", problems);
    let bundle = spec.text("caBundle", problems).filter(|text| !text.is_empty());
    let roots = bundle.and_then(|text| ca_bundle("spec.caBundle", text, problems));
    let insecure = spec.boolean("insecureSkipTLSVerify", problems).unwrap_or(false);
    let group_priority = priority(&mut spec, "groupPriorityMinimum", 20_000, problems);
    let version_priority = priority(&mut spec, "versionPriority", 1000, problems);
    let local = spec.get("service").is_none();
    let service = spec.object("service", problems).and_then(|service| reference(service, problems));
    spec.finish(problems);

    check_group_and_version(name, group, version.unwrap_or_default(), problems);
    if insecure && bundle.is_some() {
        problems.invalid(
            "spec.insecureSkipTLSVerify",
            &Value::from(true),
            "may not be true if caBundle is present",
        );
    }
    if local && bundle.is_some() {
        problems.forbidden("spec.caBundle", "local APIServices may not have a caBundle");
    }
    if local && insecure {
        problems.invalid(
            "spec.insecureSkipTLSVerify",
            &Value::from(true),
            "local APIServices may not have insecureSkipTLSVerify",
        );
    }
    Some(ApiServiceSpec {
        group: group.to_owned(),
        version: version?.to_owned(),
        service,
        ca_bundle: roots,
        insecure_skip_tls_verify: insecure,
        group_priority: group_priority?,
        version_priority: version_priority?,
    })
}

fn check_group_and_version(name: &str, group: &str, version: &str, problems: &mut Problems) {
    let expected = format!("{version}.{group}");
    if !version.is_empty() && name != expected {
        let reason = format!("must be `spec.version+\".\"+spec.group`: {expected:?}");
        problems.invalid("metadata.name", &Value::from(name), reason);
    }
    if let Some(reason) = Some(group).filter(|group| !group.is_empty()).and_then(subdomain_problem) {
        problems.invalid("spec.group", &Value::from(group), reason);
    }
    if let Some(reason) = Some(version).filter(|version| !version.is_empty()).and_then(dns_1035_problem) {
        problems.invalid("spec.version", &Value::from(version), reason);
    }
}

fn priority(spec: &mut Fields<'_>, field: &'static str, most: i64, problems: &mut Problems) -> Option<i32> {
    let value = spec.integer(field, problems).unwrap_or(0);
    if (1..=most).contains(&value) {
        return i32::try_from(value).ok();
    }
    let reason = format!("must be positive and less than {most}");
    problems.invalid(&spec.path(field), &Value::from(value), reason);
    None
}

fn reference(mut service: Fields<'_>, problems: &mut Problems) -> Option<ServiceReference> {
    let namespace = service.required_text("namespace", "the namespace of the Service", problems);
    let name = service.required_text("name", "the name of the Service", problems);
    let port = service.integer("port", problems).unwrap_or(443);
    let number = u16::try_from(port).ok().filter(|port| *port > 0);
    if number.is_none() {
        let kind = ProblemKind::Invalid(port.to_string());
        problems.report(&service.path("port"), kind, "must be between 1 and 65535, inclusive", None);
    }
    service.finish(problems);
    Some(ServiceReference {
        namespace: namespace?.to_owned(),
        name: name?.to_owned(),
        port: ServicePort::Number(number?),
    })
}

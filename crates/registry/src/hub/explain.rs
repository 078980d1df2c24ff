//! From what is known of a server to its conditions.

use std::time::Duration;

use catalog::{Catalog, Cause, Conflict, Failure, Rejected, ServerName};

use super::managed::Managed;
use crate::{
    clock,
    conditions::{AVAILABLE, CERTIFICATE_EXPIRING, CONFLICT, DEGRADED, Finding, IDENTITY_REJECTED},
    task::EndpointState,
};

/// Groups named in one message.
const NAMED: usize = 5;

/// What was decided for all.
pub(super) struct Circumstances<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) conflicts: &'a [Conflict],
    pub(super) rejected: &'a [Rejected],
}

impl Circumstances<'_> {
    /// All conditions of a server.
    pub(super) fn findings(&self, name: &ServerName, managed: &Managed, warning: Duration) -> Vec<Finding> {
        vec![
            available(managed),
            self.conflict(name),
            self.degraded(name, managed),
            identity(managed),
            certificate(managed, warning),
        ]
    }

    fn conflict(&self, name: &ServerName) -> Finding {
        let mut sentences = Vec::new();
        for conflict in self.conflicts {
            let group = match &conflict.version {
                Some(version) => format!("{}/{version}", conflict.group),
                None => conflict.group.clone(),
            };
            if conflict.claimant == *name {
                sentences.push(format!("group {group} belongs to {}", conflict.owner));
            } else if conflict.owner == *name {
                sentences.push(format!(
                    "group {group} is also offered by {}, which does not get it",
                    conflict.claimant
                ));
            }
        }
        if sentences.is_empty() {
            return Finding::new(CONFLICT, false, "NoConflict", "no other server claims its groups");
        }
        let message = format!(
            "{}. The older registration keeps a group; remove one of the two or take the group out of one",
            listed(&sentences)
        );
        Finding::new(CONFLICT, true, "GroupClaimedTwice", message)
    }

    fn degraded(&self, name: &ServerName, managed: &Managed) -> Finding {
        let failing: Vec<String> = managed
            .health
            .endpoints
            .iter()
            .filter_map(|state| failure(state).map(|failure| format!("{}: {failure}", state.address)))
            .collect();
        let some_well = managed.health.endpoints.iter().any(|state| matches!(state.outcome, Some(Ok(()))));
        if some_well && !failing.is_empty() {
            return Finding::new(DEGRADED, true, "EndpointsFailing", listed(&failing));
        }
        let rejected: Vec<String> = self
            .rejected
            .iter()
            .filter(|rejected| rejected.server == *name)
            .map(|rejected| format!("group {:?}: {}", rejected.group, rejected.why))
            .collect();
        if !rejected.is_empty() {
            let message = format!("left out of discovery: {}", listed(&rejected));
            return Finding::new(DEGRADED, true, "DiscoveryRejected", message);
        }
        if let Some(discovery) = managed.shown() {
            let unknown: Vec<String> = discovery
                .groups
                .iter()
                .flat_map(|g| {
                    g.versions.iter().filter(|v| !v.current).map(move |v| format!("{}/{}", g.name, v.version))
                })
                .collect();
            if !unknown.is_empty() {
                let message = format!("it does not say what is in {}", listed(&unknown));
                return Finding::new(DEGRADED, true, "DiscoveryIncomplete", message);
            }
        }
        if managed.shown().is_none() {
            return Finding::new(DEGRADED, None, "NotDiscovered", "its groups are not known yet");
        }
        match &managed.health.openapi {
            Some(failure) if some_well => {
                let message =
                    format!("its OpenAPI documents: {}. {}", failure.detail, failure.cause.advice());
                Finding::new(DEGRADED, true, failure.cause.reason(), message)
            }
            _ => Finding::new(DEGRADED, false, "AsExpected", "discovery and OpenAPI are complete"),
        }
    }
}

fn available(managed: &Managed) -> Finding {
    if let Some(trouble) = &managed.trouble {
        return Finding::new(AVAILABLE, false, &trouble.reason, trouble.message.clone());
    }
    let endpoints = &managed.health.endpoints;
    if endpoints.iter().any(|state| matches!(state.outcome, Some(Ok(())))) {
        return Finding::new(AVAILABLE, true, "Passed", "all checks passed");
    }
    match endpoints.iter().find_map(failure) {
        Some(failure) => {
            let message = format!("{}. {}", failure.detail, failure.cause.advice());
            Finding::new(AVAILABLE, false, failure.cause.reason(), message)
        }
        None => Finding::new(AVAILABLE, None, "NotProbed", "it has not been asked yet"),
    }
}

fn identity(managed: &Managed) -> Finding {
    let refused = |failure: &Failure| {
        matches!(failure.cause, Cause::IdentityRejected | Cause::Forbidden).then(|| failure.clone())
    };
    let failure = managed
        .health
        .identity
        .clone()
        .or_else(|| managed.health.endpoints.iter().filter_map(failure).find_map(refused));
    match failure {
        Some(failure) => {
            let message = format!("{}. {}", failure.detail, Cause::IdentityRejected.advice());
            Finding::new(IDENTITY_REJECTED, true, failure.cause.reason(), message)
        }
        None if managed.health.endpoints.iter().any(|state| matches!(state.outcome, Some(Ok(())))) => {
            Finding::new(IDENTITY_REJECTED, false, "Accepted", "it accepts the identity of the door")
        }
        None => Finding::new(IDENTITY_REJECTED, None, "NoAnswer", "it has not answered yet"),
    }
}

fn certificate(managed: &Managed, warning: Duration) -> Finding {
    let Some(end) = managed.health.certificate_end else {
        let reason = "NoCertificate";
        return Finding::new(CERTIFICATE_EXPIRING, None, reason, "it has not shown a certificate");
    };
    let left = end.saturating_sub(clock::now());
    let message = format!("its certificate is valid until {}", clock::format(end));
    if left <= i64::try_from(warning.as_secs()).unwrap_or(i64::MAX) {
        let message = format!("{message}. {}", Cause::CertificateExpired.advice());
        return Finding::new(CERTIFICATE_EXPIRING, true, "EndsSoon", message);
    }
    Finding::new(CERTIFICATE_EXPIRING, false, "Valid", message)
}

fn failure(state: &EndpointState) -> Option<&Failure> {
    state.outcome.as_ref().and_then(|outcome| outcome.as_ref().err())
}

/// The first few, and how many more there are.
fn listed(items: &[String]) -> String {
    let mut text = items.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
    if items.len() > NAMED {
        text.push_str(&format!("; and {} more", items.len() - NAMED));
    }
    text
}

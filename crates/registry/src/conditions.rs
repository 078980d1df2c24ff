//! The conditions of a registration, with the time of their last change.

use catalog::Condition;

use crate::clock;

/// `Available`
pub(crate) const AVAILABLE: &str = "Available";
/// `Conflict`
pub(crate) const CONFLICT: &str = "Conflict";
/// `Degraded`
pub(crate) const DEGRADED: &str = "Degraded";
/// `IdentityRejected`
pub(crate) const IDENTITY_REJECTED: &str = "IdentityRejected";
/// `CertificateExpiring`
pub(crate) const CERTIFICATE_EXPIRING: &str = "CertificateExpiring";

/// A condition before it has a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) kind: &'static str,
    pub(crate) status: Option<bool>,
    pub(crate) reason: String,
    pub(crate) message: String,
}

impl Finding {
    pub(crate) fn new(
        kind: &'static str,
        status: impl Into<Option<bool>>,
        reason: &str,
        message: impl Into<String>,
    ) -> Self {
        Self { kind, status: status.into(), reason: reason.to_owned(), message: message.into() }
    }
}

/// Replaces `conditions` by `findings`; those whose status stays keep their time. Tells whether
/// anything changed.
pub(crate) fn apply(conditions: &mut Vec<Condition>, findings: Vec<Finding>) -> bool {
    let now = clock::format(clock::now());
    let next: Vec<Condition> = findings
        .into_iter()
        .map(|Finding { kind, status, reason, message }| {
            let before = conditions.iter().find(|condition| condition.kind == kind);
            let last_transition = match before {
                Some(before) if before.status == status => before.last_transition.clone(),
                _ => now.clone(),
            };
            Condition { kind, status, reason, message, last_transition }
        })
        .collect();
    let changed = next != *conditions;
    *conditions = next;
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_keeps_its_time_until_its_status_changes() {
        let mut conditions = Vec::new();
        assert!(apply(&mut conditions, vec![Finding::new(AVAILABLE, false, "ConnectionRefused", "a")]));
        conditions[0].last_transition = "2020-01-01T00:00:00Z".to_owned();
        assert!(apply(&mut conditions, vec![Finding::new(AVAILABLE, false, "ConnectTimeout", "b")]));
        assert_eq!(conditions[0].last_transition, "2020-01-01T00:00:00Z");
        assert!(!apply(&mut conditions, vec![Finding::new(AVAILABLE, false, "ConnectTimeout", "b")]));
        assert!(apply(&mut conditions, vec![Finding::new(AVAILABLE, true, "Passed", "c")]));
        assert_ne!(conditions[0].last_transition, "2020-01-01T00:00:00Z");
    }
}

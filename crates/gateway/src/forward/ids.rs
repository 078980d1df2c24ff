//! Audit ids, and trace contexts for requests that bring none.

use std::cell::Cell;

use http::{HeaderMap, HeaderName, HeaderValue};
use uuid::Uuid;

/// The header that carries an audit id, in requests and answers.
pub(crate) const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");
/// W3C Trace Context.
pub(super) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Longest audit id that is taken from a client, as upstream.
const MAX_LENGTH: usize = 64;

/// The audit id of a request, and a trace context when it needs one.
#[derive(Clone, Debug)]
pub(crate) struct AuditId {
    pub(crate) value: HeaderValue,
    /// The same number, for the trace context.
    number: u128,
}

/// The id that the client gave, else a new one.
pub(crate) fn audit_id(headers: &HeaderMap) -> AuditId {
    let number = random();
    let given = headers.get(AUDIT_ID).filter(|id| !id.is_empty() && id.len() <= MAX_LENGTH);
    // A copy: the client's bytes would keep its whole read buffer alive for as long as a watch lasts.
    let value = given.and_then(|id| HeaderValue::from_bytes(id.as_bytes()).ok()).unwrap_or_else(|| {
        let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
        text_value(uuid::Builder::from_u128(number).into_uuid().hyphenated().encode_lower(&mut text))
    });
    AuditId { value, number }
}

impl AuditId {
    /// `traceparent` for a request that has none: not sampled, so it only ties logs together.
    pub(super) fn traceparent(&self) -> HeaderValue {
        let mut text = *b"00-00000000000000000000000000000000-0000000000000000-00";
        hex(self.number, &mut text[3..35]);
        hex(self.number.rotate_left(29) | 1, &mut text[36..52]);
        HeaderValue::from_bytes(&text).unwrap_or(HeaderValue::from_static(""))
    }
}

fn text_value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}

/// The low digits of `number`, as many as fit.
fn hex(number: u128, digits: &mut [u8]) {
    for (place, digit) in digits.iter_mut().rev().enumerate() {
        *digit = b"0123456789abcdef"[(number >> (4 * place)) as usize & 15];
    }
}

/// A random UUID (version 4) as a number. Unique, not secret: SplitMix64 seeded by the system once per
/// thread, because asking the system each time costs more than routing the request.
fn random() -> u128 {
    thread_local!(static STATE: Cell<(u64, u64)> = Cell::new(Uuid::new_v4().as_u64_pair()));
    let (high, low) = STATE.get();
    let next = (high.wrapping_add(0x9E37_79B9_7F4A_7C15), low.wrapping_add(0xD1B5_4A32_D192_ED03));
    STATE.set(next);
    let random = u128::from(mix(next.0)) << 64 | u128::from(mix(next.1));
    uuid::Builder::from_random_bytes(random.to_be_bytes()).into_uuid().as_u128()
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn new_ids_are_uuids_and_differ() {
        let ids: HashSet<_> = (0..10_000).map(|_| audit_id(&HeaderMap::new()).value).collect();
        assert_eq!(ids.len(), 10_000);
        for id in ids {
            let uuid = Uuid::parse_str(id.to_str().unwrap_or_default()).unwrap_or_default();
            assert_eq!(uuid.get_version_num(), 4, "{id:?}");
        }
    }

    #[test]
    fn a_clients_id_is_kept_unless_it_is_long() {
        let with = |id: &str| {
            let id = HeaderValue::from_str(id).unwrap_or(HeaderValue::from_static(""));
            audit_id(&HeaderMap::from_iter([(AUDIT_ID, id)])).value
        };
        assert_eq!(with("mine"), "mine");
        assert_ne!(with(&"x".repeat(65)), "x".repeat(65));
    }

    #[test]
    fn the_trace_context_has_its_form_and_the_number_of_the_audit_id() {
        let id = audit_id(&HeaderMap::new());
        let trace = id.traceparent();
        let fields: Vec<_> = trace.to_str().unwrap_or_default().split('-').collect();
        assert_eq!(fields.iter().map(|f| f.len()).collect::<Vec<_>>(), [2, 32, 16, 2]);
        assert_eq!(fields[1], id.value.to_str().unwrap_or_default().replace('-', ""));
        assert_ne!(fields[2], "0000000000000000");
    }
}

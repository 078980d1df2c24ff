//! The questions that the endpoints of an API server put to an `Accept` header.

use super::{Accept, JSON, Offer, PROTOBUF, Target, YAML};
use crate::{Encoding, query};

/// Which discovery document a client wants, and how it is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discovery {
    /// `APIGroupDiscoveryList` of `apidiscovery.k8s.io/v2`.
    AggregatedV2(Encoding),
    /// `APIGroupList` or `APIVersions`.
    Legacy(Encoding),
    /// Neither can be given in an encoding that the client takes.
    NotAcceptable,
}

const AGGREGATED_V2: Target<'_> =
    Target { group: "apidiscovery.k8s.io", version: "v2", kind: "APIGroupDiscoveryList" };

/// Which discovery document the client wants.
///
/// As upstream: any clause for v2 takes the aggregated form, whatever its quality; clauses for
/// `v2beta1` are skipped; `profile=nopeer` changes nothing here.
pub fn discovery(accept: Accept<'_>) -> Discovery {
    const OFFERS: [Offer<'_>; 3] = [
        Offer::transformed(JSON, AGGREGATED_V2),
        Offer::transformed(YAML, AGGREGATED_V2),
        Offer::transformed(PROTOBUF, AGGREGATED_V2),
    ];
    // An absent header would take the first offer of any list, and it means the legacy form.
    if !accept.header.is_empty()
        && let Some(encoding) = among(accept, &OFFERS)
    {
        return Discovery::AggregatedV2(encoding);
    }
    encoding(accept).map_or(Discovery::NotAcceptable, Discovery::Legacy)
}

/// The encoding in which the client wants an object of the endpoint's own type; none: 406.
pub fn encoding(accept: Accept<'_>) -> Option<Encoding> {
    among(accept, &[Offer::plain(JSON), Offer::plain(YAML), Offer::plain(PROTOBUF)])
}

/// The encoding in which a `Status` made here is given: what cannot be satisfied gets JSON, as upstream.
pub fn negotiate_status(accept: Accept<'_>) -> Encoding {
    encoding(accept).unwrap_or(Encoding::Json)
}

/// `offers`: JSON, YAML and protobuf, in this order.
fn among(accept: Accept<'_>, offers: &[Offer<'_>; 3]) -> Option<Encoding> {
    let (offer, clause) = accept.choose_clause(offers)?;
    Some(match offer {
        1 => Encoding::Yaml,
        2 => Encoding::Protobuf,
        _ if clause.is_some_and(|clause| clause.pretty()) => Encoding::JsonPretty,
        _ => Encoding::Json,
    })
}

/// The version (`v1` or `v1beta1`) of `meta.k8s.io` in which the client wants a `Table`; none when it
/// prefers the objects.
pub fn wants_table(accept: Accept<'_>) -> Option<&'static str> {
    const V1: Target<'_> = Target { group: "meta.k8s.io", version: "v1", kind: "Table" };
    const V1BETA1: Target<'_> = Target { group: "meta.k8s.io", version: "v1beta1", kind: "Table" };
    const OFFERS: [Offer<'_>; 3] = [
        Offer { media_type: JSON, target: None, stream: true },
        Offer { media_type: JSON, target: Some(V1), stream: true },
        Offer { media_type: JSON, target: Some(V1BETA1), stream: true },
    ];
    match accept.choose(&OFFERS) {
        Some(1) => Some("v1"),
        Some(2) => Some("v1beta1"),
        _ => None,
    }
}

/// Whether a person reads the answer: `?pretty=`, or else the `User-Agent` of a browser, curl or wget.
pub fn pretty(request_query: &str, user_agent: &str) -> bool {
    if request_query.contains("pretty")
        && let Some(value) = query::first(request_query, "pretty").filter(|value| !value.is_empty())
    {
        return matches!(&*value, "1" | "t" | "T" | "true" | "TRUE" | "True");
    }
    ["curl", "Wget", "Mozilla/5.0"].iter().any(|agent| user_agent.starts_with(agent))
}

//! The questions that the endpoints of an API server put to an `Accept` header.

use super::{Accept, JSON, Offer, PROTOBUF, Target, YAML};
use crate::{query, status::Encoding};

/// Which discovery document a client wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discovery {
    /// `APIGroupDiscoveryList` of `apidiscovery.k8s.io/v2`.
    AggregatedV2,
    /// `APIGroupList` or `APIVersions`.
    Legacy,
    /// Neither can be given in an encoding that the client takes.
    NotAcceptable,
}

const AGGREGATED_V2: Target<'_> =
    Target { group: "apidiscovery.k8s.io", version: "v2", kind: "APIGroupDiscoveryList" };

/// Which discovery document the client wants, in JSON.
///
/// As upstream: any clause for v2 takes the aggregated form, whatever its quality; clauses for
/// `v2beta1` are skipped; `profile=nopeer` changes nothing here.
pub fn discovery(accept: Accept<'_>) -> Discovery {
    // An absent header would take the first offer of any list, and it means the legacy form.
    let aggregated = !accept.header.is_empty();
    if aggregated && accept.choose(&[Offer::transformed(JSON, AGGREGATED_V2)]).is_some() {
        return Discovery::AggregatedV2;
    }
    match accept.choose(&[Offer::plain(JSON)]) {
        Some(_) => Discovery::Legacy,
        None => Discovery::NotAcceptable,
    }
}

/// The encoding in which a `Status` made here is given: what cannot be satisfied gets JSON, as upstream.
pub fn negotiate_status(accept: Accept<'_>) -> Encoding {
    const OFFERS: [Offer<'_>; 3] = [Offer::plain(JSON), Offer::plain(YAML), Offer::plain(PROTOBUF)];
    let Some((offer, clause)) = accept.choose_clause(&OFFERS) else { return Encoding::Json };
    match offer {
        1 => Encoding::Yaml,
        2 => Encoding::Protobuf,
        _ if clause.is_some_and(|clause| clause.pretty()) => Encoding::JsonPretty,
        _ => Encoding::Json,
    }
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

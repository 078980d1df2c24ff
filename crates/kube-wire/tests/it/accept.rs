use kube_wire::{
    Encoding,
    accept::{self, Discovery, JSON, Offer, PROTOBUF, YAML, discovery, pretty, wants_table},
};
use serde::Deserialize;

use crate::golden;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Case {
    header: String,
    media_type: String,
    pretty: bool,
}

const STREAMS: [Offer<'_>; 3] = [
    Offer { media_type: JSON, target: None, stream: true },
    Offer { media_type: YAML, target: None, stream: false },
    Offer { media_type: PROTOBUF, target: None, stream: true },
];

fn check(case: &Case) {
    let chosen = accept::parse(&case.header).choose_clause(&STREAMS);
    let media_type = chosen.map_or("", |(offer, _)| STREAMS[offer].media_type);
    assert_eq!(media_type, case.media_type, "{}", case.header);
    let pretty = chosen.is_some_and(|(_, clause)| clause.is_some_and(|clause| clause.pretty()));
    assert_eq!(pretty, case.pretty, "{}", case.header);
}

#[test]
fn choices_are_upstreams() {
    golden::cases("accept").iter().for_each(check);
}

#[test]
fn clauses_are_ordered_by_quality_then_by_how_exactly_they_name_the_type() {
    let header = "*/*;q=0.5, a/*;q=0.5, a/b;q=0.5, a/c;q=0.9, d/e;q=0.5, a/*";
    let order: Vec<_> = accept::parse(header)
        .ordered()
        .iter()
        .map(|clause| format!("{}/{} {}", clause.kind, clause.subtype, clause.quality))
        .collect();
    assert_eq!(order, ["a/* 1000", "a/c 900", "a/b 500", "d/e 500", "a/* 500", "*/* 500"]);
}

/// Upstream's sort is not an order: it puts the exact type before a wildcard of higher quality.
#[test]
fn quality_goes_before_exactness() {
    let offers = [Offer::plain(JSON), Offer::plain(PROTOBUF)];
    let header = "application/vnd.kubernetes.protobuf;q=0.5, */*";
    assert_eq!(accept::parse(header).choose(&offers), Some(0));
}

#[test]
fn parameters_keep_their_order() {
    let clauses: Vec<_> = accept::parse("a/b; z=1 ;a = 2;q=0.5;broken;c=d=e").clauses().collect();
    let parameters: Vec<_> = clauses[0].parameters().collect();
    assert_eq!(parameters, [("z", "1"), ("a", "2"), ("q", "0.5")]);
}

#[test]
fn no_more_than_the_limit_is_read() {
    let header = "a/b,".repeat(accept::MAX_CLAUSES) + "application/json";
    assert_eq!(accept::parse(&header).choose(&[Offer::plain(JSON)]), None);
}

#[test]
fn discovery_forms() {
    const V2: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    const BETA: &str = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
    let cases: [(String, Discovery); 19] = [
        (String::new(), Discovery::Legacy(Encoding::Json)),
        ("*/*".into(), Discovery::Legacy(Encoding::Json)),
        ("application/json".into(), Discovery::Legacy(Encoding::Json)),
        ("application/json, */*;q=0.8".into(), Discovery::Legacy(Encoding::Json)),
        (V2.into(), Discovery::AggregatedV2(Encoding::Json)),
        (format!("{V2},{BETA},application/json"), Discovery::AggregatedV2(Encoding::Json)),
        (format!("{BETA},{V2},application/json"), Discovery::AggregatedV2(Encoding::Json)),
        (format!("application/json,{V2};q=0.1"), Discovery::AggregatedV2(Encoding::Json)),
        (format!("{V2};profile=nopeer"), Discovery::AggregatedV2(Encoding::Json)),
        (
            "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io".into(),
            Discovery::AggregatedV2(Encoding::Json),
        ),
        (format!("{BETA},application/json"), Discovery::Legacy(Encoding::Json)),
        (BETA.into(), Discovery::NotAcceptable),
        ("application/yaml".into(), Discovery::Legacy(Encoding::Yaml)),
        ("application/vnd.kubernetes.protobuf, */*;q=0.1".into(), Discovery::Legacy(Encoding::Protobuf)),
        ("application/json;pretty=1".into(), Discovery::Legacy(Encoding::JsonPretty)),
        (V2.replace("json", "yaml"), Discovery::AggregatedV2(Encoding::Yaml)),
        (V2.replace("json", "vnd.kubernetes.protobuf"), Discovery::AggregatedV2(Encoding::Protobuf)),
        ("text/html".into(), Discovery::NotAcceptable),
        (V2.replace("APIGroupDiscoveryList", "Other"), Discovery::NotAcceptable),
    ];
    for (header, form) in cases {
        assert_eq!(discovery(accept::parse(&header)), form, "{header}");
    }
}

#[test]
fn tables() {
    const V1: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
    const V1BETA1: &str = "application/json;as=Table;v=v1beta1;g=meta.k8s.io";
    let cases = [
        (format!("{V1},{V1BETA1},application/json"), Some("v1")),
        (format!("{V1BETA1},application/json"), Some("v1beta1")),
        (format!("application/json,{V1}"), None),
        ("application/json".to_owned(), None),
        (String::new(), None),
        ("application/json;as=Table;v=v2;g=meta.k8s.io,application/json".to_owned(), None),
    ];
    for (header, version) in cases {
        assert_eq!(wants_table(accept::parse(&header)), version, "{header}");
    }
}

#[test]
fn people_get_indented_answers() {
    let cases = [
        ("", "kubectl/v1.32.4", false),
        ("", "curl/8.5.0", true),
        ("", "Mozilla/5.0 (X11)", true),
        ("", "Wget/1.21", true),
        ("pretty=true", "kubectl", true),
        ("pretty=1&x=y", "kubectl", true),
        ("pretty=false", "curl/8.5.0", false),
        ("pretty=yes", "curl/8.5.0", false),
        ("pretty=", "curl/8.5.0", true),
        ("prettyx=true", "kubectl", false),
    ];
    for (query, user_agent, expected) in cases {
        assert_eq!(pretty(query, user_agent), expected, "{query} {user_agent}");
    }
}

//! Discovery documents as a server might send them that wants to do harm.

use proptest::{collection::vec, prelude::*, sample::select};

use super::*;

/// JSON of any shape, with the words of discovery in unlikely places.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        select(vec![
            "null",
            "true",
            "-1",
            "1e999",
            "123456789012345678901234567890",
            "\"\"",
            "\"v1\"",
            "\"Stale\"",
            "\"\\u0000\"",
            "\"../../etc\"",
            "[]",
            "{}",
        ])
        .prop_map(str::to_owned),
        "\"[a-zA-Z0-9./ -]{0,20}\"".prop_map(|text| text),
    ];
    let key = select(vec![
        "kind",
        "items",
        "groups",
        "versions",
        "metadata",
        "name",
        "version",
        "resources",
        "freshness",
        "groupVersion",
        "preferredVersion",
        "serverAddressByClientCIDRs",
    ]);
    leaf.prop_recursive(5, 64, 6, move |inner| {
        let member = (key.clone(), inner.clone()).prop_map(|(key, value)| format!("\"{key}\":{value}"));
        prop_oneof![
            vec(inner, 0..6).prop_map(|items| format!("[{}]", items.join(","))),
            vec(member, 0..6).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    })
}

fn kind() -> impl Strategy<Value = &'static str> {
    select(vec!["APIGroupDiscoveryList", "APIGroupList", "APIVersions", "Status", ""])
}

proptest! {
    /// Whatever is read out of such a document is within its bounds, and resources are JSON.
    #[test]
    fn strange_documents_are_read_or_refused(kind in kind(), items in value(), cut in 0usize..400) {
        let whole = format!(r#"{{"kind":"{kind}","items":{items},"groups":{items},"versions":{items}}}"#);
        let cut = whole.get(..cut).unwrap_or(&whole);
        for body in [whole.as_str(), cut] {
            match document(body.as_bytes()) {
                Err(problem) => prop_assert!(!problem.why.is_empty()),
                Ok(Document::Aggregated(groups)) => {
                    prop_assert!(groups.len() <= bounds::MAX_CORE_GROUPS);
                    for version in groups.iter().flat_map(|group| &group.versions) {
                        let read: Result<serde_json::Value, _> = serde_json::from_str(version.resources.get());
                        // Numbers that nobody can hold are the one thing that is JSON and no value.
                        prop_assert!(read.is_ok() || version.resources.get().contains("1e999"));
                    }
                }
                Ok(Document::Legacy(list)) => prop_assert!(list.groups.len() <= bounds::MAX_CORE_GROUPS),
                Ok(Document::Core(versions)) => prop_assert!(versions.len() <= bounds::MAX_VERSIONS),
            }
        }
    }

    /// Nesting is refused before it costs the stack.
    #[test]
    fn deep_documents_are_refused(depth in 200usize..20_000, array in any::<bool>()) {
        let (open, close) = if array { ("[", "]") } else { ("{\"items\":", "}") };
        let inner = format!("{}null{}", open.repeat(depth), close.repeat(depth));
        let body = format!(r#"{{"kind":"APIGroupDiscoveryList","items":{inner}}}"#);
        prop_assert!(document(body.as_bytes()).is_err());
    }
}

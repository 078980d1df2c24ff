//! Whatever clients send, a server answers, and stays as it was.
//!
//! These are the fuzz targets: readers, options, selectors and whole requests. Those of patches, applies and
//! schemas stand beside their tests. `PROPTEST_CASES` makes them longer.

use std::{sync::Arc, time::Duration};

use apiserver::{
    decode::{MAX_DEPTH, read_json, read_yaml},
    engine::Hooks,
    hooks::AllowAll,
    service::{Incoming, Service},
    storage::{Embedded, Options},
};
use http::Request;
use http_body_util::{BodyExt as _, Full};
use kube_wire::{
    accept, query,
    selector::{FieldSelector, LabelSelector},
};
use proptest::prelude::*;
use serde_json::Value;

use crate::{kinds, support::block_on};

/// Longest that an answer may take; none of these asks for a watch without an end.
const PATIENCE: Duration = Duration::from_secs(60);

/// Text in which the signs of the formats are frequent.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[{}\\[\\]\":,a-c0-9.eE+\\\\nul tfs-]{0,40}",
        "[-{}\\[\\]&*!|>'%@:# \n\ta-c0-9]{0,40}",
        any::<String>(),
    ]
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-c]{0,3}|v1|ConfigMap|Widget|small|metadata".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let key = "kind|apiVersion|metadata|name|namespace|labels|annotations|finalizers|ownerReferences|managedFields|generateName|resourceVersion|deletionTimestamp|data|binaryData|spec|status|size|op|path|value|\\$patch|[a-c]";
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

proptest! {
    /// No bytes make a reader panic; what is read has bounds, and what is JSON is read as it is.
    #[test]
    fn prop_any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64), text in text()) {
        let form = kinds::definitions()[0].versions[0].form.clone();
        for body in [&*bytes, text.as_bytes()] {
            for form in [None, Some(&*form)] {
                for document in [read_json(body, form), read_yaml(body, form)].into_iter().flatten() {
                    prop_assert!(depth(&document.value) <= MAX_DEPTH);
                }
            }
        }
    }

    /// Documents survive: as JSON always, as YAML because JSON is YAML.
    #[test]
    fn prop_json_is_read_as_it_is(value in json()) {
        let text = value.to_string();
        let read = read_json(text.as_bytes(), None);
        prop_assert!(read.is_ok());
        prop_assert_eq!(&read.unwrap().value, &value);
    }

    /// Selectors, `Accept` headers and queries of any form.
    #[test]
    fn prop_selectors_and_headers_of_any_form(text in text(), more in "[a-c!=<>, ()./;*q=0-9in]{0,40}") {
        for text in [&text, &more] {
            let _ = text.parse::<LabelSelector>();
            let _ = text.parse::<FieldSelector>();
            let _ = accept::discovery(accept::parse(text));
            let _ = query::pairs(text).count();
        }
    }
}

/// Requests of any form, on paths that lead somewhere more often than not.
#[derive(Clone, Debug)]
struct Any {
    method: &'static str,
    path: String,
    query: String,
    content_type: String,
    accept: String,
    body: Vec<u8>,
}

fn request() -> impl Strategy<Value = Any> {
    let method =
        prop::sample::select(vec!["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "FOO"]);
    let path = "(/api/v1|/apis/library\\.example\\.com/v1|/apis|/openapi/v[23]|/watch)?(/namespaces/(default|a))?(/(configmaps|widgets|events))?(/(a|b|%2e|%ff|A))?(/(status|scale|proxy))?";
    let query = "((watch|limit|continue|labelSelector|fieldSelector|resourceVersion|resourceVersionMatch|timeoutSeconds|timeout|dryRun|fieldManager|fieldValidation|force|propagationPolicy|pretty|sendInitialEvents|allowWatchBookmarks|includeObject)=(true|1|0|a|All|Strict|Exact|a=b|%ff|-1|99999999999999999999|metadata\\.name=a|1s)?&){0,4}";
    let content_type = "(application/(json|yaml|merge-patch\\+json|json-patch\\+json|strategic-merge-patch\\+json|apply-patch\\+yaml|vnd\\.kubernetes\\.protobuf))?|[a-z/;=]{0,12}";
    let accept = "(application/(json|yaml)(;as=(Table|PartialObjectMetadata(List)?);v=v1;g=meta\\.k8s\\.io)?)?|[a-z/;=,*]{0,12}";
    let body = prop_oneof![
        json().prop_map(|value| value.to_string().into_bytes()),
        text().prop_map(String::into_bytes),
        Just(Vec::new()),
    ];
    (method, path, query, content_type, accept, body).prop_map(
        |(method, path, query, content_type, accept, body)| {
            // What has no end is tested elsewhere.
            let query = format!("{query}timeoutSeconds=1")
                .replace("watch=true", "watch=false")
                .replace("watch=1", "watch=0");
            Any {
                method,
                path: if path.is_empty() { "/".to_owned() } else { path.replace("/watch", "") },
                query,
                content_type,
                accept,
                body,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Every request has an answer that is no fault of the server, and what is refused says why in a form
    /// that clients read.
    #[test]
    fn prop_any_requests_are_answered(requests in prop::collection::vec(request(), 1..24)) {
        let wrong = block_on(async {
            let store = Embedded::in_memory(Options::default()).unwrap();
            let hooks = Hooks::authorized_by(AllowAll);
            let builder = kinds::definitions().into_iter().fold(Service::builder().hooks(hooks), |builder, one| {
                builder.resource(one)
            });
            let service = builder.build(Arc::new(store)).unwrap();
            for any in &requests {
                if let Some(wrong) = answer(&service, any).await {
                    return Some(wrong);
                }
            }
            None
        });
        prop_assert_eq!(wrong, None);
    }
}

/// What is wrong with the answer to a request.
async fn answer(service: &Service, any: &Any) -> Option<String> {
    let body = Incoming::new(Full::new(any.body.clone().into()).map_err(|never| match never {}));
    let path = if any.path.is_empty() { "/" } else { &any.path };
    let mut request = Request::builder().method(any.method).uri(format!("{path}?{}", any.query));
    if !any.content_type.is_empty() {
        request = request.header("content-type", &any.content_type);
    }
    if !any.accept.is_empty() {
        request = request.header("accept", &any.accept);
    }
    let Ok(request) = request.body(body) else { return None };
    let response = match tokio::time::timeout(PATIENCE, service.handle(request)).await {
        Ok(response) => response,
        Err(_) => return Some(format!("{any:?}: no answer")),
    };
    let code = response.status().as_u16();
    let Ok(body) = tokio::time::timeout(PATIENCE, response.into_body().collect()).await else {
        return Some(format!("{any:?}: {code}, and no end"));
    };
    let text = String::from_utf8_lossy(&body.unwrap().to_bytes()).into_owned();
    let refused_on_purpose = text.contains("resourceVersion should not be set on objects to be created");
    ((500..600).contains(&code) && !refused_on_purpose).then(|| format!("{any:?}: {code} {text}"))
}

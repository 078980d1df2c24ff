use std::collections::BTreeMap;

use kube_wire::{
    RequestInfo, UserInfo,
    accept::{self, JSON, Offer, PROTOBUF, YAML},
    etag,
    identity::{impersonate, request_header},
    object::time,
    query,
    selector::{FieldSelector, LabelSelector},
    version::cmp_kube_aware,
};
use proptest::{collection, prelude::*};

/// A value that a header carries unchanged.
fn value() -> impl Strategy<Value = String> {
    "[!-~é][ -~]{0,20}[!-~]".prop_map(|text| text)
}

fn user() -> impl Strategy<Value = UserInfo> {
    let extra =
        collection::btree_map("[a-z0-9/%:é \u{0}-\u{1f}._-]{0,12}", collection::vec(value(), 1..3), 0..4);
    (value(), "[0-9a-f-]{0,36}", collection::vec(value(), 0..4), extra)
        .prop_map(|(name, uid, groups, extra)| UserInfo { name, uid, groups, extra })
}

fn borrow(headers: &[(String, String)]) -> Vec<(&str, &str)> {
    headers.iter().map(|(name, value)| (&**name, &**value)).collect()
}

/// Text made of the pieces that mean something to the parsers.
fn pieces(alphabet: &'static [&'static str]) -> impl Strategy<Value = String> {
    collection::vec(
        prop_oneof![4 => proptest::sample::select(alphabet).prop_map(str::to_owned), 1 => ".{0,3}"],
        0..16,
    )
    .prop_map(|parts| parts.concat())
}

const PATH: &[&str] = &[
    "/",
    "/",
    "api",
    "apis",
    "v1",
    "g",
    "namespaces",
    "watch",
    "proxy",
    "status",
    "%2F",
    "%",
    "%e9",
    "..",
    "pods",
];
const QUERY: &[&str] = &[
    "&",
    "=",
    "watch",
    "fieldSelector",
    "metadata.name",
    "%3D",
    "%",
    "+",
    ";",
    "limit",
    "1",
    "labelSelector",
    "\\",
    ",",
];
const ACCEPT: &[&str] = &[
    "application/json",
    "application/yaml",
    "*/*",
    "*",
    ",",
    ";",
    "q=",
    "0.5",
    "1",
    "as=",
    "Table",
    "g=",
    "v=",
    "stream=watch",
    "sv=1",
    "=",
    " ",
];
const LABELS: &[&str] =
    &["a", "b", "=", "==", "!=", "!", ",", "in", "notin", "(", ")", ">", "<", "5", " ", "x.io/y", "-"];
const FIELDS: &[&str] = &["a", "b", "=", "==", "!=", "!", ",", "\\", "metadata.name"];

proptest! {
    #[test]
    fn identities_survive_both_header_forms(user in user()) {
        let headers = request_header::encode(&user).unwrap();
        let names = request_header::Names::default();
        prop_assert_eq!(request_header::decode(borrow(&headers), &names), Some(user.clone()));
        let headers = impersonate::encode(&user).unwrap();
        prop_assert_eq!(impersonate::decode(borrow(&headers)), Ok(Some(user)));
    }

    #[test]
    fn header_names_are_tokens(key in any::<String>()) {
        let user = UserInfo { extra: BTreeMap::from([(key, vec!["v".to_owned()])]), ..UserInfo::new("u", [""; 0]) };
        for (name, _) in request_header::encode(&user).unwrap() {
            let separators = b"\"(),/:;<=>?@[\\]{}";
            let token = name.bytes().all(|byte| byte.is_ascii_graphic() && !separators.contains(&byte));
            prop_assert!(token, "{name}");
        }
    }

    #[test]
    fn request_info_never_panics_and_keeps_its_promises(
        method in "GET|POST|DELETE|HEAD|[A-Za-zÀ]{0,8}", path in pieces(PATH), query in pieces(QUERY),
    ) {
        if let Ok(info) = RequestInfo::parse(&method, &path, &query) {
            if info.is_resource {
                prop_assert!(!info.api_prefix.is_empty());
            } else {
                prop_assert!(info.group.is_empty() && info.resource.is_empty() && info.name.is_empty());
            }
            prop_assert_eq!(query::decode_path(&path).map(|path| path.into_owned()), Some(info.path.into_owned()));
        }
    }

    /// The choice made in one pass is that of going through the ordered clauses one by one.
    #[test]
    fn choosing_is_going_through_the_ordered_clauses(header in pieces(ACCEPT)) {
        let accept = accept::parse(&header);
        let offers = [Offer::plain(JSON), Offer::plain(YAML), Offer::plain(PROTOBUF)];
        let ordered = accept.ordered();
        prop_assert!(ordered.windows(2).all(|pair| pair[0].quality >= pair[1].quality));
        let expected = ordered.iter().find_map(|clause| {
            offers.iter().position(|offer| {
                let (kind, subtype) = offer.media_type.split_once('/').unwrap();
                let kind = clause.kind == "*" && clause.subtype == "*" || clause.kind == kind;
                let subtype = clause.subtype == "*" || clause.subtype == subtype;
                let extra = ["as", "g", "v", "stream", "sv"].iter().any(|name| clause.parameter(name).is_some());
                kind && subtype && !extra
            })
        });
        let expected = if header.is_empty() { Some(0) } else { expected };
        prop_assert_eq!(accept.choose(&offers), expected);
    }

    #[test]
    fn selectors_never_panic(labels in pieces(LABELS), fields in pieces(FIELDS)) {
        if let Ok(selector) = labels.parse::<LabelSelector>() {
            selector.matches(&BTreeMap::from([("a".to_owned(), "b".to_owned())]));
        }
        if let Ok(selector) = fields.parse::<FieldSelector>() {
            selector.matches(|_| "b".into());
        }
    }

    #[test]
    fn an_etag_matches_itself_in_any_list(hash in "[0-9A-F]{1,16}", before in "[^\"]{0,10}", after in ".{0,10}") {
        let tag = etag::quote(&hash);
        let listed = format!("\"{before}\", W/{tag}{after}");
        prop_assert!(etag::none_match(&listed, &tag));
    }

    #[test]
    fn times_survive(seconds in -62_135_596_800i64..=253_402_300_799) {
        prop_assert_eq!(time::parse(&time::format(seconds)), Some(seconds));
    }

    #[test]
    fn times_never_panic(text in "[0-9TtZz:.+é-]{0,30}") {
        time::parse(&text);
    }

    #[test]
    fn version_order_is_an_order(a in "v?[0-9a-z]{0,8}", b in "v?1?(alpha|beta)?[0-9]{0,2}", c in "v[0-9]{1,2}(alpha|beta)[0-9]") {
        prop_assert_eq!(cmp_kube_aware(&a, &b), cmp_kube_aware(&b, &a).reverse());
        let mut sorted = [&a, &b, &c];
        sorted.sort_by(|a, b| cmp_kube_aware(a, b));
        prop_assert!(cmp_kube_aware(sorted[0], sorted[2]).is_le());
    }
}

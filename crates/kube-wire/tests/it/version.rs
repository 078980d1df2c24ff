use kube_wire::version::cmp_kube_aware;
use serde::Deserialize;

use crate::golden;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Case {
    a: String,
    b: String,
    sign: i8,
}

#[test]
fn order_is_upstreams() {
    for Case { a, b, sign } in golden::cases("version") {
        assert_eq!(cmp_kube_aware(&a, &b) as i8, sign, "{a} {b}");
    }
}

#[test]
fn preferred_first() {
    let mut versions = ["foo10", "v1alpha1", "v1", "v2beta1", "foo1", "v10", "v1beta2", "v2"];
    versions.sort_by(|a, b| cmp_kube_aware(b, a));
    assert_eq!(versions, ["v10", "v2", "v1", "v2beta1", "v1beta2", "v1alpha1", "foo1", "foo10"]);
}

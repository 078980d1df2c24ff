use kube_wire::object::{Condition, ObjectMeta, time};
use serde_json::json;

#[test]
fn times() {
    let cases = [
        (0, "1970-01-01T00:00:00Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (1_767_323_045, "2026-01-02T03:04:05Z"),
        (-1, "1969-12-31T23:59:59Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"),
        (-62_135_596_800, "0001-01-01T00:00:00Z"),
    ];
    for (seconds, text) in cases {
        assert_eq!(time::format(seconds), text);
        assert_eq!(time::parse(text), Some(seconds), "{text}");
    }
}

#[test]
fn times_in_other_spellings() {
    let base = time::parse("2026-01-02T03:04:05Z");
    for text in [
        "2026-01-02t03:04:05z",
        "2026-01-02T03:04:05.999999999Z",
        "2026-01-02T05:34:05+02:30",
        "2026-01-01T23:04:05-04:00",
    ] {
        assert_eq!(time::parse(text), base, "{text}");
    }
    for text in [
        "",
        "2026-01-02",
        "2026-01-02T03:04:05",
        "2026-13-02T03:04:05Z",
        "2026-02-29T03:04:05Z",
        "2026-1-02T03:04:05Z ",
        "2026-01-02T24:04:05Z",
        "2026-01-02T03:04:05.Z",
        "2026-01-02T03:04:05+2:30",
        "2026-01-02T+3:04:05Z",
        "é26-01-02T03:04:05Z",
    ] {
        assert_eq!(time::parse(text), None, "{text}");
    }
}

#[test]
fn empty_metadata_is_an_empty_object() {
    assert_eq!(serde_json::to_value(ObjectMeta::default()).unwrap(), json!({}));
    let read: ObjectMeta =
        serde_json::from_value(json!({"creationTimestamp": null, "labels": null})).unwrap();
    assert_eq!(read, ObjectMeta::default());
}

#[test]
fn conditions() {
    let wire = json!({
        "type": "Available", "status": "True", "lastTransitionTime": "2026-01-02T03:04:05Z", "reason": "Passed", "message": "",
    });
    let read: Condition = serde_json::from_value(wire.clone()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), wire);
}

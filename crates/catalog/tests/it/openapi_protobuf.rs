//! The protobuf form, against gnostic's own.

use catalog::openapi::{OpenApiError, encode_v2};

#[test]
fn every_message_is_gnostics_byte_for_byte() {
    let ours = encode_v2(include_bytes!("../golden/swagger.json")).expect("readable");
    assert!(ours == include_bytes!("../golden/swagger.pb"), "differs: compare the two with protoc");
}

/// Upstream's encoder gives up; the rest of a document is worth having.
#[test]
fn what_has_a_wrong_type_is_left_out() {
    let cases = [
        (
            r#"{"swagger":"2.0","info":{"title":["x"],"version":1}}"#,
            r#"{"swagger":"2.0","info":{"version":"1"}}"#,
        ),
        (
            r##"{"swagger":"2.0","definitions":{"A":{"maxLength":1.5,"type":{},"items":[{}],"unknown":1,"minimum":"x"}}}"##,
            r##"{"swagger":"2.0","definitions":{"A":{}}}"##,
        ),
        (
            r#"{"swagger":"2.0","parameters":{"A":{"in":"cookie","name":"x"}}}"#,
            r#"{"swagger":"2.0","parameters":{"A":{"in":"cookie"}}}"#,
        ),
    ];
    for (odd, plain) in cases {
        assert_eq!(encode_v2(odd.as_bytes()).expect(odd), encode_v2(plain.as_bytes()).expect(plain), "{odd}");
    }
}

#[test]
fn what_is_no_swagger_is_refused() {
    assert!(matches!(encode_v2(b"{\"openapi\":\"3.0.0\"}"), Err(OpenApiError::Version)));
    assert!(matches!(encode_v2(b"[]"), Err(OpenApiError::Json(_))));
    assert!(matches!(encode_v2(b"\xff"), Err(OpenApiError::Text(_))));
    let deep =
        format!(r#"{{"swagger":"2.0","definitions":{{"A":{}1{}}}}}"#, "[".repeat(500), "]".repeat(500));
    assert!(matches!(encode_v2(deep.as_bytes()), Err(OpenApiError::Json(_))));
}

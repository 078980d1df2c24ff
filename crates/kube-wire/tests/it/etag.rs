use kube_wire::etag::{none_match, quote, sha512_hex, strong};

#[test]
fn the_digest_of_the_empty_string() {
    let hash = "CF83E1357EEFB8BDF1542850D66D8007D620E4050B5715DC83F4A921D36CE9CE\
                47D0D13C5D85F2B0FF8318D2877EEC2F63B931BD47417A81A538327AF927DA3E";
    assert_eq!(sha512_hex(b""), hash);
    assert_eq!(strong(b""), format!("\"{hash}\""));
}

#[test]
fn none_match_in_every_form() {
    let etag = quote("A,B");
    let cases = [
        ("\"A,B\"", true),
        ("W/\"A,B\"", true),
        ("*", true),
        (" * ", true),
        ("\"x\", \"A,B\"", true),
        ("\"x\",W/\"A,B\" , \"y\"", true),
        ("\"x\"W/\"A,B\"", true),
        ("A,B", false),
        ("", false),
        (",", false),
        ("\"a,b\"", false),
        ("\"A\",\"B\"", false),
        ("\"x", false),
        ("\"x,\"A,B\"", false),
        ("w/\"A,B\"", false),
    ];
    for (header, expected) in cases {
        assert_eq!(none_match(header, &etag), expected, "{header}");
    }
}

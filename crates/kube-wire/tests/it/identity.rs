use std::collections::BTreeMap;

use kube_wire::{
    UserInfo,
    identity::{IdentityError, impersonate, request_header},
};

fn user() -> UserInfo {
    let values = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    UserInfo {
        name: "jane".into(),
        uid: "42".into(),
        groups: values(&["b", "a", "b"]),
        extra: BTreeMap::from([
            ("authentication.kubernetes.io/credential-id".into(), values(&["x=1", "x=2"])),
            ("50%".into(), values(&["é"])),
        ]),
    }
}

fn borrow(headers: &[(String, String)]) -> Vec<(&str, &str)> {
    headers.iter().map(|(name, value)| (&**name, &**value)).collect()
}

#[test]
fn request_headers() {
    let headers = request_header::encode(&user()).unwrap();
    assert_eq!(
        borrow(&headers),
        [
            ("x-remote-user", "jane"),
            ("x-remote-group", "b"),
            ("x-remote-group", "a"),
            ("x-remote-group", "b"),
            ("x-remote-uid", "42"),
            ("x-remote-extra-50%25", "é"),
            ("x-remote-extra-authentication.kubernetes.io%2Fcredential-id", "x=1"),
            ("x-remote-extra-authentication.kubernetes.io%2Fcredential-id", "x=2"),
        ]
    );
    assert_eq!(request_header::decode(borrow(&headers), &Default::default()), Some(user()));
}

#[test]
fn request_headers_in_any_case_and_under_other_names() {
    let names = request_header::Names {
        user: vec!["X-Other".into(), "X-Remote-User".into()],
        extra_prefix: vec!["X-A-".into(), "X-B-".into()],
        ..Default::default()
    };
    let headers = [
        ("X-REMOTE-USER", "jane"),
        ("x-other", ""),
        ("X-Remote-Group", "g"),
        ("X-Remote-Group", ""),
        ("X-B-Scopes%2FX", "2"),
        ("x-a-scopes%2fx", "1"),
        ("X-A-bad%zz", "3"),
    ];
    let user = request_header::decode(headers, &names).unwrap();
    assert_eq!((&*user.name, &user.groups[..]), ("jane", &["g".to_owned()][..]));
    assert_eq!(user.extra["scopes/x"], ["1", "2"]);
    assert_eq!(user.extra["bad%zz"], ["3"]);
}

#[test]
fn nobody_is_named() {
    let names = request_header::Names::default();
    assert_eq!(request_header::decode([("x-remote-group", "system:masters")], &names), None);
    assert_eq!(request_header::decode([("x-remote-user", "")], &names), None);
    // As Go, the first line decides.
    assert_eq!(request_header::decode([("x-remote-user", ""), ("x-remote-user", "a")], &names), None);
}

#[test]
fn values_that_would_arrive_as_others_are_refused() {
    let spoof = |change: fn(&mut UserInfo)| {
        let mut user = user();
        change(&mut user);
        assert_eq!(request_header::encode(&user).err(), impersonate::encode(&user).err());
        request_header::encode(&user).unwrap_err()
    };
    assert_eq!(spoof(|user| user.name.clear()), IdentityError::NoName);
    assert_eq!(spoof(|user| user.name.push(' ')), IdentityError::Unencodable("the name"));
    assert_eq!(spoof(|user| user.uid.push('\n')), IdentityError::Unencodable("the uid"));
    assert_eq!(
        spoof(|user| user.groups.push("\tsystem:masters".into())),
        IdentityError::Unencodable("a group")
    );
    let extra = |user: &mut UserInfo| {
        user.extra.insert("k".into(), vec!["a\r\nx-remote-group: system:masters".into()]);
    };
    assert_eq!(spoof(extra), IdentityError::Unencodable("an extra value"));
}

#[test]
fn impersonation() {
    let headers = impersonate::encode(&user()).unwrap();
    assert_eq!(headers[0], ("impersonate-user".to_owned(), "jane".to_owned()));
    assert_eq!(impersonate::decode(borrow(&headers)), Ok(Some(user())));
    assert_eq!(impersonate::decode([("x-remote-user", "a")]), Ok(None));
}

#[test]
fn impersonation_that_is_refused() {
    let decode =
        |headers: &[(&'static str, &'static str)]| impersonate::decode(headers.iter().copied()).unwrap_err();
    assert_eq!(decode(&[("Impersonate-Group", "g")]), IdentityError::NoImpersonatedUser("groups"));
    assert_eq!(decode(&[("Impersonate-Uid", "1")]), IdentityError::NoImpersonatedUser("a uid"));
    assert_eq!(
        decode(&[("Impersonate-Extra-K", "v")]),
        IdentityError::NoImpersonatedUser("extra attributes")
    );
    let unknown = IdentityError::UnknownHeader("Impersonate-Foo".to_owned());
    assert_eq!(decode(&[("Impersonate-User", "a"), ("Impersonate-Foo", "x")]), unknown);
}

#[test]
fn groups_that_impersonation_adds() {
    let cases: [(UserInfo, &[&str]); 7] = [
        (UserInfo::new("jane", [""; 0]), &["system:authenticated"]),
        (UserInfo::new("jane", ["g"]), &["g", "system:authenticated"]),
        (UserInfo::new("jane", ["system:authenticated"]), &["system:authenticated"]),
        (UserInfo::new("jane", ["system:unauthenticated"]), &["system:unauthenticated"]),
        (UserInfo::new("system:anonymous", [""; 0]), &["system:unauthenticated"]),
        (
            UserInfo::new("system:serviceaccount:ns:sa", [""; 0]),
            &["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"],
        ),
        (UserInfo::new("system:serviceaccount:ns:sa", ["g"]), &["g", "system:authenticated"]),
    ];
    for (user, groups) in cases {
        assert_eq!(impersonate::effective(user.clone()).groups, groups, "{user:?}");
    }
}

use super::*;

fn user() -> UserInfo {
    let mut user = UserInfo::new("ann", ["dev", "ops"]);
    user.uid = "u1".to_owned();
    user.extra.insert("example.com/scopes".to_owned(), vec!["a".to_owned(), "b".to_owned()]);
    user
}

fn text(lines: &[(HeaderName, HeaderValue)]) -> Vec<String> {
    lines.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect()
}

#[test]
fn an_identity_is_rendered_for_both_modes() {
    let identity = Identity::authenticated(user()).unwrap();
    assert_eq!(
        text(&identity.request_headers),
        [
            "x-remote-user: ann",
            "x-remote-group: dev",
            "x-remote-group: ops",
            "x-remote-group: system:authenticated",
            "x-remote-uid: u1",
            "x-remote-extra-example.com%2fscopes: a",
            "x-remote-extra-example.com%2fscopes: b",
        ]
    );
    // The server adds system:authenticated by itself.
    assert_eq!(
        text(&identity.impersonate_headers),
        [
            "impersonate-user: ann",
            "impersonate-group: dev",
            "impersonate-group: ops",
            "impersonate-uid: u1",
            "impersonate-extra-example.com%2fscopes: a",
            "impersonate-extra-example.com%2fscopes: b",
        ]
    );
}

#[test]
fn only_members_of_system_masters_are_masters() {
    for (groups, master) in
        [(&["system:masters"][..], true), (&["dev", "system:masters"], true), (&["dev"], false)]
    {
        assert_eq!(
            Identity::authenticated(UserInfo::new("a", groups.iter().copied())).unwrap().master,
            master
        );
    }
}

#[test]
fn the_anonymous_are_not_called_authenticated() {
    let identity = Identity::authenticated(UserInfo::anonymous()).unwrap();
    assert_eq!(identity.user.groups, ["system:unauthenticated"]);
}

#[test]
fn what_would_arrive_as_somebody_else_is_refused() {
    for name in ["", " ann", "ann ", "a\nb", "a\rX-Remote-User: root"] {
        assert!(Identity::new(UserInfo::new(name, ["dev"])).is_err(), "{name:?}");
        if !name.is_empty() {
            assert!(Identity::new(UserInfo::new("ann", [name])).is_err(), "{name:?}");
        }
    }
    // Names of other alphabets pass, as UTF-8.
    let identity = Identity::new(UserInfo::new("ánn", ["開発"])).unwrap();
    assert_eq!(identity.request_headers[0].1.as_bytes(), "ánn".as_bytes());
}

use std::time::{Duration, SystemTime};

use pki::{Authority, Leaf, Peer, certificates};

const HOUR: Duration = Duration::from_secs(3600);

fn issue(leaf: &Leaf) -> Peer {
    Authority::make("a CA", HOUR).unwrap().issue(leaf).unwrap().leaf().unwrap()
}

#[test]
fn a_subject_is_read_back_as_it_was_asked_for() {
    let long = "g".repeat(300);
    let table = [
        ("jane", vec![], None),
        ("system:kube-aggregator", vec!["system:masters"], None),
        ("jane", vec!["a", "b", "c", "a"], Some("1234")),
        ("", vec!["nobody"], None),
        ("ünïcode", vec!["grüße", long.as_str()], Some("ü")),
    ];
    for (name, groups, uid) in table {
        let mut leaf = groups.iter().fold(Leaf::client(name), |leaf, group| leaf.organization(*group));
        if let Some(uid) = uid {
            leaf = leaf.uid(uid);
        }
        let peer = issue(&leaf);
        assert_eq!(peer.common_name, name);
        assert_eq!(peer.organizations, groups);
        assert_eq!(peer.uid.as_deref(), uid);
        assert_eq!(peer.fingerprint.len(), 64);
    }
}

#[test]
fn names_and_dates_stand_in_the_certificate() {
    let now = SystemTime::now();
    let peer = issue(&Leaf::server("x").name("a.example.com").name("10.0.0.1").name("::1").valid_for(HOUR));
    assert_eq!(peer.names(), ["a.example.com", "10.0.0.1", "::1"]);
    let early = now.duration_since(peer.not_before).unwrap();
    assert!(early >= Duration::from_secs(299) && early < Duration::from_secs(310), "{early:?}");
    let left = peer.not_after.duration_since(now).unwrap();
    assert!(left > HOUR - Duration::from_secs(2) && left < HOUR + Duration::from_secs(10), "{left:?}");
}

#[test]
fn what_cannot_be_made_is_refused_by_name() {
    let authority = Authority::make("a CA", HOUR).unwrap();
    let cases = [
        (Leaf::server("x").dns("grüße.example.com"), "grüße.example.com"),
        (Leaf::client("forever").valid_for(Duration::MAX), "forever"),
        (Leaf::client("long").valid_for(HOUR * 24 * 366 * 9000), "long"),
    ];
    for (leaf, named) in cases {
        let error = authority.issue(&leaf).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
    assert!(Authority::make("a CA", Duration::MAX).is_err());
}

#[test]
fn an_authority_comes_back_from_its_pem() {
    let dir = tempfile::tempdir().unwrap();
    let (cert, key) = (dir.path().join("ca.crt"), dir.path().join("ca.key"));
    let made = Authority::make("a CA", HOUR).unwrap();
    made.save(&cert, &key).unwrap();
    let loaded = Authority::load(&cert, &key).unwrap();
    assert_eq!(made.certificate_der(), loaded.certificate_der());
    // Its leaves chain to the certificate that others trust.
    let leaf = loaded.issue(&Leaf::client("jane")).unwrap();
    let chain = certificates(leaf.chain_pem(), "").unwrap();
    let trusting = pki::ClientAuthorities::new(made.certificate_pem(), "").unwrap();
    assert_eq!(trusting.authority_of(&chain), Some(pki::PeerAuthority::Client));
    let error = Authority::from_pem(leaf.chain_pem(), leaf.key_pem(), "leaf.pem").unwrap_err();
    assert_eq!(error.to_string(), "leaf.pem: the certificate is not a CA (basicConstraints)");
}

#[test]
fn keys_are_p256_and_secrets_stay_out_of_debug() {
    let leaf = Authority::make("a CA", HOUR).unwrap().issue(&Leaf::client("jane")).unwrap();
    let der = &certificates(leaf.chain_pem(), "").unwrap()[0];
    // The object identifiers of EC keys and of prime256v1.
    for oid in
        [&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01][..], &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]]
    {
        assert!(der.windows(oid.len()).any(|window| window == oid));
    }
    assert_eq!(format!("{leaf:?}"), "CertifiedKey(jane)");
}

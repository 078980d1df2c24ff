//! Keys without certificates.

use std::path::Path;

use pki::{Authority, CertifiedKey, Ensured, Leaf, ensure_secret, ensure_signing_key};

#[test]
fn a_signing_key_is_made_kept_and_completed() {
    let folder = tempfile::tempdir().unwrap();
    let (private, public) = (folder.path().join("sa.key"), folder.path().join("sa.pub"));
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    assert_eq!(ensure_signing_key(&private, &public).unwrap(), Ensured::Made);
    let (key, first) = (read(&private), read(&public));
    assert!(key.starts_with("-----BEGIN PRIVATE KEY-----"), "PKCS #8");
    assert!(first.starts_with("-----BEGIN PUBLIC KEY-----") && first.lines().all(|line| line.len() <= 64));
    assert_eq!(ensure_signing_key(&private, &public).unwrap(), Ensured::Kept);
    std::fs::remove_file(&public).unwrap();
    assert!(matches!(ensure_signing_key(&private, &public).unwrap(), Ensured::Renewed(_)));
    assert_eq!((read(&private), read(&public)), (key, first));
    std::fs::write(&private, "damaged").unwrap();
    let error = ensure_signing_key(&private, &public).unwrap_err().to_string();
    assert!(error.contains("sa.key"), "{error}");
    assert_eq!(read(&private), "damaged", "what is damaged is never overwritten");
}

#[test]
fn a_secret_is_made_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("encryption.key");
    let secret = ensure_secret(&path).unwrap();
    assert_eq!(secret.len(), 44);
    assert_eq!(ensure_secret(&path).unwrap(), secret);
    assert_ne!(ensure_secret(&folder.path().join("other.key")).unwrap(), secret);
    std::fs::write(&path, "c2hvcnQ=\n").unwrap();
    assert!(ensure_secret(&path).unwrap_err().to_string().contains("32 bytes"));
}

/// Members of a group show the same certificate to those they call and those that call them.
#[test]
fn a_peer_serves_and_calls() {
    let authority = Authority::make("group", std::time::Duration::from_secs(3600)).unwrap();
    let peer: CertifiedKey = authority.issue(&Leaf::peer("member").name("member.example.com")).unwrap();
    let chain = pki::certificates(peer.chain_pem(), "the member").unwrap();
    let authorities = pki::ClientAuthorities::new(authority.certificate_pem(), "the CA").unwrap();
    assert!(authorities.authority_of(&chain).is_some(), "as a client");
    // EKU server (1.3.6.1.5.5.7.3.1) and client (…3.2), in DER.
    let der = chain[0].as_ref();
    for oid in [[0x2b, 6, 1, 5, 5, 7, 3, 1], [0x2b, 6, 1, 5, 5, 7, 3, 2]] {
        assert!(der.windows(8).any(|window| window == oid), "{oid:?}");
    }
}

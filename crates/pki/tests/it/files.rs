use std::{
    os::unix::fs::PermissionsExt as _,
    path::Path,
    time::{Duration, SystemTime},
};

use pki::{Authority, Ensured, Leaf, ensure_authority, ensure_leaf, write_private};

const DAY: Duration = Duration::from_secs(24 * 3600);

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn files_are_for_their_owner_only_and_replaced_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/er/key.pem");
    write_private(&path, b"one").unwrap();
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    write_private(&path, b"two").unwrap();
    assert_eq!((std::fs::read(&path).unwrap().as_slice(), mode(&path)), (&b"two"[..], 0o600));
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no temporary file is left");
    let error = write_private(&path.join("below-a-file"), b"").unwrap_err().to_string();
    assert!(error.contains("key.pem"), "{error}");
}

#[test]
fn made_when_absent_kept_when_there() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join("pki").join(name);
    let ensure = || ensure_authority(&at("ca.crt"), &at("ca.key"), "a CA", 100 * DAY).unwrap();
    let (made, outcome) = ensure();
    assert_eq!(outcome, Ensured::Made);
    let (kept, outcome) = ensure();
    assert_eq!(outcome, Ensured::Kept);
    assert_eq!(made.certificate_pem(), kept.certificate_pem());
    assert_eq!(mode(&at("ca.key")), 0o600);

    let serving = Leaf::server("door").dns("localhost").name("127.0.0.1");
    let leaf = |authority: &Authority, leaf: &Leaf| {
        ensure_leaf(authority, &at("tls.crt"), &at("tls.key"), leaf).unwrap().1
    };
    let renewed = |reason: &str| Ensured::Renewed(reason.to_owned());
    assert_eq!(leaf(&made, &serving), Ensured::Made);
    assert_eq!(leaf(&kept, &serving), Ensured::Kept);
    let wider = serving.clone().dns("door.example.com");
    assert_eq!(leaf(&kept, &wider), renewed("it lacks the name door.example.com"));
    assert_eq!(leaf(&kept, &serving), Ensured::Kept, "fewer names are asked for");
    let other = Authority::make("a CA", 100 * DAY).unwrap();
    assert_eq!(leaf(&other, &serving), renewed("it was signed by another CA"));
    let client = Leaf::client("door").organization("system:masters");
    assert_eq!(leaf(&other, &client), renewed("its subject is another one"));
    assert_eq!(leaf(&other, &client), Ensured::Kept);
    assert_eq!(leaf(&made, &client), renewed("it was signed by another CA"));
    let now = SystemTime::now();
    for (from, to, reason) in
        [(now - 9 * DAY, now - DAY, "it has expired"), (now - 9 * DAY, now + DAY, "it is near its end")]
    {
        let old = made.issue(&client.clone().valid_between(from, to)).unwrap();
        old.save(&at("tls.crt"), &at("tls.key")).unwrap();
        assert_eq!(leaf(&made, &client), renewed(reason));
    }
}

#[test]
fn damage_is_an_error_that_names_the_file_and_overwrites_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (cert, key) = (dir.path().join("ca.crt"), dir.path().join("ca.key"));
    let ensure = || ensure_authority(&cert, &key, "a CA", DAY).unwrap_err().to_string();
    let good = Authority::make("a CA", DAY).unwrap();
    let other = dir.path().join("other.key");
    Authority::make("another", DAY).unwrap().save(&dir.path().join("other.crt"), &other).unwrap();

    good.save(&cert, &key).unwrap();
    std::fs::remove_file(&cert).unwrap();
    assert!(ensure().contains("ca.key is there but") && ensure().contains("ca.crt is missing"));

    good.save(&cert, &key).unwrap();
    std::fs::copy(&other, &key).unwrap();
    let message = ensure();
    assert!(message.contains("ca.key does not match the certificate of") && message.contains("ca.crt"));

    let pem = String::from_utf8(good.certificate_pem().to_vec()).unwrap();
    for damaged in ["", "hello", &pem[..pem.len() / 2], &pem.replace("MII", "!!!")] {
        good.save(&cert, &key).unwrap();
        std::fs::write(&cert, damaged).unwrap();
        assert!(ensure().contains("ca.crt: "), "{}", ensure());
        assert_eq!(std::fs::read_to_string(&cert).unwrap(), damaged);
    }
    good.save(&cert, &key).unwrap();
    std::fs::write(&key, "secret words").unwrap();
    let message = ensure();
    assert!(message.contains("ca.key: no readable PRIVATE KEY") && !message.contains("secret"), "{message}");
}

#[test]
fn a_file_of_any_size_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("huge");
    std::fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    assert!(pki::read_limited(&path).unwrap_err().to_string().contains("larger than"));
}

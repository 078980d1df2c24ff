use std::time::Duration;

use pki::{Authority, Leaf, Peer, certificates, private_key};
use proptest::prelude::*;
use rustls_pki_types::CertificateDer;

proptest! {
    /// Nothing that a peer sends makes the reading panic.
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let _ = Peer::parse(&CertificateDer::from(bytes.clone()));
        let _ = certificates(&bytes, "x");
        let _ = private_key(&bytes, "x");
    }

    /// Nor does a certificate with some bytes changed.
    #[test]
    fn damaged_certificates(places in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6)) {
        let leaf = Leaf::client("jane").organization("a").organization("b").uid("1").dns("x.example.com");
        let authority = Authority::make("a CA", Duration::from_secs(60)).unwrap();
        let pem = authority.issue(&leaf).unwrap();
        let mut der = certificates(pem.chain_pem(), "").unwrap()[0].to_vec();
        for (place, byte) in places {
            let place = place.index(der.len());
            der[place] = byte;
        }
        let _ = Peer::parse(&CertificateDer::from(der));
    }

    /// Any text survives as a name and as a group.
    #[test]
    fn any_subject(name in "\\PC{0,40}", groups in proptest::collection::vec("\\PC{1,40}", 0..5)) {
        let leaf = groups.iter().fold(Leaf::client(name.clone()), |leaf, group| leaf.organization(group));
        let authority = Authority::make("a CA", Duration::from_secs(60)).unwrap();
        let peer = authority.issue(&leaf).unwrap().leaf().unwrap();
        prop_assert_eq!(peer.common_name, name);
        prop_assert_eq!(peer.organizations, groups);
    }
}

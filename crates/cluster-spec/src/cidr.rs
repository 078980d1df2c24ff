//! IPv4 networks.

use std::{fmt, net::Ipv4Addr, str::FromStr};

/// An IPv4 network in CIDR notation, without host bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cidr {
    base: u32,
    prefix: u8,
}

/// Why a text is no network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoCidr {
    /// It is not written as one.
    Malformed,
    /// It is one of IPv6.
    Six,
    /// Bits after the prefix are set; this is the network that has the address.
    HostBits(Cidr),
}

impl Cidr {
    /// Every address.
    pub(crate) const ANY: Self = Self { base: 0, prefix: 0 };

    /// The network of this prefix that has the address. `prefix` above 32 counts as 32.
    fn around(address: Ipv4Addr, prefix: u8) -> Self {
        let prefix = prefix.min(32);
        Self { base: u32::from(address) & mask(prefix), prefix }
    }

    /// Bits that are the same for all its addresses.
    pub(crate) fn prefix(self) -> u8 {
        self.prefix
    }

    /// Number of addresses.
    pub(crate) fn size(self) -> u64 {
        1 << (32 - u32::from(self.prefix))
    }

    /// Whether the address belongs to it.
    pub(crate) fn contains(self, address: Ipv4Addr) -> bool {
        u32::from(address) & mask(self.prefix) == self.base
    }

    /// Whether any address belongs to both.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        let narrow = self.prefix.min(other.prefix);
        self.base & mask(narrow) == other.base & mask(narrow)
    }

    /// The address at this place; none beyond its end.
    pub(crate) fn nth(self, place: u32) -> Option<Ipv4Addr> {
        (u64::from(place) < self.size()).then(|| Ipv4Addr::from(self.base + place))
    }
}

fn mask(prefix: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0)
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", Ipv4Addr::from(self.base), self.prefix)
    }
}

impl FromStr for Cidr {
    type Err = NoCidr;

    fn from_str(text: &str) -> Result<Self, NoCidr> {
        let (address, prefix) = text.split_once('/').ok_or(NoCidr::Malformed)?;
        if address.contains(':') {
            return Err(NoCidr::Six);
        }
        let address: Ipv4Addr = address.parse().map_err(|_| NoCidr::Malformed)?;
        let plain = prefix == "0" || !prefix.starts_with(['0', '+']);
        let prefix: u8 = prefix.parse().map_err(|_| NoCidr::Malformed)?;
        if prefix > 32 || !plain {
            return Err(NoCidr::Malformed);
        }
        let network = Self::around(address, prefix);
        if network.base == u32::from(address) { Ok(network) } else { Err(NoCidr::HostBits(network)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cidr(text: &str) -> Cidr {
        text.parse().expect("a network")
    }

    #[test]
    fn networks_are_read() {
        assert_eq!("10.1.2.3/8".parse::<Cidr>(), Err(NoCidr::HostBits(cidr("10.0.0.0/8"))));
        assert_eq!("fd00::/8".parse::<Cidr>(), Err(NoCidr::Six));
        for text in
            ["10.0.0.0", "10.0.0/8", "10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/+8", "a/8", "10.0.0.0/-1"]
        {
            assert_eq!(text.parse::<Cidr>(), Err(NoCidr::Malformed), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn overlap_is_a_shared_address(a: u32, b: u32, p in 0u8..=32, q in 0u8..=32) {
            let (left, right) = (Cidr::around(a.into(), p), Cidr::around(b.into(), q));
            let shared = left.contains(right.base.into()) || right.contains(left.base.into());
            proptest::prop_assert_eq!(left.overlaps(right), shared);
            proptest::prop_assert_eq!(left.to_string().parse(), Ok(left));
        }
    }
}

//! The order of API versions.

use std::cmp::Ordering;

/// Compares two version names; the preferred one is `Greater`.
///
/// Stable versions come before betas and betas before alphas, then the higher major and the higher
/// minor number (`v2` > `v1` > `v1beta2` > `v1beta1` > `v1alpha1`). Names of another form come after
/// all of these, and among themselves the alphabetically first is preferred.
pub fn cmp_kube_aware(a: &str, b: &str) -> Ordering {
    match (Parsed::from_name(a), Parsed::from_name(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Greater,
        (None, Some(_)) => Ordering::Less,
        (None, None) => b.cmp(a),
    }
}

/// The fields in the order in which they decide.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Parsed {
    stability: Stability,
    major: u64,
    minor: u64,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Stability {
    Alpha,
    Beta,
    Stable,
}

impl Parsed {
    fn from_name(name: &str) -> Option<Self> {
        let (major, rest) = number(name.strip_prefix('v')?)?;
        if rest.is_empty() {
            return Some(Self { stability: Stability::Stable, major, minor: 0 });
        }
        let (stability, rest) = match (rest.strip_prefix("beta"), rest.strip_prefix("alpha")) {
            (Some(rest), _) => (Stability::Beta, rest),
            (None, Some(rest)) => (Stability::Alpha, rest),
            (None, None) => return None,
        };
        let (minor, rest) = number(rest)?;
        rest.is_empty().then_some(Self { stability, major, minor })
    }
}

/// The number at the start, at most that of a 64-bit signed integer, and what follows it.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let number = digits.parse::<i64>().ok()?;
    Some((number.unsigned_abs(), rest))
}

//! Power of two choices among the endpoints of a server.

use std::sync::Arc;

use super::EndpointPool;

/// Two candidates at random, the less busy one wins. Endpoints that failed a moment ago take no part
/// while there are others; when their pause is over they are probed beside the traffic.
pub(super) fn pick(
    endpoints: &[Arc<EndpointPool>],
    tried: &[Arc<EndpointPool>],
    turn: usize,
) -> Option<(Arc<EndpointPool>, bool)> {
    let untried = |pool: &&Arc<EndpointPool>| !tried.iter().any(|other| Arc::ptr_eq(other, pool));
    let healthy = endpoints.iter().filter(untried).filter(|pool| {
        let healthy = pool.is_healthy();
        if !healthy {
            pool.probe();
        }
        healthy
    });
    let healthy: Vec<_> = healthy.collect();
    let others = endpoints.iter().filter(untried).count() > 1;
    let chosen = match healthy.as_slice() {
        [] => least_paused(endpoints.iter().filter(untried))?,
        [only] => only,
        many => {
            let random = scramble(turn as u64);
            let first = (random % many.len() as u64) as usize;
            let step = 1 + ((random >> 32) % (many.len() as u64 - 1)) as usize;
            let (a, b) = (many[first], many[(first + step) % many.len()]);
            if b.in_flight() < a.in_flight() { b } else { a }
        }
    };
    Some((chosen.clone(), others))
}

/// All failed a moment ago: first one whose pause is over.
fn least_paused<'a>(
    mut endpoints: impl Iterator<Item = &'a Arc<EndpointPool>> + Clone,
) -> Option<&'a Arc<EndpointPool>> {
    endpoints.clone().find(|pool| !pool.is_paused()).or_else(|| endpoints.next())
}

/// SplitMix64: enough to spread turns, without state of its own.
fn scramble(turn: u64) -> u64 {
    let mut z = turn.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

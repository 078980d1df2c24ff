//! Medians, and an interval that needs no assumption about the distribution.

use serde::Serialize;

/// The median of some rounds and the interval in which the true median lies with about 95 %.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Estimate {
    /// Middle of the rounds.
    pub median: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl std::fmt::Display for Estimate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.3} [{:.3}, {:.3}]", self.median, self.low, self.high)
    }
}

/// The median with the order statistics that enclose it (sign test at about 95 %).
pub fn estimate(values: &[f64]) -> Estimate {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let margin = (0.98 * (count as f64).sqrt()).ceil() as usize;
    let middle = count / 2;
    let median = if count.is_multiple_of(2) && count > 0 {
        (sorted[middle - 1] + sorted[middle]) / 2.0
    } else {
        sorted.get(middle).copied().unwrap_or(f64::NAN)
    };
    let low = sorted.get(middle.saturating_sub(margin)).copied().unwrap_or(median);
    let high = sorted.get((middle + margin).min(count.saturating_sub(1))).copied().unwrap_or(median);
    Estimate { median, low, high }
}

/// Round by round, the first over the second.
pub fn ratios(ours: &[f64], peers: &[f64]) -> Estimate {
    estimate(&ours.iter().zip(peers).map(|(a, b)| a / b).collect::<Vec<_>>())
}

/// The value below which `share` of all lie.
pub fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = ((values.len() as f64 * share) as usize).min(values.len().saturating_sub(1));
    values.get(place).copied().unwrap_or(f64::NAN)
}

//! Histograms of atomics.

use std::sync::atomic::{AtomicU64, Ordering};

use super::exposition::Exposition;

/// Counts by upper bound; the last place is for everything above. The sum is kept in whole units, of
/// which `PER` make one of those of the bounds.
#[derive(Debug)]
pub(super) struct Histogram<const N: usize, const PER: u64> {
    counts: [AtomicU64; N],
    sum: AtomicU64,
}

impl<const N: usize, const PER: u64> Histogram<N, PER> {
    pub(super) fn new() -> Self {
        Self { counts: [const { AtomicU64::new(0) }; N], sum: AtomicU64::new(0) }
    }

    pub(super) fn observe(&self, value: f64, bounds: &[f64], units: u64) {
        let place = bounds.iter().position(|bound| value <= *bound).unwrap_or(bounds.len());
        self.counts[place].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(units, Ordering::Relaxed);
    }

    pub(super) fn render(&self, text: &mut Exposition, name: &str, labels: &[(&str, &str)], bounds: &[f64]) {
        let mut count = 0;
        let bounds = bounds.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
        let bucket = format!("{name}_bucket");
        for (bound, counted) in bounds.zip(&self.counts) {
            count += counted.load(Ordering::Relaxed);
            let labels: Vec<_> = labels.iter().copied().chain([("le", bound.as_str())]).collect();
            text.sample(&bucket, &labels, count);
        }
        #[expect(clippy::cast_precision_loss, reason = "a sum for people")]
        let sum = self.sum.load(Ordering::Relaxed) as f64 / PER as f64;
        text.sample(&format!("{name}_sum"), labels, sum);
        text.sample(&format!("{name}_count"), labels, count);
    }
}

//! What a run found: printed as it comes, kept as JSON.

use std::path::Path;

use anyhow::Result;
use fs_err as fs;
use serde::Serialize;
use serde_json::{Value, json};

use crate::stats::Estimate;

/// The rows of one run.
#[derive(Default)]
pub struct Report {
    work: String,
    rows: Vec<Value>,
}

/// What a figure should be.
#[derive(Clone, Copy, Debug, Serialize)]
pub enum Goal {
    /// At most this.
    AtMost(f64),
    /// At least this.
    AtLeast(f64),
    /// Only for information.
    None,
}

impl Goal {
    fn met(self, value: f64) -> Option<bool> {
        match self {
            Self::AtMost(limit) => Some(value <= limit),
            Self::AtLeast(limit) => Some(value >= limit),
            Self::None => None,
        }
    }
}

impl Report {
    /// The rows that follow belong to `work`.
    pub fn begin(&mut self, work: &str) {
        work.clone_into(&mut self.work);
    }

    /// A ratio with its interval.
    pub fn ratio(&mut self, work: &str, estimate: Estimate, goal: Goal) {
        self.add(work, estimate.median, &estimate.to_string(), "ratio", goal, json!(estimate));
    }

    /// A plain figure.
    pub fn figure(&mut self, work: &str, value: f64, unit: &str, goal: Goal) {
        self.add(work, value, &format!("{value:.4}"), unit, goal, json!({"value": value}));
    }

    fn add(&mut self, work: &str, value: f64, shown: &str, unit: &str, goal: Goal, figures: Value) {
        let verdict = match goal.met(value) {
            Some(true) => "met",
            Some(false) => "MISSED",
            None => "",
        };
        println!("{work:<64} {shown:>26} {unit:<8} {goal:?} {verdict}");
        self.rows.push(
            json!({"of": self.work, "work": work, "unit": unit, "figures": figures, "goal": goal, "met": goal.met(value)}),
        );
    }

    /// Says that something was not measured, and why.
    pub fn skipped(&mut self, work: &str, reason: &str) {
        println!("{work:<64} not measured: {reason}");
        self.rows.push(json!({"of": self.work, "work": work, "skipped": reason}));
    }

    /// Writes the JSON document. Rows of works that this run left out are taken over, with the commit and
    /// the cargo profile that they were measured with.
    pub fn write(&self, path: &Path, commit: &str, profile: &str) -> Result<()> {
        let before: Value =
            fs::read(path).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        let measured = |row: &Value| self.rows.iter().any(|own| own["of"] == row["of"]);
        let kept = before["rows"].as_array().into_iter().flatten().filter(|row| !measured(row)).cloned();
        let own = self.rows.iter().cloned().map(|mut row| {
            row["commit"] = json!(commit);
            row["profile"] = json!(profile);
            row
        });
        let rows: Vec<Value> = kept.chain(own).collect();
        fs::write(path, serde_json::to_string_pretty(&json!({"benchmark": "door", "rows": rows}))? + "\n")?;
        Ok(())
    }
}

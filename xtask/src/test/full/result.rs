//! `results/AREA.json`: what a long run came to, on which commit.

use std::{collections::BTreeMap, path::PathBuf, thread};

use anyhow::Result;
use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::Count;
use crate::{command::Step, workspace::Workspace};

/// A result file.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AreaResult {
    area: String,
    /// The commit that was tested, `-dirty` when files differed from it.
    commit: String,
    /// When the last unit ended, RFC 3339.
    finished: String,
    /// Processors of the machine.
    processors: usize,
    passed: usize,
    failed: usize,
    skipped: usize,
    units: Vec<UnitResult>,
}

/// What one unit came to.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct UnitResult {
    name: String,
    passed: usize,
    failed: usize,
    skipped: usize,
    /// How long it took.
    pub(crate) seconds: f64,
    /// Why tests were left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<String>,
    /// What the tests measured.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    figures: BTreeMap<String, String>,
}

impl UnitResult {
    /// A unit that has just ended.
    pub(crate) fn new(name: &str, count: &Count, seconds: f64) -> Self {
        Self {
            name: name.to_owned(),
            passed: count.passed,
            failed: count.failed,
            skipped: count.skipped,
            seconds: (seconds * 10.0).round() / 10.0,
            reasons: count.reasons.clone(),
            figures: count.figures.iter().cloned().collect(),
        }
    }

    /// Its counts.
    pub(crate) fn count(&self) -> Count {
        Count {
            passed: self.passed,
            failed: self.failed,
            skipped: self.skipped,
            reasons: self.reasons.clone(),
            figures: self.figures.clone().into_iter().collect(),
        }
    }
}

impl AreaResult {
    /// The result so far on this commit, or an empty one.
    ///
    /// # Errors
    /// Never for a missing or foreign file: that is an empty result.
    pub(crate) fn resume(workspace: &Workspace, area: &str) -> Result<Self> {
        let commit = workspace.commit();
        let kept = fs::read(path(workspace, area))
            .ok()
            .and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        if let Some(kept) = kept.filter(|kept| kept.commit == commit && !commit.ends_with("-dirty")) {
            return Ok(kept);
        }
        Ok(Self {
            area: area.to_owned(),
            commit,
            finished: String::new(),
            processors: thread::available_parallelism()?.get(),
            passed: 0,
            failed: 0,
            skipped: 0,
            units: Vec::new(),
        })
    }

    /// A unit that passed already.
    pub(crate) fn passed(&self, unit: &str) -> Option<&UnitResult> {
        self.units.iter().find(|result| result.name == unit && result.failed == 0 && result.passed > 0)
    }

    /// Takes in a unit, in place of an earlier result of it.
    pub(crate) fn record(&mut self, unit: UnitResult) {
        self.units.retain(|result| result.name != unit.name);
        self.units.push(unit);
        self.passed = self.units.iter().map(|unit| unit.passed).sum();
        self.failed = self.units.iter().map(|unit| unit.failed).sum();
        self.skipped = self.units.iter().map(|unit| unit.skipped).sum();
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write(&mut self, workspace: &Workspace) -> Result<()> {
        let now = Step::new("date", "date").arguments(["-u", "+%Y-%m-%dT%H:%M:%SZ"]).output()?;
        now.trim().clone_into(&mut self.finished);
        let path = path(workspace, &self.area);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(fs::write(path, text)?)
    }
}

fn path(workspace: &Workspace, area: &str) -> PathBuf {
    workspace.root().join("results").join(format!("{area}.json"))
}

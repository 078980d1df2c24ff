//! What may stand in the way, found before the first change: all hosts, all findings at once.

mod among;
mod host;

use serde::Serialize;

use crate::{Facts, Observed, Wanted};

pub use among::among;
pub use host::host;

/// Something that was found. Its id is that under which `preflight.accept` takes it, where one can live with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// What it is about.
    pub id: &'static str,
    /// The host.
    pub host: String,
    /// What was found there.
    pub value: String,
    /// What to do about it.
    pub fix: String,
    /// Whether it was said that one can live with it.
    pub accepted: bool,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let accepted = if self.accepted { " (accepted)" } else { "" };
        write!(f, "{}: {}{accepted}: {}; {}", self.host, self.id, self.value, self.fix)
    }
}

/// A host, for the checks.
#[derive(Clone, Copy, Debug)]
pub struct Checked<'a> {
    /// Its name.
    pub name: &'a str,
    /// What is there.
    pub observed: &'a Observed,
    /// What shall be there.
    pub wanted: &'a Wanted,
    /// What was tried out.
    pub probed: &'a Probed,
}

impl Checked<'_> {
    fn facts(&self) -> &Facts {
        &self.observed.facts
    }

    /// Whether nothing was ever laid down there: what runs and lies there is not ours.
    fn is_new(&self) -> bool {
        self.observed.record.is_empty()
    }

    fn finding(&self, id: &'static str, value: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding { id, host: self.name.to_owned(), value: value.into(), fix: fix.into(), accepted: false }
    }
}

/// What was tried out on a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Probed {
    /// Addresses of other hosts, and whether a packet of the size of the link arrives there.
    pub reached: Vec<(String, Reached)>,
    /// How long the disk of etcd takes to keep 2 KiB, in microseconds, on average.
    pub latency_micros: Option<u64>,
}

/// Whether packets arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// Also large ones.
    Whole,
    /// Small ones alone.
    Small,
    /// None.
    No,
    /// It cannot be tried out there.
    Unknown,
}

impl Probed {
    /// Reads what the script says.
    pub fn parse<'a>(lines: impl IntoIterator<Item = &'a String>) -> Self {
        let mut probed = Self::default();
        for line in lines {
            match line.split(' ').collect::<Vec<_>>().as_slice() {
                ["reach", address, how] => {
                    let how = match *how {
                        "whole" => Reached::Whole,
                        "small" => Reached::Small,
                        "no" => Reached::No,
                        _ => Reached::Unknown,
                    };
                    probed.reached.push(((*address).to_owned(), how));
                }
                ["latency", micros] => probed.latency_micros = micros.parse().ok(),
                _ => {}
            }
        }
        probed
    }
}

/// Everything that is found on these hosts, with what `accept` names marked.
pub fn preflight(hosts: &[Checked<'_>], accept: &[String]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = hosts.iter().flat_map(host).collect();
    findings.extend(among(hosts));
    for finding in &mut findings {
        finding.accepted = accept.iter().any(|id| id == finding.id);
    }
    findings
}

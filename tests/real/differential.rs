//! The same requests through upstream's aggregator and through the door, to the same servers.
//!
//! Requests are data (`differential/*.yaml`), and so is what may differ (`differential/differences.yaml`),
//! each with its reason. A difference that is not in the list fails, and so does a list entry that no
//! longer differs.

pub(crate) mod answer;
pub(crate) mod cases;
pub(crate) mod differences;
mod sides;

use std::collections::{BTreeMap, BTreeSet};

use libtest_mimic::Trial;

use crate::{
    lab::Lab,
    rows::{Shared, skipped, trial},
};
use answer::Answer;
use cases::{Case, read_cases};
use differences::Differences;
use sides::Sides;

/// How many requests there must be at least.
const REQUESTS: usize = 200;
/// How many entries the list of differences may have at most.
const ENTRIES: usize = 25;

pub(crate) fn trials() -> Vec<Trial> {
    let cases = read_cases();
    let run = SharedRun(Shared::new());
    let mut trials = vec![counts(cases.len())];
    let missing = Lab::available().err();
    for case in &cases {
        let name = format!("differential::{}", case.name);
        trials.push(match &missing {
            Some(reason) => skipped(name, reason),
            None => {
                let (run, case) = (run.clone(), case.name.clone());
                trial(name, move || run.get().check(&case))
            }
        });
    }
    let name = "differential::every difference in the list is one";
    trials.push(match missing {
        Some(reason) => skipped(name, &reason),
        None => trial(name, move || run.get().check_list()),
    });
    trials
}

fn counts(cases: usize) -> Trial {
    trial("differential::there are enough requests and few differences", move || {
        assert!(cases >= REQUESTS, "{cases} requests");
        let entries = Differences::read().len();
        assert!(entries <= ENTRIES, "{entries} entries in differences.yaml");
        println!("figure: differential requests = {cases}");
        println!("figure: differential differences = {entries}");
    })
}

/// All requests through both, once.
#[derive(Clone)]
struct SharedRun(Shared<Run>);

struct Run {
    differences: Differences,
    /// What differed, by case: field to the two values.
    found: BTreeMap<String, BTreeMap<String, (String, String)>>,
}

impl SharedRun {
    fn get(&self) -> &Run {
        self.0.get(|| {
            let cases = read_cases();
            let mut sides = Sides::start();
            let aggregator = sides.aggregator(&cases);
            let door = sides.door(&cases);
            Run { differences: Differences::read(), found: compare(&cases, &aggregator, &door) }
        })
    }
}

fn compare(
    cases: &[Case],
    aggregator: &[Answer],
    door: &[Answer],
) -> BTreeMap<String, BTreeMap<String, (String, String)>> {
    let pairs = aggregator.iter().zip(door);
    cases.iter().zip(pairs).map(|(case, (left, right))| (case.name.clone(), left.differs(right))).collect()
}

impl Run {
    fn check(&self, case: &str) {
        let unexplained: Vec<String> = self.found[case]
            .iter()
            .filter(|(field, (_, door))| !self.differences.allow(case, field, door))
            .map(|(field, (left, right))| format!("{field}\n  aggregator: {left}\n  door:       {right}"))
            .collect();
        assert!(unexplained.is_empty(), "differs in\n{}", unexplained.join("\n"));
    }

    fn check_list(&self) {
        let mut used = BTreeSet::new();
        for (case, fields) in &self.found {
            for (field, (_, door)) in fields {
                used.extend(self.differences.entries_for(case, field, door));
            }
        }
        let idle = self.differences.others(&used);
        assert!(idle.is_empty(), "in the list, but nothing differs any more: {}", idle.join("\n"));
    }
}

//! `cargo xtask test --full [AREA]`: long runs, area by area, with a result file each.
//!
//! A run that was interrupted goes on where it was, as long as the commit is the same.

mod areas;
mod result;

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::{
    binaries::{self, Binary},
    outcome::{Count, Summary},
    run::{Suite, test},
};
use crate::workspace::Workspace;
use areas::{AREAS, Area, Unit};
use result::{AreaResult, UnitResult};

/// Longest that one unit may take.
const UNIT_LIMIT: Duration = Duration::from_secs(60 * 60);

/// Runs one area, or all of them.
///
/// # Errors
/// When there is no such area, or a result file cannot be written.
pub(crate) fn run(workspace: &Workspace, name: &str, summary: &mut Summary) -> Result<()> {
    let wanted: Vec<&Area> = AREAS.iter().filter(|area| name == "all" || area.name == name).collect();
    if wanted.is_empty() {
        let known: Vec<&str> = AREAS.iter().map(|area| area.name).collect();
        bail!("there is no area {name:?}; there are {}", known.join(", "));
    }
    // Optimised: most of these are about how much gets through in an hour.
    let Some(binaries) = binaries::build(workspace, &["--release"], summary)? else { return Ok(()) };
    for area in wanted {
        run_area(workspace, area, &binaries, summary)?;
    }
    Ok(())
}

fn run_area(workspace: &Workspace, area: &Area, binaries: &[Binary], summary: &mut Summary) -> Result<()> {
    println!("\n{}: {}", area.name, area.about);
    let mut result = AreaResult::resume(workspace, area.name)?;
    for unit in area.units {
        if let Some(done) = result.passed(unit.name) {
            println!("{:40} passed earlier on this commit, {:.0} s", unit.name, done.seconds);
            summary.add(unit.name, &done.count(), done.seconds);
            continue;
        }
        let started = Instant::now();
        let count = run_unit(workspace, unit, binaries, summary)?;
        result.record(UnitResult::new(unit.name, &count, started.elapsed().as_secs_f64()));
        result.write(workspace)?;
    }
    Ok(())
}

fn run_unit(workspace: &Workspace, unit: &Unit, binaries: &[Binary], summary: &mut Summary) -> Result<Count> {
    let Some(binary) = binaries.iter().find(|b| b.package == unit.package && b.target == unit.target) else {
        summary.fail(unit.name, &format!("  there is no test binary {} {}", unit.package, unit.target));
        return Ok(Count { failed: 1, ..Count::default() });
    };
    let suite = Suite {
        log: "full",
        filter: (!unit.filter.is_empty()).then(|| unit.filter.to_owned()),
        long: unit.long,
        environment: unit
            .environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        limit: UNIT_LIMIT,
    };
    let count = test(workspace, binary, &suite, summary)?;
    if count.passed + count.failed == 0 {
        summary.fail(unit.name, "  no test ran: the table of areas names a test that is not there");
        return Ok(Count { failed: 1, ..count });
    }
    Ok(count)
}

//! The works that are measured, one file each.

mod failover;
mod neighbours;
mod proxying;
mod registrations;
mod watches;

use anyhow::Result;

use crate::{DoorArgs, peers::Lab, report::Report};

const WORKS: &[&str] = &["get", "list", "watches", "registrations", "neighbours", "failover"];

/// Runs the works that were asked for and writes the report.
pub async fn run(args: &DoorArgs) -> Result<()> {
    let lab = Lab::new()?;
    let mut report = Report::default();
    for work in WORKS {
        if !args.only.is_empty() && !args.only.iter().any(|only| only == work) {
            continue;
        }
        report.begin(work);
        match *work {
            "get" => proxying::get(&lab, args, &mut report).await?,
            "list" => proxying::list(&lab, args, &mut report).await?,
            "watches" => watches::run(&lab, args, &mut report).await?,
            "registrations" => registrations::run(&lab, args, &mut report).await?,
            "neighbours" => neighbours::run(&lab, args, &mut report).await?,
            _ => failover::run(&lab, args, &mut report).await?,
        }
        // Written after each work: what is measured stays when a later one fails.
        if let Some(path) = &args.out {
            report.write(path, &args.commit, &args.profile)?;
        }
    }
    Ok(())
}

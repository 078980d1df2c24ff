//! The works that are measured, one file each.

mod failover;
mod neighbours;
mod proxying;
mod registrations;
mod watches;

use anyhow::Result;

use crate::{DoorArgs, peers::Lab, report::Report};

/// Runs the works that were asked for and writes the report.
pub async fn run(args: &DoorArgs) -> Result<()> {
    let lab = Lab::new()?;
    let mut report = Report::default();
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    if wanted("get") {
        proxying::get(&lab, args, &mut report).await?;
    }
    if wanted("list") {
        proxying::list(&lab, args, &mut report).await?;
    }
    if wanted("watches") {
        watches::run(&lab, args, &mut report).await?;
    }
    if wanted("registrations") {
        registrations::run(&lab, args, &mut report).await?;
    }
    if wanted("neighbours") {
        neighbours::run(&lab, args, &mut report).await?;
    }
    if wanted("failover") {
        failover::run(&lab, args, &mut report).await?;
    }
    match &args.out {
        Some(path) => report.write(path),
        None => Ok(()),
    }
}

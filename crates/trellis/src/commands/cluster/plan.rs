//! `trellis cluster plan`.

use super::hosts::{Looked, Prepared, overwrite};
use crate::{
    args::{ClusterPlanArgs, TellAs},
    commands::print,
    exit::{Code, Outcome, Problem},
    output,
};

/// Looks at all hosts, and shows what would change.
pub(super) async fn run(args: &ClusterPlanArgs) -> Outcome {
    let overwrite = overwrite(&args.overwrite)?;
    let prepared = Prepared::new(&args.object)?;
    let source = prepared.source(args.reach.deploy.as_deref())?;
    let looked = Looked::at(&prepared, &args.reach, source, &overwrite).await;
    print(&match args.output {
        Some(TellAs::Json) => output::json(&looked.to_json()),
        None => looked.to_text(args.full),
    })?;
    let outcome = match (looked.is_blocked(), looked.changes()) {
        (true, _) => Err(Problem::quiet(Code::Preflight)),
        (false, 0) => Ok(()),
        (false, _) => Err(Problem::quiet(Code::Pending)),
    };
    looked.close().await;
    outcome
}

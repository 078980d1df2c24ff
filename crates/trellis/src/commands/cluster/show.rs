//! `trellis cluster show`.

use cluster_spec::HostFacts;

use super::object::Files;
use crate::{
    args::{ClusterShowArgs, DocumentAs},
    commands::print,
    exit::Outcome,
    output,
};

/// Prints the object, or what follows from it.
pub(super) fn run(args: &ClusterShowArgs) -> Outcome {
    let cluster = Files::read(&args.file)?.cluster()?;
    if !args.resolved {
        let complete = cluster.complete();
        return print(&match args.output {
            Some(DocumentAs::Json) => output::json(&complete),
            None | Some(DocumentAs::Yaml) => output::yaml(&complete),
        });
    }
    let (resolved, facts) = (cluster.resolve(), HostFacts::default());
    print(&match args.output {
        None => resolved.to_text(&facts),
        Some(DocumentAs::Json) => output::json(&resolved.to_json(&facts)),
        Some(DocumentAs::Yaml) => output::yaml(&resolved.to_json(&facts)),
    })
}

//! `trellis cluster`.

mod explain;
mod init;
mod keys;
mod object;
mod render;
mod show;
mod validate;

use super::print;
use crate::{
    args::{ClusterArgs, ClusterSchemaArgs, ClusterWhat},
    exit::Outcome,
    output,
};

/// Does what was asked for.
pub(super) fn run(args: ClusterArgs) -> Outcome {
    match args.what {
        ClusterWhat::Init(args) => init::run(args),
        ClusterWhat::Validate(args) => validate::run(&args),
        ClusterWhat::Schema(args) => schema(&args),
        ClusterWhat::Show(args) => show::run(&args),
        ClusterWhat::Render(args) => render::run(&args),
        ClusterWhat::Explain(args) => explain::run(&args),
    }
}

fn schema(args: &ClusterSchemaArgs) -> Outcome {
    let schema =
        if args.inventory { cluster_spec::inventory_schema() } else { cluster_spec::object_schema() };
    print(&output::json(schema))
}

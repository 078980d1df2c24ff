//! `trellis cluster`.

mod access;
mod adopt;
mod apply;
mod certs;
mod down;
mod explain;
mod hosts;
mod init;
mod joins;
mod keys;
mod object;
mod plan;
mod render;
mod show;
mod validate;

use super::{Threads, print, runtime};
use crate::{
    args::{ClusterArgs, ClusterKeysWhat, ClusterSchemaArgs, ClusterWhat},
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
        ClusterWhat::Plan(args) => runtime(Threads::All)?.block_on(plan::run(&args)),
        ClusterWhat::Apply(args) => runtime(Threads::All)?.block_on(apply::run(&args)),
        ClusterWhat::Down(args) => runtime(Threads::All)?.block_on(down::run(&args)),
        ClusterWhat::Unlock(args) => runtime(Threads::All)?.block_on(down::unlock(&args)),
        ClusterWhat::Adopt(args) => runtime(Threads::One)?.block_on(adopt::run(&args)),
        ClusterWhat::Certs(args) => runtime(Threads::One)?.block_on(certs::run(&args)),
        ClusterWhat::Keys(args) => match args.what {
            ClusterKeysWhat::Export(args) => access::export(&args),
        },
        ClusterWhat::Kubeconfig(args) => access::kubeconfig(&args),
        ClusterWhat::Token(args) => runtime(Threads::One)?.block_on(joins::token(&args)),
    }
}

fn schema(args: &ClusterSchemaArgs) -> Outcome {
    let schema =
        if args.inventory { cluster_spec::inventory_schema() } else { cluster_spec::object_schema() };
    print(&output::json(schema))
}

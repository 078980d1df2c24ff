use crate::{args::ExplainArgs, exit::Outcome}; pub(super) async fn run(_: ExplainArgs) -> Outcome { Ok(()) }

//! `trellis unregister`.

use http::{Method, StatusCode};

use super::print;
use crate::{
    args::UnregisterArgs,
    door::{Door, Registration},
    exit::{Code, Outcome, Problem},
};

/// Deletes a registration.
pub(super) async fn run(args: UnregisterArgs) -> Outcome {
    let door = Door::find(&args.door).await?;
    let answer = door.send(Method::DELETE, &Registration::path(&args.name), None, None).await?;
    match answer.code {
        code if code.is_success() => print(&format!("{} is unregistered\n", args.name)),
        StatusCode::NOT_FOUND => Err(Problem::new(
            Code::NotFound,
            format!("nothing is registered as {} at {}", args.name, door.url()),
        )
        .next(
            "`trellis servers` lists what is; a registration from a file or an APIService goes with those",
        )),
        _ => Err(door.refused(&answer)),
    }
}

//! The door with real servers and real clients: upstream's kube-apiserver, sample-apiserver and
//! metrics-server, kubectl and the client libraries.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod clients;
mod delegation;
mod differential;
mod lab;
mod library;
mod recordings;
mod rows;
mod soak;
mod third_parties;
mod upgrades;
mod validation;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial, run};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials: Vec<Trial> = [
        differential::trials(),
        clients::trials(),
        upgrades::trials(),
        third_parties::trials(),
        soak::trials(),
        validation::trials(),
        recordings::trials(),
        library::trials(),
        delegation::trials(),
    ]
    .into_iter()
    .flatten()
    .collect();
    // The servers that the tests share are held by the tests: they end with the last one.
    run(&arguments, trials).exit_code()
}

//! What each command does.

mod cluster;
mod config;
mod explain;
mod register;
mod serve;
mod servers;
mod signals;
mod unregister;
mod up;

pub(crate) use signals::StopSignals;

use crate::{
    args::{Cli, Command},
    example_server,
    exit::{Code, Outcome, Problem},
};

/// Runs the command that was typed.
pub(crate) fn run(cli: Cli) -> Outcome {
    // Libraries that are given no provider of cryptography ask for the process' own; there is one.
    let _ = rustls::crypto::CryptoProvider::install_default((*pki::provider()).clone());
    seed_early();
    match cli.command {
        Command::Cluster(args) => cluster::run(args),
        Command::Config(args) => config::run(args),
        Command::Up(args) => runtime(Threads::All)?.block_on(up::run(args)),
        Command::Serve(args) => runtime(Threads::All)?.block_on(serve::run(*args)),
        Command::ExampleServer(args) => runtime(Threads::One)?.block_on(example_server::run(*args)),
        Command::Register(args) => runtime(Threads::One)?.block_on(register::run(*args)),
        Command::Unregister(args) => runtime(Threads::One)?.block_on(unregister::run(args)),
        Command::Servers(args) => runtime(Threads::One)?.block_on(servers::run(args)),
        Command::Explain(args) => runtime(Threads::One)?.block_on(explain::run(args)),
    }
}

/// The generator of random numbers gathers its first seed for some hundredths of a second: meanwhile other
/// things are read and made ready.
fn seed_early() {
    let seed = || {
        let mut number = [0; 8];
        // One that fails now fails again where the number is needed, and is reported there.
        let _ = pki::provider().secure_random.fill(&mut number);
    };
    let _ = std::thread::Builder::new().name("seed".to_owned()).spawn(seed);
}

enum Threads {
    /// As many as there are processors.
    All,
    /// The one that is there.
    One,
}

fn runtime(threads: Threads) -> Outcome<tokio::runtime::Runtime> {
    let mut builder = match threads {
        Threads::All => tokio::runtime::Builder::new_multi_thread(),
        Threads::One => tokio::runtime::Builder::new_current_thread(),
    };
    builder
        .enable_all()
        .build()
        .map_err(|error| Problem::new(Code::Failure, format!("cannot start the runtime: {error}")))
}

/// Prints on standard output; a closed pipe ends the command quietly, as with other tools.
pub(crate) fn print(text: &str) -> Outcome {
    use std::io::Write as _;
    let mut out = std::io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Problem::new(Code::Failure, format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

//! `cargo xtask hosts`: test hosts on this machine, which boot systemd and answer SSH.
//!
//! A host is a container of systemd-nspawn over a read-only Debian, with a network interface, cgroups and
//! folders of its own. Everything of a lab of hosts is found by its number alone, so that it can be taken
//! away whatever happened to whoever made it: a reaper, started before the first of it is there, waits for
//! the end of the one who makes it.

mod base;
mod boot;
mod cgroups;
mod lab;
mod remains;

use std::{
    io::Read as _,
    process::{ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use fs_err as fs;

use crate::{
    command::{Step, which},
    components::Components,
    upstream::{self, Selection},
    workspace::Workspace,
};
use lab::Lab;

/// Hosts that one lab may have: addresses .11 to .60 of its network.
const MAX_HOSTS: u8 = 50;
/// How long a reaper may be at work before a new run gives up.
const REAPING: Duration = Duration::from_secs(20);

/// What to do with test hosts.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
    /// Which lab: each has hosts and a network of its own
    #[arg(long, global = true, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=250))]
    lab: u8,
}

#[derive(Subcommand)]
enum What {
    /// Boots hosts and prints how they are reached, as JSON.
    Up {
        /// How many.
        #[arg(value_parser = clap::value_parser!(u8).range(1..=i64::from(MAX_HOSTS)))]
        hosts: u8,
        /// Stays until standard input closes, and takes the hosts away then, or when this is killed
        #[arg(long)]
        hold: bool,
    },
    /// Takes the hosts away, and everything that was made for them.
    Down,
    /// Waits for the end of a process, and takes away what it did not finish.
    #[command(hide = true)]
    Reap { process: u32 },
}

/// Does it.
///
/// # Errors
/// When this is not root, a tool is missing, or a host does not boot; nothing is left behind then.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<ExitCode> {
    if Step::new("id", "id").arguments(["-u"]).output()?.trim() != "0" {
        bail!("test hosts are containers with cgroups and networks: only root can make them");
    }
    let lab = Lab::new(workspace, arguments.lab);
    match arguments.what {
        What::Up { hosts, hold } => up(workspace, &lab, hosts, hold)?,
        What::Down => remains::remove(&lab)?,
        What::Reap { process } => reap(&lab, process)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn up(workspace: &Workspace, lab: &Lab, hosts: u8, hold: bool) -> Result<()> {
    if lab.is_finished() {
        bail!(
            "lab {} is up already; `cargo xtask hosts down --lab {}` takes it away",
            lab.number,
            lab.number
        );
    }
    tools(workspace)?;
    let base = base::prepare(workspace)?;
    let Some(_lock) = lab.lock(REAPING)? else {
        bail!("lab {} is being made by another run", lab.number);
    };
    // What a killed run left.
    remains::remove(lab)?;
    fs::create_dir_all(&lab.folder)?;
    start_reaper(lab)?;
    let made = boot_all(lab, &base, hosts);
    if let Err(error) = made {
        remains::remove(lab).with_context(|| format!("after: {error:#}"))?;
        return Err(error);
    }
    let told = lab.describe(hosts)?;
    if !hold {
        lab.finish(&told)?;
    }
    println!("{told}");
    if hold {
        let mut nothing = Vec::new();
        // An error is an end too.
        let _ = std::io::stdin().read_to_end(&mut nothing);
        remains::remove(lab)?;
    }
    Ok(())
}

/// Sees to it that everything needed is installed. Where it is, no build of components is waited for.
fn tools(workspace: &Workspace) -> Result<()> {
    if ["debootstrap", "systemd-nspawn", "ssh", "ip"].iter().all(|tool| which(tool).is_some()) {
        return Ok(());
    }
    let names =
        ["iproute2", "debootstrap", "systemd-container", "openssh-client"].map(str::to_owned).to_vec();
    let selection = Selection { names, full: false, hosts: true };
    let components = Components::read(workspace.root())?;
    match upstream::prepare(workspace, &components, &selection)?.first() {
        Some(missing) => bail!("{}: {}", missing.name, missing.reason),
        None => Ok(()),
    }
}

fn boot_all(lab: &Lab, base: &std::path::Path, hosts: u8) -> Result<()> {
    let started = Instant::now();
    boot::network(lab)?;
    boot::keys(lab)?;
    for host in 1..=hosts {
        boot::start(lab, base, host)?;
    }
    for host in 1..=hosts {
        boot::wait(lab, host)?;
    }
    eprintln!("hosts: {hosts} answer after {:.1} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// In a process group of its own: an interrupt at the terminal does not reach it.
fn start_reaper(lab: &Lab) -> Result<()> {
    use std::os::unix::process::CommandExt as _;
    let program = std::env::current_exe().context("the path of this program")?;
    std::process::Command::new(program)
        .args(["hosts", "--lab", &lab.number.to_string(), "reap", &std::process::id().to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .context("the reaper cannot be started")?;
    Ok(())
}

fn reap(lab: &Lab, process: u32) -> Result<()> {
    let born = |process: u32| {
        let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // After the name, which may hold blanks: state is the first word, the time of birth the twentieth.
        text.rsplit_once(')')?.1.split_whitespace().nth(19).map(str::to_owned)
    };
    let first = born(process);
    while first.is_some() && born(process) == first {
        thread::sleep(Duration::from_millis(200));
    }
    // Whoever has the lock has begun anew, and removed what was left.
    let Some(_lock) = lab.lock(Duration::ZERO)? else { return Ok(()) };
    if lab.is_finished() || !lab.folder.exists() {
        return Ok(());
    }
    remains::remove(lab)
}

//! `cargo xtask upstream`: real components, built or installed once and kept by version.

mod debian;
mod go;
mod install;
mod manifest;
mod stamp;

use std::{process::ExitCode, time::Instant};

use anyhow::{Result, bail};
use fs_err as fs;

use crate::{
    components::{Components, Run},
    workspace::Workspace,
};
pub(crate) use go::folder;
use manifest::Manifest;

/// Arguments of `cargo xtask upstream`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only these components; without any, all of them.
    names: Vec<String>,
    /// Also the versions that only long runs need.
    #[arg(long)]
    full: bool,
    /// Also what clusters on test hosts need.
    #[arg(long)]
    hosts: bool,
    /// Lists what there is and where it would be kept, and builds nothing.
    #[arg(long)]
    list: bool,
}

/// What could not be had, with the reason.
pub(crate) struct Missing {
    /// The component.
    pub(crate) name: String,
    /// Why.
    pub(crate) reason: String,
}

/// Runs the command.
///
/// # Errors
/// When the data file cannot be used.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<ExitCode> {
    let components = Components::read(workspace.root())?;
    if arguments.list {
        list(workspace, &components);
        return Ok(ExitCode::SUCCESS);
    }
    let selection =
        Selection { names: arguments.names.clone(), full: arguments.full, hosts: arguments.hosts };
    selection.check(&components)?;
    let missing = prepare(workspace, &components, &selection)?;
    for Missing { name, reason } in &missing {
        eprintln!("missing: {name}: {reason}");
    }
    Ok(if missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Which components are wanted.
pub(crate) struct Selection {
    /// By name; empty for all.
    pub(crate) names: Vec<String>,
    /// Those of long runs too.
    pub(crate) full: bool,
    /// Those of clusters on test hosts too; whoever names one of these wants it.
    pub(crate) hosts: bool,
}

impl Selection {
    fn wants(&self, name: &str, run: Run) -> bool {
        let named = self.names.iter().any(|wanted| wanted == name);
        let in_run = match run {
            Run::Suite => true,
            Run::Full => self.full,
            Run::Hosts => self.hosts || named,
        };
        in_run && (named || self.names.is_empty())
    }

    pub(crate) fn check(&self, components: &Components) -> Result<()> {
        let mut known: Vec<&str> = components.go.iter().map(|component| component.name.as_str()).collect();
        known.extend(components.pip.iter().map(|component| component.name.as_str()));
        known.extend(components.debian.packages.iter().map(|package| package.name.as_str()));
        known.extend([components.python.program.as_str(), components.node.program.as_str(), "debian"]);
        match self.names.iter().find(|name| !known.contains(&name.as_str())) {
            Some(name) => bail!("{name} is not in upstream/components.toml; known are {}", known.join(", ")),
            None => Ok(()),
        }
    }
}

/// Brings every wanted component into the cache, and gives what could not be had.
///
/// # Errors
/// When the cache cannot be written. A component that does not build is no error here: the rest is
/// still wanted.
pub(crate) fn prepare(
    workspace: &Workspace,
    components: &Components,
    selection: &Selection,
) -> Result<Vec<Missing>> {
    let cache = workspace.upstream();
    fs::create_dir_all(&cache)?;
    let lock = fs::File::create(cache.join(".lock"))?.into_parts().0;
    lock.lock()?;

    let mut manifest = Manifest::default();
    let mut missing = Vec::new();
    let mut attempt = |label: String, build: &mut dyn FnMut() -> Result<Built>| {
        let started = Instant::now();
        match build() {
            Ok(built) => {
                if built.fresh {
                    println!("upstream: {label}: built in {:.1} s", started.elapsed().as_secs_f64());
                }
                // Written each time: an interrupted run keeps what it made.
                if let Err(error) = manifest.add(built.entry, &cache) {
                    missing.push(Missing { name: label, reason: format!("{error:#}") });
                }
            }
            Err(error) => missing.push(Missing { name: label, reason: format!("{error:#}") }),
        }
    };
    for package in &components.debian.packages {
        if selection.wants("debian", package.run) || selection.wants(&package.name, package.run) {
            attempt(format!("Debian package {}", package.name), &mut || debian::install(workspace, package));
        }
    }
    for component in components.go.iter().filter(|component| selection.wants(&component.name, component.run))
    {
        attempt(component.label(), &mut || go::build(workspace, components, component));
    }
    for component in components.pip.iter().filter(|component| selection.wants(&component.name, component.run))
    {
        let label = format!("{} {}", component.name, component.version);
        attempt(label, &mut || install::pip_program(workspace, component));
    }
    if selection.wants(&components.python.program, components.python.run) {
        attempt("Python clients".to_owned(), &mut || install::python(workspace, &components.python));
    }
    if selection.wants(&components.node.program, components.node.run) {
        attempt("JavaScript client".to_owned(), &mut || install::node(workspace, &components.node));
    }
    Ok(missing)
}

/// A component that is there.
pub(crate) struct Built {
    /// What tests look it up by.
    pub(crate) entry: manifest::Entry,
    /// Whether anything was done just now.
    pub(crate) fresh: bool,
}

fn list(workspace: &Workspace, components: &Components) {
    let cache = workspace.upstream();
    for component in &components.go {
        let folder = cache.join(go::folder(component));
        let state = if folder.join(&component.name).is_file() { "kept" } else { "not built" };
        println!("{:24} {:10} {}", component.label(), state, folder.display());
    }
    for component in &components.pip {
        println!("{} {} from the package {}", component.name, component.version, component.package);
    }
    for package in &components.debian.packages {
        println!("Debian package {}", package.name);
    }
}

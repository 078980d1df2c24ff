//! Client libraries and programs from the Python and JavaScript registries.

use std::path::Path;

use anyhow::{Context, Result};
use fs_err as fs;

use super::{Built, manifest::Entry, stamp::Inputs};
use crate::{
    command::{Step, which},
    components::{NodeEnvironment, PipComponent, PythonEnvironment},
    workspace::Workspace,
};

/// Installs a program that a Python package carries.
///
/// # Errors
/// When there is no Python or the package cannot be had.
pub(crate) fn pip_program(workspace: &Workspace, component: &PipComponent) -> Result<Built> {
    let folder = workspace.upstream().join(format!("{}-{}", component.name, component.version));
    let path = folder.join("bin").join(&component.name);
    let entry =
        Entry { name: component.name.clone(), version: component.version.clone(), path: path.clone() };
    let stamp = Inputs::default().text(&component.package).text(&component.version).stamp(&folder);
    if path.is_file() && stamp.is_current() {
        return Ok(Built { entry, fresh: false });
    }
    empty(&folder)?;
    let requirement = format!("{}=={}", component.package, component.version);
    Step::new(format!("pip install {requirement}"), which("python3").context("no python3 is installed")?)
        .arguments([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--disable-pip-version-check",
            "--target",
        ])
        .arguments([folder.as_os_str(), requirement.as_ref()])
        .logged(&workspace.logs().join(format!("pip-{}-{}.log", component.name, component.version)))?;
    stamp.record()?;
    Ok(Built { entry, fresh: true })
}

/// Makes the virtual environment with the pinned client libraries.
///
/// # Errors
/// When there is no Python or a package cannot be had.
pub(crate) fn python(workspace: &Workspace, environment: &PythonEnvironment) -> Result<Built> {
    let requirements = workspace.root().join("upstream").join(&environment.requirements);
    let folder = workspace.upstream().join("python");
    let path = folder.join("bin/python");
    let entry = Entry { name: environment.program.clone(), version: String::new(), path: path.clone() };
    let stamp = Inputs::default().path(&requirements)?.stamp(&folder);
    if path.exists() && stamp.is_current() {
        return Ok(Built { entry, fresh: false });
    }
    println!("upstream: installing the Python clients");
    empty(&folder)?;
    let log = |name: &str| workspace.logs().join(format!("python-{name}.log"));
    Step::new("python3 -m venv", which("python3").context("no python3 is installed")?)
        .arguments(["-m".as_ref(), "venv".as_ref(), folder.as_os_str()])
        .logged(&log("venv"))?;
    Step::new("pip install", &path)
        .arguments(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"])
        .arguments([&requirements])
        .logged(&log("pip"))?;
    stamp.record()?;
    Ok(Built { entry, fresh: true })
}

/// Installs the JavaScript packages of the lock file.
///
/// # Errors
/// When there is no Node.js or a package cannot be had.
pub(crate) fn node(workspace: &Workspace, environment: &NodeEnvironment) -> Result<Built> {
    which("node").context("no Node.js is installed")?;
    let npm = which("npm").context("no npm is installed")?;
    let source = workspace.root().join("upstream").join(&environment.folder);
    let folder = workspace.upstream().join("node");
    let entry = Entry { name: environment.program.clone(), version: String::new(), path: folder.clone() };
    let stamp = Inputs::default().path(&source)?.stamp(&folder);
    if folder.join("node_modules").is_dir() && stamp.is_current() {
        return Ok(Built { entry, fresh: false });
    }
    println!("upstream: installing the JavaScript client");
    empty(&folder)?;
    for file in ["package.json", "package-lock.json"] {
        fs::copy(source.join(file), folder.join(file))?;
    }
    Step::new("npm ci", npm)
        .arguments(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .directory(&folder)
        .logged(&workspace.logs().join("npm.log"))?;
    stamp.record()?;
    Ok(Built { entry, fresh: true })
}

fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(fs::create_dir_all(folder)?)
}

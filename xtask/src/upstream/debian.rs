//! What comes from Debian: installed when this is Debian and we are root, else left out with a reason.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::{Built, manifest::Entry};
use crate::{
    command::{Step, which},
    components::DebianPackage,
    workspace::Workspace,
};

/// Sees to it that the package's command is there.
///
/// # Errors
/// When it is not and cannot be installed.
pub(crate) fn install(workspace: &Workspace, package: &DebianPackage) -> Result<Built> {
    let entry = |path| Entry { name: package.command.clone(), version: String::new(), path };
    if let Some(path) = there(package) {
        return Ok(Built { entry: entry(path), fresh: false });
    }
    if !Path::new("/etc/debian_version").exists() {
        bail!("{} is not installed, and this is not Debian", package.command);
    }
    if Step::new("id", "id").arguments(["-u"]).output()?.trim() != "0" {
        bail!(
            "{} is not installed, and only root can install it: apt-get install {}",
            package.command,
            package.name
        );
    }
    println!("upstream: installing the Debian package {}", package.name);
    let log = workspace.logs().join(format!("debian-{}.log", package.name));
    if !apt(package)?.status(&log)? {
        // The package lists may never have been fetched on a new machine.
        Step::new("apt-get update", "apt-get").arguments(["-q", "update"]).logged(&log)?;
        apt(package)?.logged(&log)?;
    }
    match there(package) {
        Some(path) => Ok(Built { entry: entry(path), fresh: true }),
        None => bail!("the package {} did not bring {}", package.name, package.command),
    }
}

/// Where the command or file is.
fn there(package: &DebianPackage) -> Option<PathBuf> {
    match package.command.starts_with('/') {
        true => Some(PathBuf::from(&package.command)).filter(|path| path.exists()),
        false => which(&package.command),
    }
}

fn apt(package: &DebianPackage) -> Result<Step> {
    Ok(Step::new(format!("apt-get install {}", package.name), "apt-get")
        .arguments(["-q", "-y", "--no-install-recommends", "install", &package.name])
        .environment("DEBIAN_FRONTEND", "noninteractive")
        // A service that comes with a package is not started: tests start what they need themselves.
        .environment("RUNLEVEL", "1"))
}

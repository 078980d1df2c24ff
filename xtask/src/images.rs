//! `cargo xtask images`: images of the real components, as OCI layouts in tar files that
//! `ctr images import` takes. Nothing but coreutils and tar is needed for it.

mod definitions;
mod layout;
mod libraries;

use std::{collections::BTreeMap, path::PathBuf, process::ExitCode, time::Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use fs_err as fs;

use crate::{
    components::Components,
    upstream::{self, Selection},
    workspace::Workspace,
};
use definitions::{Definitions, Image};

/// Which images.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Images by the last part of their name; all when none is named
    names: Vec<String>,
    /// Lists what there is, and makes nothing
    #[arg(long)]
    list: bool,
}

/// Makes what is asked for, and the components in it.
///
/// # Errors
/// When a component cannot be had, or an image not be written.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<ExitCode> {
    let definitions = Definitions::read(workspace.root())?;
    let wanted = definitions.named(&arguments.names)?;
    if arguments.list {
        for image in &wanted {
            let file = file(workspace, image);
            let state = if file.is_file() { "kept" } else { "not made" };
            println!("{:56} {state:10} {}", image.reference(), file.display());
        }
        return Ok(ExitCode::SUCCESS);
    }
    let programs = components(workspace, &wanted)?;
    for image in wanted {
        let started = Instant::now();
        let file = file(workspace, image);
        if make(workspace, image, &programs, &file)? {
            let size = fs::metadata(&file)?.len() / 1_000_000;
            println!(
                "images: {}: {size} MB, made in {:.1} s",
                image.reference(),
                started.elapsed().as_secs_f64()
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Where an image is kept.
fn file(workspace: &Workspace, image: &Image) -> PathBuf {
    workspace.cache().join("images").join(format!("{}-{}.tar", image.short_name(), image.tag))
}

/// Builds the components of these images, and gives the path of each.
fn components(workspace: &Workspace, images: &[&Image]) -> Result<BTreeMap<String, PathBuf>> {
    let programs = images.iter().flat_map(|image| &image.programs);
    let mut names: Vec<String> =
        programs.map(|program| program.from.clone()).filter(|from| !from.starts_with('/')).collect();
    names.sort();
    names.dedup();
    if names.is_empty() {
        return Ok(BTreeMap::new());
    }
    let components = Components::read(workspace.root())?;
    // Programs of the system that are in images too.
    let packages = ["nftables", "iptables"].map(str::to_owned);
    let wanted = names.iter().cloned().chain(packages).collect();
    let selection = Selection { names: wanted, full: false, hosts: true };
    selection.check(&components)?;
    if let Some(missing) = upstream::prepare(workspace, &components, &selection)?.first() {
        bail!("{}: {}", missing.name, missing.reason);
    }
    names
        .into_iter()
        .map(|name| {
            // The first of a name is its default, as in the manifest of components.
            let component = components.go.iter().find(|component| component.name == name);
            let component = component.with_context(|| format!("{name} is not built with Go"))?;
            let path = workspace.upstream().join(upstream::folder(component)).join(&name);
            Ok((name, path))
        })
        .collect()
}

/// Makes an image unless it is there already, and tells whether it was made.
fn make(
    workspace: &Workspace,
    image: &Image,
    programs: &BTreeMap<String, PathBuf>,
    file: &std::path::Path,
) -> Result<bool> {
    let files = libraries::gather(image, programs).with_context(|| image.reference())?;
    let stamp = layout::inputs(image, &files)?;
    let kept = file.with_extension("inputs");
    if file.is_file() && fs::read_to_string(&kept).is_ok_and(|before| before == stamp) {
        return Ok(false);
    }
    let folder = workspace.cache().join("images");
    fs::create_dir_all(&folder)?;
    // Beside the result, so that it can be moved there at once; gone when this ends, also with an error.
    let work = layout::Work::begin(&folder, image.short_name())?;
    layout::write(image, &files, &work, file).with_context(|| image.reference())?;
    fs::write(kept, stamp)?;
    Ok(true)
}

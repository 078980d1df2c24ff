//! Components built with the ordinary Go client.

use std::path::Path;

use anyhow::{Context, Result};
use fs_err as fs;

use super::{Built, manifest::Entry, stamp::Inputs};
use crate::{
    command::{Step, which},
    components::{Components, GoComponent, Kind},
    workspace::Workspace,
};

/// Folder of a component in the cache.
pub(crate) fn folder(component: &GoComponent) -> String {
    format!("{}-{}", component.name, component.version)
}

/// Builds one component, unless it is there already.
///
/// # Errors
/// When there is no Go, or the build fails: the message shows the end of its log.
pub(crate) fn build(
    workspace: &Workspace,
    components: &Components,
    component: &GoComponent,
) -> Result<Built> {
    let go = which("go").context("no Go toolchain is installed")?;
    let module = workspace.root().join("upstream/go").join(&component.module);
    let folder = workspace.upstream().join(folder(component));
    let binary = folder.join(&component.name);
    let ldflags = component.ldflags(&components.stamps);
    let toolchain = Step::new("go env", &go).arguments(["env", "GOVERSION", "GOOS", "GOARCH"]).output()?;
    let stamp = Inputs::default()
        .text(&toolchain)
        .text(&format!("{component:?}"))
        .text(&ldflags)
        .path(&module)?
        .stamp(&folder);
    let entry =
        Entry { name: component.name.clone(), version: component.version.clone(), path: binary.clone() };
    if binary.is_file() && stamp.is_current() {
        return Ok(Built { entry, fresh: false });
    }
    println!("upstream: {}: building {}", component.label(), component.package);
    fs::create_dir_all(&folder)?;
    let unfinished = folder.join(format!(".{}", component.name));
    let verb: &[&str] = match component.kind {
        Kind::Build => &["build"],
        Kind::Test => &["test", "-c"],
    };
    Step::new(component.label(), &go)
        .arguments(verb)
        .arguments(["-trimpath", "-buildvcs=false", "-mod=readonly"])
        .arguments(["-tags", &component.tags.join(",")])
        .arguments(["-ldflags", &ldflags])
        .arguments(["-o".as_ref(), unfinished.as_os_str()])
        .arguments([&component.package])
        .directory(&module)
        .environment("CGO_ENABLED", if component.cgo { "1" } else { "0" })
        .environment("GOTOOLCHAIN", "local")
        .environment("GOWORK", "off")
        .logged(&folder.join("build.log"))?;
    copy_files(&go, &module, component, &folder.join("files"))?;
    fs::rename(&unfinished, &binary)?;
    stamp.record()?;
    Ok(Built { entry, fresh: true })
}

/// Copies folders of the package's module beside the binary.
fn copy_files(go: &Path, module: &Path, component: &GoComponent, to: &Path) -> Result<()> {
    if component.files.is_empty() {
        return Ok(());
    }
    let root = Step::new("go list", go)
        .arguments(["list", "-mod=readonly", "-f", "{{.Module.Dir}}", &component.package])
        .directory(module)
        .environment("GOTOOLCHAIN", "local")
        .environment("GOWORK", "off")
        .output()?;
    for folder in &component.files {
        copy_folder(&Path::new(root.trim()).join(folder), &to.join(folder))?;
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            // By content: files of the module cache are read-only.
            fs::write(target, fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

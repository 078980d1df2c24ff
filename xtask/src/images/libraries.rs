//! Which files an image has: its programs, and the libraries that those are linked with.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use fs_err as fs;

use super::definitions::Image;
use crate::command::{Step, which};

/// What lies at a path of an image.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// A copy of a file of this machine.
    File(PathBuf),
    /// A symbolic link.
    Link(String),
}

/// Everything in an image, by path.
///
/// # Errors
/// When a component or file is not there, or its libraries cannot be found out.
pub(super) fn gather(
    image: &Image,
    programs: &BTreeMap<String, PathBuf>,
) -> Result<BTreeMap<String, Content>> {
    let mut found = BTreeMap::new();
    for program in &image.programs {
        let from = match program.from.starts_with('/') {
            true => PathBuf::from(&program.from),
            false => programs.get(&program.from).cloned().context("a component that was not built")?,
        };
        if !from.is_file() {
            bail!("{} is not there", from.display());
        }
        add_libraries(&from, &mut found)?;
        found.insert(program.to.clone(), Content::File(from));
        for link in &program.links {
            found.insert(link.clone(), Content::Link(program.to.clone()));
        }
    }
    for folder in &image.folders {
        add_folder(Path::new(folder), &mut found)?;
    }
    Ok(found)
}

fn add_folder(folder: &Path, found: &mut BTreeMap<String, Content>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            add_folder(&path, found)?;
        } else {
            add_libraries(&path, found)?;
            found.insert(path.display().to_string(), Content::File(fs::canonicalize(&path)?));
        }
    }
    Ok(())
}

/// The libraries of a program, and the loader. One that is linked statically has none.
fn add_libraries(program: &Path, found: &mut BTreeMap<String, Content>) -> Result<()> {
    let ldd = which("ldd").context("ldd is not installed")?;
    // It fails for what is linked statically, with words that depend on the language.
    let Ok(listed) = Step::new("ldd", ldd).arguments([program]).environment("LC_ALL", "C").output() else {
        return Ok(());
    };
    for path in named_in(&listed) {
        let real = fs::canonicalize(path).with_context(|| format!("a library of {}", program.display()))?;
        found.insert(path.to_owned(), Content::File(real));
    }
    Ok(())
}

/// The paths in what ldd prints: `name => path (address)`, or `path (address)` for the loader.
fn named_in(listed: &str) -> impl Iterator<Item = &str> {
    listed.lines().filter_map(|line| {
        let right = line.split_once("=>").map_or(line, |(_, right)| right).trim();
        right.split_once(" (").map(|(path, _)| path).filter(|path| path.starts_with('/'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_libraries() {
        let listed = "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibnftables.so.1 => /lib/libnftables.so.1 (0x00007f)\n\t\
                      /lib64/ld-linux-x86-64.so.2 (0x00007f)\n\tlibgone.so => not found\n\tstatically linked\n";
        let found: Vec<&str> = named_in(listed).collect();
        assert_eq!(found, ["/lib/libnftables.so.1", "/lib64/ld-linux-x86-64.so.2"]);
    }

    #[test]
    fn a_program_brings_its_libraries_and_links() {
        let image: Image = toml::from_str(
            "name = \"a/b\"\ntag = \"1\"\nprograms = [{ from = \"/bin/sh\", to = \"/sh\", links = [\"/bin/ash\"] }]",
        )
        .unwrap();
        let found = gather(&image, &BTreeMap::new()).unwrap();
        assert_eq!(found["/bin/ash"], Content::Link("/sh".to_owned()));
        assert!(found.keys().any(|path| path.contains("libc.so")), "{found:?}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let image: Image =
            toml::from_str("name = \"a\"\ntag = \"1\"\nprograms = [{ from = \"/none\", to = \"/none\" }]")
                .unwrap();
        assert!(gather(&image, &BTreeMap::new()).unwrap_err().to_string().contains("/none is not there"));
    }
}

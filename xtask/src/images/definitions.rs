//! The data file `upstream/images.toml`.

use std::path::Path;

use anyhow::{Context, Result, bail};
use fs_err as fs;
use serde::Deserialize;

/// Everything in the data file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Definitions {
    image: Vec<Image>,
}

/// One image.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Image {
    /// With registry and path, without the tag.
    pub(super) name: String,
    pub(super) tag: String,
    pub(super) programs: Vec<Program>,
    /// Folders of this machine that lie at the same place in the image.
    #[serde(default)]
    pub(super) folders: Vec<String>,
    #[serde(default)]
    pub(super) entrypoint: Vec<String>,
    /// Who runs it, `user:group` by number; root when empty.
    #[serde(default)]
    pub(super) user: String,
}

/// A program of an image.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Program {
    /// Name of a component, or with slashes a file of this machine.
    pub(super) from: String,
    /// Path in the image.
    pub(super) to: String,
    /// Symbolic links to it.
    #[serde(default)]
    pub(super) links: Vec<String>,
}

impl Definitions {
    /// Reads the data file of the checkout at `root`.
    ///
    /// # Errors
    /// When it cannot be read, or a path in an image is not absolute.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let path = root.join("upstream/images.toml");
        let definitions: Self =
            toml::from_str(&fs::read_to_string(&path)?).with_context(|| path.display().to_string())?;
        for image in &definitions.image {
            let places = image.programs.iter().flat_map(|p| p.links.iter().chain([&p.to]));
            if let Some(place) = places.chain(&image.folders).find(|place| !place.starts_with('/')) {
                bail!("{}: {}: {place} does not begin with a slash", path.display(), image.reference());
            }
        }
        Ok(definitions)
    }

    /// Those named by the last part of their name, or all.
    ///
    /// # Errors
    /// When there is none of a name.
    pub(super) fn named(&self, names: &[String]) -> Result<Vec<&Image>> {
        let known: Vec<&str> = self.image.iter().map(Image::short_name).collect();
        if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
            bail!("there is no image {unknown}; there are {}", known.join(", "));
        }
        let wanted = |image: &&Image| names.is_empty() || names.iter().any(|name| name == image.short_name());
        Ok(self.image.iter().filter(wanted).collect())
    }
}

impl Image {
    /// `name:tag`.
    pub(super) fn reference(&self) -> String {
        format!("{}:{}", self.name, self.tag)
    }

    /// The last part of the name.
    pub(super) fn short_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }
}

//! The names under which definitions of many servers stand in one document.

use std::collections::{HashMap, HashSet};

use super::{identity::Identity, parts::Section};

/// Names given so far.
#[derive(Debug, Default)]
pub(super) struct Names {
    variants: HashMap<(Section, String), Vec<Variant>>,
    used: HashSet<(Section, String)>,
}

#[derive(Debug)]
struct Variant {
    identity: Identity,
    suffix: String,
}

/// The name of a definition in the merged document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Given {
    /// What is appended to its own name; empty for the first of this name.
    pub(super) suffix: String,
    /// Whether it must be written: false when an equal one stands there already.
    pub(super) new: bool,
}

impl Names {
    /// Finds the equal definition, or gives a name that nobody has: `NAME`, then `NAME_v2` and so on,
    /// as upstream. `taken` says which names the server's own document has.
    pub(super) fn give(
        &mut self,
        section: Section,
        name: &str,
        identity: Identity,
        taken: impl Fn(&str) -> bool,
    ) -> Given {
        let variants = self.variants.entry((section, name.to_owned())).or_default();
        if let Some(variant) = variants.iter().find(|variant| variant.identity == identity) {
            return Given { suffix: variant.suffix.clone(), new: false };
        }
        let mut suffix = String::new();
        let mut number = variants.len().max(1);
        loop {
            let candidate = format!("{name}{suffix}");
            let free = suffix.is_empty() || !taken(&candidate);
            if free && self.used.insert((section, candidate)) {
                break;
            }
            number += 1;
            suffix = format!("_v{number}");
        }
        variants.push(Variant { identity, suffix: suffix.clone() });
        Given { suffix, new: true }
    }
}

//! One mistake: where it is, what stands there, why it is wrong, and what to write instead.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// Which of the two files a mistake is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Source {
    /// The cluster object.
    Object,
    /// The inventory beside it.
    Inventory,
}

/// What kind of rule is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Rule {
    /// The text is neither JSON nor YAML, or has a key twice.
    Syntax,
    /// A key is unknown or missing, a value has the wrong type or is none of those allowed. The
    /// published schema says the same.
    Shape,
    /// The value does not follow its grammar. The published schema says the same.
    Format,
    /// Each value is well-formed, but they do not fit together or to this version.
    Meaning,
    /// Well understood, and not supported yet.
    Later,
}

/// A mistake.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The file.
    pub source: Source,
    /// JSON pointer (RFC 6901) of what is wrong; that of a missing key when one is missing.
    pub pointer: String,
    /// Line in the file, from 1.
    pub line: Option<usize>,
    /// What stands there; none when something is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The kind of rule.
    pub rule: Rule,
    /// Why it is wrong.
    pub reason: String,
    /// What to do.
    pub fix: String,
}

/// Longest value that is repeated in a message, in characters.
const MAX_VALUE: usize = 80;

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = if self.pointer.is_empty() { "(the whole file)" } else { &self.pointer };
        write!(f, "{pointer}: ")?;
        if let Some(value) = &self.value {
            let text = value.to_string();
            match text.char_indices().nth(MAX_VALUE) {
                Some((end, _)) => write!(f, "{}...: ", &text[..end])?,
                None => write!(f, "{text}: ")?,
            }
        }
        write!(f, "{}\n  fix: {}", self.reason, self.fix)
    }
}

/// Words of other tools, and ours for the same thing.
const SYNONYMS: [(&str, &str); 14] = [
    ("master", "control-plane"),
    ("controlplane", "control-plane"),
    ("controller", "control-plane"),
    ("worker", "node"),
    ("podcidr", "pods"),
    ("podsubnet", "pods"),
    ("servicecidr", "services"),
    ("servicesubnet", "services"),
    ("cni", "plugin"),
    ("ip", "address"),
    ("nodes", "hosts"),
    ("controlplaneendpoint", "endpoint"),
    ("certsans", "extraNames"),
    ("featuregates", "extraArgs"),
];

/// The candidate that was probably meant.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let ours = SYNONYMS.iter().find(|(theirs, _)| *theirs == word).map(|(_, ours)| *ours);
    if let Some(same) = candidates.iter().find(|candidate| Some(**candidate) == ours) {
        return Some(same);
    }
    let scored = candidates.into_iter().map(|candidate| {
        let distance = strsim::damerau_levenshtein(&word, &candidate.to_lowercase());
        (distance, candidate)
    });
    let limit = (word.chars().count() / 3).clamp(1, 4);
    scored.filter(|(distance, _)| *distance <= limit).min_by_key(|(distance, _)| *distance).map(|(_, c)| c)
}

/// What to do about a word that is none of the known ones.
pub(crate) fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
    otherwise: &str,
) -> String {
    match nearest(word, candidates.clone()) {
        Some(candidate) => format!("did you mean \"{candidate}\"?"),
        None => {
            let all: Vec<&str> = candidates.into_iter().collect();
            format!("{otherwise}: {}", all.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let keys = ["name", "network", "kubernetes", "hosts"];
        for (word, meant) in [
            ("nmae", Some("name")),
            ("Hosts", Some("hosts")),
            ("kubernets", Some("kubernetes")),
            ("networking", Some("network")),
            ("zebra", None),
            ("nodes", Some("hosts")),
        ] {
            assert_eq!(nearest(word, keys), meant, "{word}");
        }
    }
}

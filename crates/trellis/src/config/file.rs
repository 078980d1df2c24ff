//! Reading a configuration file: one document, YAML or JSON (which is YAML), no unknown keys.

use std::path::{Path, PathBuf};

use serde_saphyr::Error;

use super::{API_VERSION, ServeOptions};
use crate::exit::{Code, Outcome, Problem};

/// Reads `path`. Relative paths in it are relative to its folder.
pub(crate) fn read(path: &Path) -> Outcome<ServeOptions> {
    let wrong = |what: &dyn std::fmt::Display| {
        Problem::new(Code::Input, format!("cannot use the configuration file {}{what}", path.display()))
    };
    let bytes = pki::read_limited(path).map_err(|error| {
        wrong(&format!(": {error}")).next("correct the path or the permissions of the file")
    })?;
    let text = String::from_utf8(bytes)
        .map_err(|_| wrong(&": it is no text").next("give a file in YAML or JSON, in UTF-8"))?;
    let mut options = parse(&text).map_err(|fault| {
        let place = fault.line.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
        let problem = wrong(&format!("{place}: {}", fault.what));
        match fault.next {
            Some(next) => problem.next(next),
            None => problem.next("`trellis config schema` prints what a configuration file may contain"),
        }
    })?;
    options.resolve_paths(path.parent().unwrap_or(Path::new("")));
    Ok(options)
}

/// What is wrong with a document, and where.
struct Fault {
    line: Option<(u64, u64)>,
    what: String,
    next: Option<String>,
}

fn parse(text: &str) -> Result<ServeOptions, Fault> {
    let options: ServeOptions =
        serde_saphyr::from_str(text).map_err(|error| describe(error.without_snippet()))?;
    let expect = |key: &str, given: &Option<String>, expected: &str| match given {
        Some(given) if given == expected => Ok(()),
        Some(given) => Err(format!("`{key}` is `{given}`, and only `{expected}` is known")),
        None => Err(format!("`{key}` is missing")),
    };
    expect("apiVersion", &options.api_version, API_VERSION)
        .and_then(|()| expect("kind", &options.kind, "Door"))
        .map_err(|what| Fault {
            line: None,
            what,
            next: Some(format!("begin the file with `apiVersion: {API_VERSION}` and `kind: Door`")),
        })?;
    Ok(options)
}

fn describe(error: &Error) -> Fault {
    let line = error.location().map(|place| (place.line(), place.column()));
    let (what, next) = match error {
        Error::SerdeUnknownField { field, expected, .. } => {
            (format!("there is no key `{field}`"), suggest(field, expected))
        }
        Error::SerdeUnknownVariant { variant, expected, .. } => {
            (format!("`{variant}` is none of {}", expected.join(", ")), suggest(variant, expected))
        }
        Error::DuplicateMappingKey { key, .. } => {
            (format!("the key `{}` is there twice", key.as_deref().unwrap_or("?")), None)
        }
        other => (plain(&other.to_string()), None),
    };
    Fault { line, what, next }
}

/// The first line of a message in plain words, without the place, which is told in front of it.
fn plain(message: &str) -> String {
    let line = message.lines().next().unwrap_or(message);
    match line.split(" at line ").next().unwrap_or(line).trim_start_matches("error: ") {
        "expected string scalar" => "a text should stand here".to_owned(),
        "invalid u64" | "invalid usize" => "a whole number should stand here".to_owned(),
        "invalid bool" | "invalid boolean" => "true or false should stand here".to_owned(),
        other => other.to_owned(),
    }
}

/// The nearest of `known` when it is near enough to be meant.
fn suggest(given: &str, known: &[&'static str]) -> Option<String> {
    let given = given.replace(['-', '_'], "").to_lowercase();
    known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&given, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4)
        .min()
        .map(|(_, name)| format!("did you mean `{name}`?"))
}

impl ServeOptions {
    fn resolve_paths(&mut self, folder: &Path) {
        let paths = [
            &mut self.state,
            &mut self.registrations,
            &mut self.core,
            &mut self.tls_cert,
            &mut self.tls_key,
            &mut self.proxy_client_cert,
            &mut self.proxy_client_key,
            &mut self.client_ca,
            &mut self.token_file,
            &mut self.requestheader_client_ca,
            &mut self.audit_log,
        ];
        for path in paths.into_iter().flatten() {
            if path.as_os_str() != "-" {
                // A joined absolute path stays what it is.
                *path = folder.join(&*path) as PathBuf;
            }
        }
    }
}

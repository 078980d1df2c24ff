//! Options of create, update and patch.

use http::{HeaderMap, header};
use kube_wire::Status;

use super::{flag, invalid_options, parameter, parameters};
use crate::{
    decode::FieldValidation,
    validation::{FieldError, Path},
};

/// Longest name of a field manager.
const MAX_MANAGER: usize = 128;

/// How to write.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// Whether nothing is kept.
    pub dry_run: bool,
    /// What to do about unknown and duplicate fields.
    pub field_validation: FieldValidation,
    /// As sent; empty when the client says nothing.
    pub field_manager: String,
    /// Whether an apply takes fields from others; none: not said.
    pub force: Option<bool>,
}

impl WriteOptions {
    /// Reads the options; `kind` is that of the options, for example `CreateOptions`.
    ///
    /// # Errors
    /// 422 in upstream's words.
    pub fn read(query: &str, kind: &str) -> Result<Self, Status> {
        Self::checked(query, kind, Vec::new())
    }

    /// Reads the options of a patch.
    ///
    /// # Errors
    /// 422 in upstream's words.
    pub fn read_patch(query: &str, apply: bool) -> Result<Self, Status> {
        let mut errors = Vec::new();
        if apply && parameter(query, "fieldManager").is_none() {
            errors.push(FieldError::required(&Path::new("fieldManager"), "is required for apply patch"));
        }
        if !apply && flag(query, "force").is_some() {
            let detail = "may not be specified for non-apply patch";
            errors.push(FieldError::forbidden(&Path::new("force"), detail));
        }
        Self::checked(query, "PatchOptions", errors)
    }

    fn checked(query: &str, kind: &str, mut errors: Vec<FieldError>) -> Result<Self, Status> {
        let manager = parameter(query, "fieldManager").unwrap_or_default();
        errors.extend(manager_mistakes(&manager));
        let dry_run = parameters(query, "dryRun");
        errors.extend(dry_run_mistakes(&dry_run));
        let validation = parameter(query, "fieldValidation").unwrap_or_default();
        let field_validation = match &*validation {
            "" | "Warn" => FieldValidation::Warn,
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            other => {
                let known = ["", "Ignore", "Strict", "Warn"];
                errors.push(FieldError::not_supported(&Path::new("fieldValidation"), other, &known));
                FieldValidation::Warn
            }
        };
        invalid_options(kind, &errors)?;
        let force = flag(query, "force");
        Ok(Self { dry_run: !dry_run.is_empty(), field_validation, field_manager: manager, force })
    }

    /// Who writes, for the managed fields: what the client says, or what its user agent begins with.
    pub fn manager(&self, headers: &HeaderMap) -> String {
        if !self.field_manager.is_empty() {
            return self.field_manager.clone();
        }
        let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
        crate::apply::manager_from_user_agent(agent)
    }
}

fn manager_mistakes(manager: &str) -> Vec<FieldError> {
    let field = Path::new("fieldManager");
    let mut errors = Vec::new();
    if manager.len() > MAX_MANAGER {
        errors.push(FieldError::too_long(&field, MAX_MANAGER));
    }
    for (at, strange) in manager.char_indices().filter(|(_, c)| c.is_control()) {
        let detail = format!("invalid character U+{:04X} (at position {at})", u32::from(strange));
        errors.push(FieldError::invalid(&field, manager, detail));
    }
    errors
}

pub(super) fn dry_run_mistakes(dry_run: &[String]) -> Option<FieldError> {
    let strange = dry_run.iter().any(|word| word != "All");
    strange.then(|| FieldError::not_supported(&Path::new("dryRun"), dry_run, &["All"]))
}

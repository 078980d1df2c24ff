//! `trellis cluster validate`.

use serde_json::{Value, json};

use super::object::Files;
use crate::{
    args::{ClusterValidateArgs, DocumentAs},
    commands::print,
    exit::{Code, Outcome, Problem},
    output,
};

/// Says everything that is wrong.
pub(super) fn run(args: &ClusterValidateArgs) -> Outcome {
    let files = Files::read(&args.file)?;
    let result = files.check();
    let Some(format) = args.output else {
        return match result {
            Ok(_) => print(&format!("{}: good\n", args.file.display())),
            Err(findings) => Err(files.tell(&findings)),
        };
    };
    let findings = result.err().unwrap_or_default();
    let listed: Vec<Value> = findings
        .iter()
        .map(|finding| {
            let mut value = json!(finding);
            value["file"] = json!(files.file(finding.source).display().to_string());
            value
        })
        .collect();
    let report = json!({"valid": findings.is_empty(), "findings": listed});
    print(&match format {
        DocumentAs::Json => output::json(&report),
        DocumentAs::Yaml => output::yaml(&report),
    })?;
    if findings.is_empty() {
        return Ok(());
    }
    let what = format!("{}: {} wrong", args.file.display(), findings.len());
    Err(Problem::new(Code::Input, what).next("correct what is listed"))
}

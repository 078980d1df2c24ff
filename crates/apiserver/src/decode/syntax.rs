//! What is wrong with a JSON text, in the words of Go's reader.

use serde_json::{Value, error::Category};

/// What Go calls the type of a JSON value.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The error as Go would say it.
pub(super) fn in_go_words(body: &[u8], error: &serde_json::Error) -> String {
    if error.classify() == Category::Eof {
        return "unexpected end of JSON input".to_owned();
    }
    let text = error.to_string();
    const CONTEXTS: [(&str, &str); 9] = [
        ("expected value", "looking for beginning of value"),
        ("expected ident", "looking for beginning of value"),
        ("expected `:`", "after object key"),
        ("expected `,` or `}`", "after object key:value pair"),
        ("expected `,` or `]`", "after array element"),
        ("key must be a string", "looking for beginning of object key string"),
        ("trailing comma", "looking for beginning of object key string"),
        ("trailing characters", "after top-level value"),
        ("control character", "in string literal"),
    ];
    let context = CONTEXTS.iter().find(|(ours, _)| text.starts_with(ours)).map(|(_, theirs)| *theirs);
    match (context, character(body, error.line(), error.column())) {
        (Some(context), Some(character)) => format!("invalid character {} {context}", quoted(character)),
        _ if text.starts_with("recursion limit") => "exceeded max depth".to_owned(),
        _ => text,
    }
}

/// The character at a line and a column, both counted from one; columns count bytes.
fn character(body: &[u8], line: usize, column: usize) -> Option<char> {
    let line = body.split(|byte| *byte == b'\n').nth(line.checked_sub(1)?)?;
    let rest = line.get(column.checked_sub(1)?..)?;
    String::from_utf8_lossy(&rest[..rest.len().min(4)]).chars().next()
}

fn quoted(character: char) -> String {
    match character {
        '\'' => r"'\''".to_owned(),
        '"' => "'\"'".to_owned(),
        other => format!("'{}'", other.escape_default()),
    }
}

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
pub(crate) fn in_go_words(body: &[u8], error: &serde_json::Error) -> String {
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
    let place = (error.line(), error.column());
    if text.starts_with("expected ident")
        && let Some(sentence) = literal(body, place)
    {
        return sentence;
    }
    match (context, character(body, place)) {
        (Some(context), Some(character)) => format!("invalid character {} {context}", quoted(character)),
        _ if text.starts_with("recursion limit") => "exceeded max depth".to_owned(),
        _ => text,
    }
}

/// The character at a line and a column, both counted from one; columns count bytes.
fn character(body: &[u8], (line, column): (usize, usize)) -> Option<char> {
    let line = body.split(|byte| *byte == b'\n').nth(line.checked_sub(1)?)?;
    // Go shows the byte, whatever character it belongs to.
    line.get(column.checked_sub(1)?).map(|byte| char::from(*byte))
}

/// The sentence for a word that begins as `null`, `true` or `false` and goes on otherwise.
fn literal(body: &[u8], place: (usize, usize)) -> Option<String> {
    let (line, column) = place;
    let line = body.split(|byte| *byte == b'\n').nth(line.checked_sub(1)?)?;
    let before = line.get(..column.checked_sub(1)?)?;
    let wrong = character(body, place)?;
    ["null", "true", "false"].into_iter().find_map(|word| {
        let known = (1..word.len()).rev().find(|len| before.ends_with(&word.as_bytes()[..*len]))?;
        let expected = char::from(word.as_bytes()[known]);
        Some(format!("invalid character {} in literal {word} (expecting '{expected}')", quoted(wrong)))
    })
}

fn quoted(character: char) -> String {
    match character {
        '\'' => r"'\''".to_owned(),
        '"' => "'\"'".to_owned(),
        '\n' | '\r' | '\t' | '\\' => format!("'{}'", character.escape_default()),
        other if other.is_control() => format!("'\\u{:04x}'", u32::from(other)),
        other => format!("'{other}'"),
    }
}

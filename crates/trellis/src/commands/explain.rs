//! `trellis explain`.

use std::fmt::Write as _;

use http::{Method, StatusCode};
use serde_json::Value;

use super::print;
use crate::{
    args::{ExplainArgs, ExplainWhat, PrintAs},
    door::Door,
    exit::{Code, Outcome, Problem},
    output,
};

/// Explains what was asked for.
pub(super) async fn run(args: ExplainArgs) -> Outcome {
    let ExplainWhat::Route { method, path, output, door } = args.what;
    if !path.starts_with('/') {
        return Err(Problem::new(Code::Usage, format!("the path `{path}` does not begin with a slash"))
            .next("write it as clients send it, for instance /apis/example.trellis.dev/v1/notes"));
    }
    let door = Door::find(&door).await?;
    let question = format!("/debug/route?method={}&path={}", escaped(&method), escaped(&path));
    let answer = door.send(Method::GET, &question, None, None).await?;
    if answer.code == StatusCode::NOT_FOUND || answer.code.is_success() && answer.body["kind"] != "Route" {
        return Err(Problem::new(
            Code::NotFound,
            format!("{} is no Trellis door: it explains no routes", door.url()),
        )
        .next("point --kubeconfig at the door"));
    }
    if !answer.code.is_success() {
        return Err(door.refused(&answer));
    }
    print(&match output {
        Some(PrintAs::Json) => output::json(&answer.body),
        Some(PrintAs::Yaml) => output::yaml(&answer.body),
        Some(PrintAs::Wide) | None => text(&answer.body),
    })
}

/// A query value with everything escaped that is not plainly harmless.
fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |mut escaped, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                escaped.push(char::from(byte));
            }
            _ => {
                let _ = write!(escaped, "%{byte:02X}");
            }
        }
        escaped
    })
}

fn text(route: &Value) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<12}{value}");
    };
    line("request", &request(&route["request"]));
    let server = &route["server"];
    match server["name"].as_str() {
        Some(name) => line("answered by", &format!("{name} ({})", source(server))),
        None => line("answered by", "nobody behind the door"),
    }
    line("because", string(&route["reason"]));
    line("user", &user(&route["user"]));
    if server.is_object() {
        line("available", &available(&server["available"]));
        line("endpoints", &strings(&server["endpoints"]));
        line("identity", &identity(server));
        let sent = &route["sent"];
        line("sent", &format!("{} {}", string(&sent["method"]), string(&sent["path"])));
        for header in sent["headers"].as_array().into_iter().flatten() {
            line("", &format!("{}: {}", string(&header["name"]), string(&header["value"])));
        }
    }
    text
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn strings(value: &Value) -> String {
    let all: Vec<&str> = value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if all.is_empty() { "<none>".to_owned() } else { all.join(", ") }
}

/// The request, and what it means when it is about a resource.
fn request(request: &Value) -> String {
    let line = format!("{} {}", string(&request["method"]), string(&request["path"]));
    if request["resource"] != true {
        return line;
    }
    let mut meaning = format!("{} {}", string(&request["verb"]), string(&request["resourceName"]));
    for (field, before) in [("subresource", "/"), ("name", " "), ("namespace", " in namespace ")] {
        match string(&request[field]) {
            "" => {}
            value => {
                let _ = write!(meaning, "{before}{value}");
            }
        }
    }
    if request["longRunning"] == true {
        meaning.push_str(", for as long as it likes");
    }
    format!("{line} ({meaning})")
}

fn source(server: &Value) -> &str {
    match (string(&server["source"]), string(&server["role"])) {
        ("", role) => role,
        (source, _) => source,
    }
}

fn user(user: &Value) -> String {
    format!("{} of {}", string(&user["username"]), strings(&user["groups"]))
}

fn available(available: &Value) -> String {
    match available["status"].as_bool() {
        Some(true) => "yes".to_owned(),
        Some(false) => format!("no: {}: {}", string(&available["reason"]), string(&available["message"])),
        None => "not known yet".to_owned(),
    }
}

fn identity(server: &Value) -> String {
    let how = match string(&server["identity"]) {
        "requestHeader" => "requestHeader: the door says who the user is in X-Remote-* headers",
        "impersonate" => "impersonate: the door acts as the user in Impersonate-* headers",
        "passThrough" => "passThrough: the user's own token is passed on",
        other => other,
    };
    match server["clientCertificate"] == true {
        true => format!("{how}, and shows a client certificate"),
        false => how.to_owned(),
    }
}

//! How registrations are printed.

use kube_wire::table::TableColumnDefinition;
use serde_json::{Value, json};

use crate::{
    clock,
    object::{Resource, text},
};

/// The columns of a kind.
pub(super) fn definitions(resource: Resource) -> Vec<TableColumnDefinition> {
    let column = TableColumnDefinition::new;
    let name = column("Name", "string", "Name of the registration.").with_format("name");
    let available = column("Available", "string", "Whether the server answers, and if not, why.");
    let age = column("Age", "string", "Time since the registration was made.");
    match resource {
        Resource::ApiServer => vec![
            name,
            column("Server", "string", "URL, endpoints or Service of the server."),
            available,
            column("Groups", "string", "API groups that the server serves through the door."),
            age,
            column("Identity", "string", "How the caller's identity reaches the server.").wide(),
            column("Endpoints", "string", "Endpoints that answer, of all.").wide(),
            column("Conflict", "string", "Whether another server claims one of its groups.").wide(),
            column("Last Discovery", "string", "When its discovery last changed.").wide(),
        ],
        Resource::ApiService => vec![
            name,
            column("Service", "string", "The reference to the service that hosts this API endpoint."),
            available,
            age,
        ],
    }
}

/// The cells of an object, in the order of the columns.
pub(super) fn cells(resource: Resource, object: &Value) -> Vec<Value> {
    let name = json!(text(object, "/metadata/name").unwrap_or_default());
    let age = json!(age(text(object, "/metadata/creationTimestamp")));
    match resource {
        Resource::ApiServer => vec![
            name,
            json!(server(object)),
            json!(condition(object, "Available")),
            json!(groups(object)),
            age,
            json!(text(object, "/spec/identity").unwrap_or("requestHeader")),
            json!(endpoints(object)),
            json!(condition(object, "Conflict")),
            json!(self::age(text(object, "/status/lastDiscovery"))),
        ],
        Resource::ApiService => {
            let service = match (text(object, "/spec/service/namespace"), text(object, "/spec/service/name"))
            {
                (Some(namespace), Some(name)) => format!("{namespace}/{name}"),
                _ => "Local".to_owned(),
            };
            vec![name, json!(service), json!(condition(object, "Available")), age]
        }
    }
}

fn server(object: &Value) -> String {
    if let Some(url) = text(object, "/spec/url") {
        return url.to_owned();
    }
    if let Some(endpoints) = object.pointer("/spec/endpoints").and_then(Value::as_array) {
        return endpoints.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(",");
    }
    let part = |pointer| text(object, pointer).unwrap_or("?");
    format!("{}/{}", part("/spec/service/namespace"), part("/spec/service/name"))
}

/// `True`, or `False (Reason)`.
fn condition(object: &Value, kind: &str) -> String {
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
    let found = conditions.into_iter().flatten().find(|c| text(c, "/type") == Some(kind));
    let status = found.and_then(|c| text(c, "/status")).unwrap_or("Unknown");
    match found.and_then(|c| text(c, "/reason")) {
        Some(reason) if kind == "Available" && status != "True" => format!("{status} ({reason})"),
        _ => status.to_owned(),
    }
}

/// Group names without versions.
fn groups(object: &Value) -> String {
    let served = object.pointer("/status/groups").and_then(Value::as_array);
    let mut names: Vec<&str> = served
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|served| served.split('/').next().unwrap_or(served))
        .collect();
    names.dedup();
    if names.is_empty() { "<none>".to_owned() } else { names.join(",") }
}

fn endpoints(object: &Value) -> String {
    let endpoints = object.pointer("/status/endpoints").and_then(Value::as_array);
    let all = endpoints.map_or(0, Vec::len);
    let healthy = |e: &&Value| text(e, "/health") == Some("Healthy");
    let well = endpoints.map_or(0, |endpoints| endpoints.iter().filter(healthy).count());
    format!("{well}/{all}")
}

/// Time since `timestamp`, in the short form of kubectl.
fn age(timestamp: Option<&str>) -> String {
    match timestamp.and_then(clock::parse) {
        Some(then) => human(clock::now() - then),
        None => "<unknown>".to_owned(),
    }
}

/// A duration with two units at most.
fn human(seconds: i64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let two = |big: i64, unit: &str, small: i64, small_unit: &str| match small {
        0 => format!("{big}{unit}"),
        small => format!("{big}{unit}{small}{small_unit}"),
    };
    match seconds {
        ..0 => "<invalid>".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => two(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(days, "d", hours % 24, "h"),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => two(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn ages_read_as_kubectl_writes_them() {
        let cases =
            [(-1, "<invalid>"), (0, "0s"), (119, "119s"), (150, "2m30s"), (600, "10m"), (10_800, "3h")];
        let more =
            [(12_000, "3h20m"), (90_000, "25h"), (180_000, "2d2h"), (864_000, "10d"), (70_000_000, "2y80d")];
        for (seconds, text) in cases.into_iter().chain(more) {
            assert_eq!(super::human(seconds), text);
        }
    }
}

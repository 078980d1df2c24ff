//! The rules of upstream's request-info resolver.

use std::borrow::Cow;

use super::{RequestInfo, RequestInfoError};
use crate::{
    query,
    selector::{FieldSelector, LabelSelector},
};

/// Enough for `apis/G/V/watch/namespaces/N/R/NAME/SUBRESOURCE`; later segments carry no attribute.
const MAX_SEGMENTS: usize = 12;

pub(super) fn parse<'a>(
    method: &'a str,
    path: &'a str,
    query: &'a str,
) -> Result<RequestInfo<'a>, RequestInfoError> {
    match query::decode_path(path).ok_or(RequestInfoError::Escape)? {
        Cow::Borrowed(path) => resolve(method, path, query),
        // Escapes are rare: the attributes then belong to the decoded copy and are copied out of it.
        Cow::Owned(decoded) => resolve(method, &decoded, query).map(detach),
    }
}

fn resolve<'p, 'q: 'p>(
    method: &'q str,
    path: &'p str,
    query: &'q str,
) -> Result<RequestInfo<'p>, RequestInfoError> {
    let mut info = RequestInfo { verb: lower(method), path: path.into(), ..RequestInfo::default() };
    let mut buffer = [""; MAX_SEGMENTS];
    let segments = segments(path, &mut buffer);
    if let [prefix @ ("api" | "apis"), _, _, ..] = segments {
        info.api_prefix = (*prefix).into();
    }
    let (group, version, mut parts) = match segments {
        ["api", version, parts @ ..] if !parts.is_empty() => ("", *version, parts),
        ["apis", group, version, parts @ ..] if !parts.is_empty() => (*group, *version, parts),
        _ => return Ok(info),
    };
    info.is_resource = true;
    (info.group, info.version) = (group.into(), version.into());

    let special = matches!(parts[0], "proxy" | "watch");
    if special {
        if parts.len() < 2 {
            return Err(RequestInfoError::SpecialVerb(path.to_owned()));
        }
        info.verb = parts[0].into();
        parts = &parts[1..];
    } else {
        info.verb = verb_of(method).into();
    }
    parts = namespace(&mut info, parts);
    object(&mut info, parts);
    collection_verbs(&mut info, query);
    if !special && matches!(&*info.verb, "list" | "watch" | "deletecollection") {
        info.field_selector = query::first(query, "fieldSelector").unwrap_or_default();
        info.label_selector = query::first(query, "labelSelector").unwrap_or_default();
    }
    Ok(info)
}

fn segments<'p, 'b>(path: &'p str, buffer: &'b mut [&'p str; MAX_SEGMENTS]) -> &'b [&'p str] {
    let mut count = 0;
    for (slot, segment) in buffer.iter_mut().zip(path.trim_matches('/').split('/')) {
        *slot = segment;
        count += 1;
    }
    &buffer[..count]
}

fn verb_of(method: &str) -> &'static str {
    match method {
        "POST" => "create",
        "GET" | "HEAD" => "get",
        "PUT" => "update",
        "PATCH" => "patch",
        "DELETE" => "delete",
        _ => "",
    }
}

/// Takes `namespaces/N` off, unless the namespace itself or its `status` or `finalize` is meant.
fn namespace<'p, 'b>(info: &mut RequestInfo<'p>, parts: &'b [&'p str]) -> &'b [&'p str] {
    match parts {
        ["namespaces", namespace, rest @ ..] => {
            info.namespace = (*namespace).into();
            match rest {
                [] | ["status" | "finalize", ..] => parts,
                _ => rest,
            }
        }
        _ => parts,
    }
}

fn object<'p>(info: &mut RequestInfo<'p>, parts: &[&'p str]) {
    let mut parts = parts.iter();
    let mut next = || parts.next().copied().unwrap_or_default().into();
    info.resource = next();
    info.name = next();
    if info.verb != "proxy" {
        info.subresource = next();
    }
}

/// Without a name, `get` is `list` or `watch`, and `delete` is `deletecollection`.
fn collection_verbs<'p, 'q: 'p>(info: &mut RequestInfo<'p>, query: &'q str) {
    if !info.name.is_empty() {
        return;
    }
    match &*info.verb {
        "get" => {
            info.verb = if query::flag(query, "watch") { "watch" } else { "list" }.into();
            if let Some(name) = selected_name(query) {
                info.name = name.into();
            }
        }
        "delete" => info.verb = "deletecollection".into(),
        _ => {}
    }
}

/// The name that a field selector pins down. Options that do not parse make upstream ignore all of them.
fn selected_name(query: &str) -> Option<String> {
    let selector = query::first(query, "fieldSelector")?;
    let selector: FieldSelector = selector.parse().ok()?;
    let name = selector.required("metadata.name")?;
    let readable = |key: &str| query::first(query, key).is_none_or(|value| value.parse::<i64>().is_ok());
    let usable = !matches!(name, "" | "." | "..") && !name.contains(['/', '%']);
    let labels =
        query::first(query, "labelSelector").is_none_or(|text| text.parse::<LabelSelector>().is_ok());
    (usable && labels && readable("limit") && readable("timeoutSeconds")).then(|| name.to_owned())
}

fn lower(method: &str) -> Cow<'_, str> {
    match method {
        "GET" => "get".into(),
        "POST" => "post".into(),
        "PUT" => "put".into(),
        "PATCH" => "patch".into(),
        "DELETE" => "delete".into(),
        "HEAD" => "head".into(),
        "OPTIONS" => "options".into(),
        other => other.to_lowercase().into(),
    }
}

fn detach(info: RequestInfo<'_>) -> RequestInfo<'static> {
    let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
    RequestInfo {
        is_resource: info.is_resource,
        verb: own(info.verb),
        api_prefix: own(info.api_prefix),
        group: own(info.group),
        version: own(info.version),
        namespace: own(info.namespace),
        resource: own(info.resource),
        subresource: own(info.subresource),
        name: own(info.name),
        path: own(info.path),
        label_selector: own(info.label_selector),
        field_selector: own(info.field_selector),
    }
}

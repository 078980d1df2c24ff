//! The `scale` subresource, as `autoscaling/v1`.

use kube_wire::Status;
use serde_json::{Map, Value, json};

use super::{Asked, Incoming, Service, respond, respond::Outcome, write::check_name};
use crate::{
    answer::Wish,
    decode,
    engine::{Change, unreadable},
    object::{Stored, edit_metadata, metadata, text},
    options::WriteOptions,
    resource::{Definition, Fields, Scale, at_path},
    storage::Item,
    validation::{FieldError, Path, invalid},
};

const API_VERSION: &str = "autoscaling/v1";
const KIND: &str = "Scale";

impl Service {
    pub(super) async fn get_scale(&self, asked: &Asked<'_>) -> Outcome {
        let wish = Wish::negotiate(&asked.head.headers, asked.query)?;
        let item = self.engine.get(&asked.call("")).await?;
        let scale = of_item(asked, &item)?;
        Ok(respond::object(200, serde_json::to_vec(&scale).unwrap_or_default().into(), wish.encoding))
    }

    pub(super) async fn update_scale(
        &self,
        asked: &Asked<'_>,
        body: Incoming,
        warnings: &mut Vec<String>,
    ) -> Outcome {
        let wish = Wish::negotiate(&asked.head.headers, asked.query)?;
        let (syntax, bytes) = self.read_body(asked, body).await?;
        let options = WriteOptions::read(asked.query, "UpdateOptions")?;
        let own = scale_definition();
        let version = own.stored_version();
        let decoded = decode::object(&own, version, syntax, options.field_validation, &bytes)?;
        warnings.extend(decoded.warnings);
        check_name(&asked.info.name, &asked.info.namespace, &decoded.object)?;
        self.write_scale(asked, &decoded.object, &options, wish, warnings).await
    }

    pub(super) async fn write_scale(
        &self,
        asked: &Asked<'_>,
        wanted: &Fields,
        options: &WriteOptions,
        wish: Wish,
        warnings: &mut Vec<String>,
    ) -> Outcome {
        let Some(paths) = &asked.definition().scale else { return Err(respond::no_such_resource()) };
        let replicas = at_path(wanted, "spec.replicas").and_then(Value::as_i64).unwrap_or_default();
        if replicas < 0 {
            let field = Path::new(&format!(".{}", paths.spec_replicas));
            let error = FieldError::invalid(&field, replicas, "should be a non-negative integer");
            let (kind, group) = (&asked.definition().names.kind, &asked.definition().group);
            return Err(invalid(kind, group, &asked.info.name, &[error]));
        }
        let version = text(wanted, "metadata.resourceVersion").to_owned();
        let manager = options.manager(&asked.head.headers);
        let change = Change {
            compute: Box::new(|old| {
                let mut fields = old.map(|old| old.fields.clone()).unwrap_or_default();
                set_path(&mut fields, &paths.spec_replicas, replicas.into());
                if !version.is_empty() {
                    let version = Value::from(&*version);
                    edit_metadata(&mut fields, |metadata| {
                        metadata.insert("resourceVersion".to_owned(), version)
                    });
                }
                Ok(fields)
            }),
            may_create: false,
            dry_run: options.dry_run,
        };
        let mut call = asked.call(&manager);
        call.any_version = true;
        let updated = self.engine.update(&call, change, warnings).await?;
        scale_answer(asked, &updated.object, wish)
    }
}

/// The scale of what lies in the store.
pub(super) fn of_item(asked: &Asked<'_>, item: &Item) -> Result<Value, Status> {
    let Some(paths) = &asked.definition().scale else { return Err(respond::no_such_resource()) };
    let stored = Stored::read(item).map_err(|error| unreadable(&asked.info.name, &error))?;
    Ok(scale_of(&stored, paths))
}

fn scale_answer(asked: &Asked<'_>, stored: &Stored, wish: Wish) -> Outcome {
    let Some(paths) = &asked.definition().scale else { return Err(respond::no_such_resource()) };
    let scale = scale_of(stored, paths);
    Ok(respond::object(200, serde_json::to_vec(&scale).unwrap_or_default().into(), wish.encoding))
}

/// What an object says of its scale.
fn scale_of(stored: &Stored, paths: &Scale) -> Value {
    let fields = &stored.fields;
    let number = |path: &str| at_path(fields, path).and_then(Value::as_i64).unwrap_or_default();
    let own = metadata(fields);
    let mut metadata = json!({
        "name": own.name,
        "uid": own.uid,
        "resourceVersion": stored.revision.to_string(),
        "creationTimestamp": own.creation_timestamp,
    });
    if !own.namespace.is_empty() {
        metadata["namespace"] = own.namespace.into();
    }
    let mut spec = Map::new();
    // As upstream, zero is not written.
    if number(&paths.spec_replicas) != 0 {
        spec.insert("replicas".to_owned(), number(&paths.spec_replicas).into());
    }
    let mut status = json!({ "replicas": number(&paths.status_replicas) });
    if let Some(selector) = paths.label_selector.as_deref().map(|path| text(fields, path))
        && !selector.is_empty()
    {
        status["selector"] = selector.into();
    }
    json!({ "kind": KIND, "apiVersion": API_VERSION, "metadata": metadata, "spec": spec, "status": status })
}

fn set_path(fields: &mut Fields, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            fields.insert(path.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = fields.entry(first).or_insert_with(|| Value::Object(Map::new()));
            if !inner.is_object() {
                *inner = Value::Object(Map::new());
            }
            if let Value::Object(inner) = inner {
                set_path(inner, rest, value);
            }
        }
    }
}

/// `Scale` as a resource, for reading it.
fn scale_definition() -> Definition {
    let mut definition = Definition::new("autoscaling", "v1", KIND, "scales");
    let schema = json!({
        "type": "object",
        "properties": {
            "spec": { "type": "object", "title": "ScaleSpec", "properties": {
                "replicas": { "type": "integer", "format": "int32" } } },
            "status": { "type": "object", "title": "ScaleStatus", "properties": {
                "replicas": { "type": "integer", "format": "int32" }, "selector": { "type": "string" } } },
        },
    });
    let form = crate::form::Form::of_schema(KIND, &schema);
    definition.versions[0].form = std::sync::Arc::new(form);
    definition
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_made_where_it_is_missing() {
        let mut fields = Fields::new();
        set_path(&mut fields, "spec.inner.replicas", 3.into());
        assert_eq!(Value::Object(fields), json!({"spec": {"inner": {"replicas": 3}}}));
    }
}

//! Resources that are Rust types.

use std::{marker::PhantomData, sync::Arc};

use kube_wire::{Status, object::ObjectMeta};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Conversion, Definition, Fields, Mistakes, Refusal, Strategy, TimeToLive, Version, Writer};
use crate::form::Form;

/// A resource whose objects are values of a Rust type. The type has the fields beside `metadata`, for
/// example `spec` and `status`; its serde attributes and doc comments are the API.
pub trait Resource: Serialize + DeserializeOwned + JsonSchema + Send + Sync + Sized + 'static {
    /// API group.
    const GROUP: &'static str;
    /// API version.
    const VERSION: &'static str;
    /// Kind.
    const KIND: &'static str;
    /// The name in URLs.
    const PLURAL: &'static str;

    /// Says what differs from a namespaced resource with no more than its fields: short names, columns,
    /// subresources.
    fn describe(definition: &mut Definition) {
        let _ = definition;
    }

    /// Fills in what a client may leave out.
    fn set_defaults(object: &mut Object<Self>) {
        let _ = object;
    }

    /// Sets what only the server may set, in a new object.
    fn prepare_for_create(object: &mut Object<Self>, writer: Writer<'_>) {
        let _ = (object, writer);
    }

    /// Sets what only the server may set, in a changed object.
    fn prepare_for_update(object: &mut Object<Self>, old: &Object<Self>, writer: Writer<'_>) {
        let _ = (object, old, writer);
    }

    /// What is wrong with an object, besides its metadata.
    fn validate(object: &Object<Self>) -> Mistakes {
        let _ = object;
        Vec::new()
    }

    /// What is wrong with a change.
    fn validate_update(object: &Object<Self>, old: &Object<Self>) -> Mistakes {
        let _ = (object, old);
        Vec::new()
    }

    /// What a client should know, although it may be written.
    fn warnings(object: &Object<Self>, old: Option<&Object<Self>>) -> Vec<String> {
        let _ = (object, old);
        Vec::new()
    }

    /// How long it stays.
    fn time_to_live(object: &Object<Self>) -> TimeToLive {
        let _ = object;
        None
    }
}

/// An object: its metadata, and what its type has besides.
#[derive(Clone, Debug, PartialEq)]
pub struct Object<R> {
    /// What all objects have.
    pub metadata: ObjectMeta,
    /// The rest.
    pub body: R,
}

impl<R: Resource> Object<R> {
    /// Reads an object.
    ///
    /// # Errors
    /// Where it does not fit the type.
    pub fn read(fields: &Fields) -> Result<Self, serde_json::Error> {
        let metadata = fields.get("metadata").cloned().unwrap_or_else(|| Value::Object(Fields::new()));
        Ok(Self {
            metadata: serde_json::from_value(metadata)?,
            body: serde_json::from_value(body_of(fields))?,
        })
    }

    /// Puts what may have changed back.
    fn write(self, fields: &mut Fields) {
        let Ok(Value::Object(body)) = serde_json::to_value(&self.body) else { return };
        fields.retain(|name, _| is_common(name));
        fields.extend(body.into_iter().filter(|(_, value)| !value.is_null()));
        if let Ok(metadata) = serde_json::to_value(&self.metadata) {
            fields.insert("metadata".to_owned(), metadata);
        }
    }
}

impl Definition {
    /// The definition of a Rust type.
    pub fn of<R: Resource>() -> Self {
        let mut definition = Self::new(R::GROUP, R::VERSION, R::KIND, R::PLURAL);
        definition.strategy = Arc::new(Typed::<R>(PhantomData));
        definition.versions[0] = typed_version::<R>(&definition.versions[0]);
        R::describe(&mut definition);
        definition
    }

    /// This definition with one more version, behind those there are, and the way to the stored one.
    #[must_use]
    pub fn with_version<R: Resource, S: Resource>(
        mut self,
        to_stored: fn(R) -> S,
        of_stored: fn(S) -> R,
    ) -> Self {
        let mut version = typed_version::<R>(&self.versions[0]);
        R::VERSION.clone_into(&mut version.name);
        version.conversion = Some(Arc::new(Converted { to_stored, of_stored }));
        self.versions.push(version);
        self
    }
}

/// The version of `template` with the fields of a type.
fn typed_version<R: Resource>(template: &Version) -> Version {
    let schema = schemars::SchemaGenerator::default().into_root_schema_for::<R>().to_value();
    Version { form: Arc::new(Form::of_schema(R::KIND, &schema)), schema, ..template.clone() }
}

struct Typed<R>(PhantomData<fn() -> R>);

impl<R: Resource> Typed<R> {
    /// What decoding has let through fits the type; what a later hook has spoilt is left to validation.
    fn change(fields: &mut Fields, change: impl FnOnce(&mut Object<R>)) {
        if let Ok(mut object) = Object::<R>::read(fields) {
            change(&mut object);
            object.write(fields);
        }
    }
}

impl<R: Resource> Strategy for Typed<R> {
    fn set_defaults(&self, object: &mut Fields) {
        Self::change(object, R::set_defaults);
    }

    fn prepare_for_create(&self, object: &mut Fields, writer: Writer<'_>) {
        Self::change(object, |object| R::prepare_for_create(object, writer));
    }

    fn prepare_for_update(&self, object: &mut Fields, old: &Fields, writer: Writer<'_>) {
        let Ok(old) = Object::read(old) else { return };
        Self::change(object, |object| R::prepare_for_update(object, &old, writer));
    }

    fn validate(&self, object: &Fields) -> Mistakes {
        match Object::read(object) {
            Ok(object) => R::validate(&object),
            Err(_) => crate::form::misfit::<R>(&body_of(object)),
        }
    }

    fn validate_update(&self, object: &Fields, old: &Fields) -> Mistakes {
        match (Object::read(object), Object::read(old)) {
            (Ok(object), Ok(old)) => R::validate_update(&object, &old),
            _ => Vec::new(),
        }
    }

    fn warnings(&self, object: &Fields, old: Option<&Fields>) -> Vec<String> {
        let old = old.and_then(|old| Object::read(old).ok());
        Object::read(object).map_or_else(|_| Vec::new(), |object| R::warnings(&object, old.as_ref()))
    }

    fn time_to_live(&self, object: &Fields) -> TimeToLive {
        Object::read(object).ok().and_then(|object| R::time_to_live(&object))
    }
}

struct Converted<R, S> {
    to_stored: fn(R) -> S,
    of_stored: fn(S) -> R,
}

impl<R: Resource, S: Resource> Conversion for Converted<R, S> {
    fn to_stored(&self, object: Fields) -> Result<Fields, Refusal> {
        converted(object, self.to_stored)
    }

    fn of_stored(&self, object: Fields) -> Result<Fields, Refusal> {
        converted(object, self.of_stored)
    }
}

fn converted<A: Resource, B: Resource>(object: Fields, convert: fn(A) -> B) -> Result<Fields, Refusal> {
    let failed =
        |error: serde_json::Error| Box::new(Status::internal(&format!("conversion failed: {error}")));
    let name = crate::object::text(&object, "metadata.name").to_owned();
    let mut common = Fields::new();
    let mut body = Fields::new();
    for (name, value) in object {
        if is_common(&name) {
            common.insert(name, value)
        } else {
            body.insert(name, value)
        };
    }
    let body = Value::Object(body);
    let from = A::deserialize(&body).map_err(|_| {
        let errors = crate::form::misfit::<A>(&body);
        Box::new(crate::validation::invalid(A::KIND, A::GROUP, &name, &errors))
    })?;
    if let Value::Object(body) = serde_json::to_value(convert(from)).map_err(failed)? {
        common.extend(body.into_iter().filter(|(_, value)| !value.is_null()));
    }
    Ok(common)
}

/// The object without what all objects have.
fn body_of(fields: &Fields) -> Value {
    Value::Object(fields.iter().filter(|(name, _)| !is_common(name)).map(own).collect())
}

fn is_common(name: &str) -> bool {
    matches!(name, "apiVersion" | "kind" | "metadata")
}

fn own((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

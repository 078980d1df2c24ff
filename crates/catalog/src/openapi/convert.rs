//! From Swagger 2.0 to one OpenAPI 3.0 document for a group version.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::{
    Claim, OpenApiError,
    merge::Object,
    parts::{Parts, Piece, Section},
    refs, schema,
};

type Fields = Map<String, Value>;

const METHODS: [&str; 7] = ["get", "put", "post", "delete", "options", "head", "patch"];

/// The OpenAPI 3.0 document of a group version, made of the Swagger document of its server; the group
/// is empty for the legacy one. None when the document has no path of this group version.
///
/// # Errors
/// When the document is not Swagger 2.0, not JSON, or too large.
pub fn v2_to_v3(document: &[u8], group: &str, version: &str) -> Result<Option<Vec<u8>>, OpenApiError> {
    let parts = Parts::read(document)?;
    let claim = Claim::Version(group, version);
    let own: Vec<_> = parts.paths.iter().filter(|path| Claim::of(&path.name) == claim).collect();
    if own.is_empty() {
        return Ok(None);
    }
    let components = Components::new(&parts)?;
    let mut needed = Needed::default();
    let mut object = Object::new(document.len() as u64);
    object.entry("openapi", "\"3.0.0\"")?;
    let info = parts.rest("info").map_or("{\"title\":\"\",\"version\":\"\"}", |info| info.get());
    object.entry("info", info)?;
    if let Some(documentation) = parts.rest("externalDocs") {
        object.entry("externalDocs", documentation.get())?;
    }
    object.open("paths")?;
    for path in own {
        let item = components.path_item(read(path)?);
        let text = serde_json::to_string(&item)?;
        needed.note(&item);
        object.entry(&path.name, &text)?;
    }
    object.close();
    components.write(&mut needed, &mut object)?;
    Ok(Some(object.finish()))
}

fn read(piece: &Piece<'_>) -> Result<Value, OpenApiError> {
    Ok(serde_json::from_str(piece.text.get())?)
}

/// The shared pieces of the document.
struct Components<'p> {
    parts: &'p Parts<'p>,
    index: HashMap<(Section, &'p str), &'p Piece<'p>>,
    /// Media types of bodies and answers for operations that name none.
    consumes: Vec<String>,
    produces: Vec<String>,
}

impl<'p> Components<'p> {
    fn new(parts: &'p Parts<'p>) -> Result<Self, OpenApiError> {
        let media_types = |key| match parts.rest(key) {
            Some(text) => {
                serde_json::from_str::<Option<Vec<String>>>(text.get()).map(Option::unwrap_or_default)
            }
            None => Ok(Vec::new()),
        };
        let index =
            parts.components.iter().map(|(section, piece)| ((*section, &*piece.name), piece)).collect();
        Ok(Self { parts, index, consumes: media_types("consumes")?, produces: media_types("produces")? })
    }

    fn path_item(&self, item: Value) -> Value {
        let Value::Object(mut fields) = item else { return json!({}) };
        let shared = take_list(&mut fields, "parameters");
        let (bodies, parameters) = self.split(shared);
        for (method, operation) in fields.iter_mut().filter(|(key, _)| METHODS.contains(&&***key)) {
            let has_body = matches!(&**method, "put" | "post" | "patch" | "delete");
            if let Value::Object(operation) = operation {
                self.operation(operation, if has_body { bodies.first() } else { None });
            }
        }
        put_list(&mut fields, "parameters", parameters);
        Value::Object(fields)
    }

    /// `shared` is the body that all operations of the path have.
    fn operation(&self, operation: &mut Fields, shared: Option<&Fields>) {
        let consumes = media_types(operation.remove("consumes"), &self.consumes);
        let produces = media_types(operation.remove("produces"), &self.produces);
        operation.remove("schemes");
        let (bodies, parameters) = self.split(take_list(operation, "parameters"));
        if let Some(body) = bodies.first().or(shared) {
            operation.insert("requestBody".to_owned(), request_body(body.clone(), &consumes));
        }
        put_list(operation, "parameters", parameters);
        if let Some(Value::Object(responses)) = operation.get_mut("responses") {
            let answers = responses.iter_mut().filter(|(code, _)| !code.starts_with("x-"));
            answers.for_each(|(_, answer)| *answer = response(answer.take(), &produces));
        }
    }

    /// Bodies, and everything else in the form of version 3. References to shared parameters are
    /// followed, because a body has another place now.
    fn split(&self, parameters: Vec<Value>) -> (Vec<Fields>, Vec<Value>) {
        let (mut bodies, mut others) = (Vec::new(), Vec::new());
        for parameter in parameters {
            let Some(fields) = self.followed(parameter) else { continue };
            match fields.get("in").and_then(Value::as_str) {
                Some("body") => bodies.push(fields),
                // Form fields: version 3 has them as a body; Kubernetes APIs have none.
                Some("formData") => {}
                _ => others.push(Value::Object(simple_parameter(fields))),
            }
        }
        (bodies, others)
    }

    fn followed(&self, parameter: Value) -> Option<Fields> {
        let Value::Object(fields) = parameter else { return None };
        let Some(reference) = fields.get("$ref").and_then(Value::as_str) else { return Some(fields) };
        let (section, name) = refs::target(reference)?;
        match read(self.index.get(&(section, &*name))?) {
            Ok(Value::Object(fields)) if section == Section::Parameters => Some(fields),
            _ => None,
        }
    }

    /// Writes what is needed, and what that needs.
    fn write(&self, needed: &mut Needed, object: &mut Object) -> Result<(), OpenApiError> {
        let mut written: [Vec<(String, String)>; 2] = Default::default();
        while let Some((section, name)) = needed.open.pop() {
            let Some(piece) = self.index.get(&(section, &*name)) else { continue };
            let value = match section {
                Section::Definitions => schema::convert(read(piece)?),
                _ => response(read(piece)?, &media_types(None, &self.produces)),
            };
            needed.note(&value);
            let place = usize::from(section != Section::Definitions);
            written[place].push((name, serde_json::to_string(&value)?));
        }
        object.open("components")?;
        for (key, mut entries) in ["schemas", "responses"].into_iter().zip(written) {
            if entries.is_empty() {
                continue;
            }
            entries.sort();
            object.open(key)?;
            entries.iter().try_for_each(|(name, text)| object.entry(name, text))?;
            object.close();
        }
        if let Some(schemes) = self.parts.rest("securityDefinitions") {
            let schemes = security_schemes(serde_json::from_str(schemes.get())?);
            object.entry("securitySchemes", &serde_json::to_string(&schemes)?)?;
        }
        object.close();
        Ok(())
    }
}

/// The shared pieces to which something refers.
#[derive(Default)]
struct Needed {
    seen: HashSet<(Section, String)>,
    open: Vec<(Section, String)>,
}

impl Needed {
    fn note(&mut self, converted: &Value) {
        match converted {
            Value::Object(fields) => {
                if let Some(Value::String(reference)) = fields.get("$ref") {
                    self.reference(reference);
                }
                fields.values().for_each(|value| self.note(value));
            }
            Value::Array(items) => items.iter().for_each(|item| self.note(item)),
            _ => {}
        }
    }

    fn reference(&mut self, reference: &str) {
        let old = reference.replacen("#/components/schemas/", "#/definitions/", 1).replacen(
            "#/components/responses/",
            "#/responses/",
            1,
        );
        let Some((section, name)) = refs::target(&old) else { return };
        let node = (section, name.into_owned());
        if self.seen.insert(node.clone()) {
            self.open.push(node);
        }
    }
}

fn take_list(fields: &mut Fields, key: &str) -> Vec<Value> {
    match fields.remove(key) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

fn put_list(fields: &mut Fields, key: &str, items: Vec<Value>) {
    if !items.is_empty() {
        fields.insert(key.to_owned(), Value::Array(items));
    }
}

/// The operation's own, else the document's, else any.
fn media_types(own: Option<Value>, document: &[String]) -> Vec<String> {
    let own: Vec<String> = own.and_then(|own| serde_json::from_value(own).ok()).unwrap_or_default();
    match (own.is_empty(), document.is_empty()) {
        (false, _) => own,
        (true, false) => document.to_vec(),
        (true, true) => vec!["*/*".to_owned()],
    }
}

fn content(schema: Value, media_types: &[String]) -> Value {
    let schema = schema::convert(schema);
    let entry = |media_type: &String| (media_type.clone(), json!({ "schema": schema }));
    Value::Object(media_types.iter().map(entry).collect())
}

fn request_body(mut body: Fields, consumes: &[String]) -> Value {
    let mut request = Fields::new();
    if let Some(schema) = body.remove("schema") {
        request.insert("content".to_owned(), content(schema, consumes));
    }
    let kept =
        body.into_iter().filter(|(key, _)| matches!(&**key, "description" | "required") || is_extension(key));
    request.extend(kept);
    Value::Object(request)
}

fn simple_parameter(mut fields: Fields) -> Fields {
    let simple = schema::take_simple(&mut fields);
    fields.entry("schema").or_insert(simple);
    fields
}

fn response(answer: Value, produces: &[String]) -> Value {
    let Value::Object(mut fields) = answer else { return json!({ "description": "" }) };
    if fields.contains_key("$ref") {
        return schema::convert(Value::Object(fields));
    }
    fields.remove("examples");
    if let Some(schema) = fields.remove("schema") {
        fields.insert("content".to_owned(), content(schema, produces));
    }
    if let Some(Value::Object(headers)) = fields.get_mut("headers") {
        for header in headers.values_mut().filter_map(Value::as_object_mut) {
            let simple = schema::take_simple(header);
            header.insert("schema".to_owned(), simple);
        }
    }
    Value::Object(fields)
}

fn security_schemes(definitions: Value) -> Value {
    let Value::Object(definitions) = definitions else { return json!({}) };
    Value::Object(definitions.into_iter().map(|(name, scheme)| (name, security_scheme(scheme))).collect())
}

fn security_scheme(scheme: Value) -> Value {
    let Value::Object(mut fields) = scheme else { return json!({}) };
    if fields.get("type").is_some_and(|kind| kind == "basic") {
        fields.extend([("type".to_owned(), json!("http")), ("scheme".to_owned(), json!("basic"))]);
    }
    let Some(Value::String(flow)) = fields.remove("flow") else { return Value::Object(fields) };
    let names = [("accessCode", "authorizationCode"), ("application", "clientCredentials")];
    let name = names.iter().find(|(old, _)| *old == flow).map_or(&*flow, |(_, new)| new);
    let moved = ["authorizationUrl", "tokenUrl", "scopes"];
    let parts: Fields =
        moved.iter().filter_map(|key| Some(((*key).to_owned(), fields.remove(*key)?))).collect();
    fields.insert("flows".to_owned(), json!({ name: parts }));
    Value::Object(fields)
}

fn is_extension(key: &str) -> bool {
    key.starts_with("x-")
}

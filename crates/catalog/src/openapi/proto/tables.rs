//! The messages of gnostic's `openapiv2/OpenAPIv2.proto`: keys, field numbers and types.

use serde_json::Value;

use super::encoder::{
    Field as F, Form,
    Kind::{Bool, Float, Int, Many, Map, One, Text, Texts},
    Message,
};

pub(super) static ANY_VALUE: Form = Form::Any;
pub(super) static SCHEMA_VALUE: Form = Form::Object(&SCHEMA);
pub(super) static PARAMETER_VALUE: Form = Form::Choice(parameter);
pub(super) static RESPONSE_VALUE: Form = Form::Object(&RESPONSE);
pub(super) static PATH_ITEM_VALUE: Form = Form::Object(&PATH_ITEM);
static EXTERNAL_DOCS_VALUE: Form = Form::Object(&EXTERNAL_DOCS);
static PARAMETERS_ITEM_VALUE: Form = Form::Choice(parameters_item);
static SECURITY_VALUE: Form = Form::Named(&Form::Strings);
static OPERATION_VALUE: Form = Form::Object(&OPERATION);
static ITEMS_VALUE: Form = Form::Object(&PRIMITIVES_ITEMS);

/// What stands before paths and definitions.
pub(super) static DOCUMENT_HEAD: Message = Message {
    fields: &[
        F("swagger", 1, Text),
        F("info", 2, One(&Form::Object(&INFO))),
        F("host", 3, Text),
        F("basePath", 4, Text),
        F("schemes", 5, Texts),
        F("consumes", 6, Texts),
        F("produces", 7, Texts),
    ],
    extension: None,
};

/// What stands after them.
pub(super) static DOCUMENT_TAIL: Message = Message {
    fields: &[
        F("security", 12, Many(&SECURITY_VALUE)),
        F("securityDefinitions", 13, Map(&Form::Choice(security_definition))),
        F("tags", 14, Many(&Form::Object(&TAG))),
        F("externalDocs", 15, One(&EXTERNAL_DOCS_VALUE)),
    ],
    extension: Some(16),
};

static INFO: Message = Message {
    fields: &[
        F("title", 1, Text),
        F("version", 2, Text),
        F("description", 3, Text),
        F("termsOfService", 4, Text),
        F("contact", 5, One(&Form::Object(&CONTACT))),
        F("license", 6, One(&Form::Object(&LICENSE))),
    ],
    extension: Some(7),
};

static CONTACT: Message =
    Message { fields: &[F("name", 1, Text), F("url", 2, Text), F("email", 3, Text)], extension: Some(4) };

static LICENSE: Message = Message { fields: &[F("name", 1, Text), F("url", 2, Text)], extension: Some(3) };

static EXTERNAL_DOCS: Message =
    Message { fields: &[F("description", 1, Text), F("url", 2, Text)], extension: Some(3) };

static TAG: Message = Message {
    fields: &[F("name", 1, Text), F("description", 2, Text), F("externalDocs", 3, One(&EXTERNAL_DOCS_VALUE))],
    extension: Some(4),
};

static PATH_ITEM: Message = Message {
    fields: &[
        F("$ref", 1, Text),
        F("get", 2, One(&OPERATION_VALUE)),
        F("put", 3, One(&OPERATION_VALUE)),
        F("post", 4, One(&OPERATION_VALUE)),
        F("delete", 5, One(&OPERATION_VALUE)),
        F("options", 6, One(&OPERATION_VALUE)),
        F("head", 7, One(&OPERATION_VALUE)),
        F("patch", 8, One(&OPERATION_VALUE)),
        F("parameters", 9, Many(&PARAMETERS_ITEM_VALUE)),
    ],
    extension: Some(10),
};

static OPERATION: Message = Message {
    fields: &[
        F("tags", 1, Texts),
        F("summary", 2, Text),
        F("description", 3, Text),
        F("externalDocs", 4, One(&EXTERNAL_DOCS_VALUE)),
        F("operationId", 5, Text),
        F("produces", 6, Texts),
        F("consumes", 7, Texts),
        F("parameters", 8, Many(&PARAMETERS_ITEM_VALUE)),
        F("responses", 9, One(&Form::Responses(&Form::Choice(response_value)))),
        F("schemes", 10, Texts),
        F("deprecated", 11, Bool),
        F("security", 12, Many(&SECURITY_VALUE)),
    ],
    extension: Some(13),
};

static RESPONSE: Message = Message {
    fields: &[
        F("description", 1, Text),
        F("schema", 2, One(&Form::Choice(schema_item))),
        F("headers", 3, Map(&Form::Object(&HEADER))),
        F("examples", 4, Map(&Form::Any)),
    ],
    extension: Some(5),
};

static REFERENCE: Message =
    Message { fields: &[F("$ref", 1, Text), F("description", 2, Text)], extension: None };

static BODY_PARAMETER: Message = Message {
    fields: &[
        F("description", 1, Text),
        F("name", 2, Text),
        F("in", 3, Text),
        F("required", 4, Bool),
        F("schema", 5, One(&SCHEMA_VALUE)),
    ],
    extension: Some(6),
};

/// The fields of a simple value, from this number on.
macro_rules! simple {
    ($from:literal; $($head:expr),*; $($tail:expr),*) => {
        &[
            $($head,)*
            F("type", $from, Text),
            F("format", $from + 1, Text),
            F("items", $from + 2, One(&ITEMS_VALUE)),
            F("collectionFormat", $from + 3, Text),
            F("default", $from + 4, One(&Form::Any)),
            F("maximum", $from + 5, Float),
            F("exclusiveMaximum", $from + 6, Bool),
            F("minimum", $from + 7, Float),
            F("exclusiveMinimum", $from + 8, Bool),
            F("maxLength", $from + 9, Int),
            F("minLength", $from + 10, Int),
            F("pattern", $from + 11, Text),
            F("maxItems", $from + 12, Int),
            F("minItems", $from + 13, Int),
            F("uniqueItems", $from + 14, Bool),
            F("enum", $from + 15, Many(&Form::Any)),
            F("multipleOf", $from + 16, Float),
            $($tail,)*
        ]
    };
}

/// Header and path parameters.
static PLAIN_PARAMETER: Message = Message {
    fields: simple!(5; F("required", 1, Bool), F("in", 2, Text), F("description", 3, Text), F("name", 4, Text);),
    extension: Some(22),
};

/// Query and form parameters.
static EMPTIABLE_PARAMETER: Message = Message {
    fields: simple!(
        6;
        F("required", 1, Bool),
        F("in", 2, Text),
        F("description", 3, Text),
        F("name", 4, Text),
        F("allowEmptyValue", 5, Bool);
    ),
    extension: Some(23),
};

static HEADER: Message = Message { fields: simple!(1;; F("description", 18, Text)), extension: Some(19) };

static PRIMITIVES_ITEMS: Message = Message { fields: simple!(1;;), extension: Some(18) };

static SCHEMA: Message = Message {
    fields: &[
        F("$ref", 1, Text),
        F("format", 2, Text),
        F("title", 3, Text),
        F("description", 4, Text),
        F("default", 5, One(&Form::Any)),
        F("multipleOf", 6, Float),
        F("maximum", 7, Float),
        F("exclusiveMaximum", 8, Bool),
        F("minimum", 9, Float),
        F("exclusiveMinimum", 10, Bool),
        F("maxLength", 11, Int),
        F("minLength", 12, Int),
        F("pattern", 13, Text),
        F("maxItems", 14, Int),
        F("minItems", 15, Int),
        F("uniqueItems", 16, Bool),
        F("maxProperties", 17, Int),
        F("minProperties", 18, Int),
        F("required", 19, Texts),
        F("enum", 20, Many(&Form::Any)),
        F("additionalProperties", 21, One(&Form::SchemaOrBool(&SCHEMA_VALUE))),
        F("type", 22, One(&Form::Strings)),
        F("items", 23, One(&Form::Item(&SCHEMA_VALUE))),
        F("allOf", 24, Many(&SCHEMA_VALUE)),
        F("properties", 25, Map(&SCHEMA_VALUE)),
        F("discriminator", 26, Text),
        F("readOnly", 27, Bool),
        F("xml", 28, One(&Form::Object(&XML))),
        F("externalDocs", 29, One(&EXTERNAL_DOCS_VALUE)),
        F("example", 30, One(&Form::Any)),
    ],
    extension: Some(31),
};

/// The schema of an answer that is a file.
static FILE_SCHEMA: Message = Message {
    fields: &[
        F("format", 1, Text),
        F("title", 2, Text),
        F("description", 3, Text),
        F("default", 4, One(&Form::Any)),
        F("required", 5, Texts),
        F("type", 6, Text),
        F("readOnly", 7, Bool),
        F("externalDocs", 8, One(&EXTERNAL_DOCS_VALUE)),
        F("example", 9, One(&Form::Any)),
    ],
    extension: Some(10),
};

static XML: Message = Message {
    fields: &[
        F("name", 1, Text),
        F("namespace", 2, Text),
        F("prefix", 3, Text),
        F("attribute", 4, Bool),
        F("wrapped", 5, Bool),
    ],
    extension: Some(6),
};

static BASIC_SECURITY: Message =
    Message { fields: &[F("type", 1, Text), F("description", 2, Text)], extension: Some(3) };

static API_KEY_SECURITY: Message = Message {
    fields: &[F("type", 1, Text), F("name", 2, Text), F("in", 3, Text), F("description", 4, Text)],
    extension: Some(5),
};

static IMPLICIT_SECURITY: Message = Message {
    fields: &[
        F("type", 1, Text),
        F("flow", 2, Text),
        F("scopes", 3, One(&Form::StringMap)),
        F("authorizationUrl", 4, Text),
        F("description", 5, Text),
    ],
    extension: Some(6),
};

/// The flows `password` and `application`.
static TOKEN_SECURITY: Message = Message {
    fields: &[
        F("type", 1, Text),
        F("flow", 2, Text),
        F("scopes", 3, One(&Form::StringMap)),
        F("tokenUrl", 4, Text),
        F("description", 5, Text),
    ],
    extension: Some(6),
};

static ACCESS_CODE_SECURITY: Message = Message {
    fields: &[
        F("type", 1, Text),
        F("flow", 2, Text),
        F("scopes", 3, One(&Form::StringMap)),
        F("authorizationUrl", 4, Text),
        F("tokenUrl", 5, Text),
        F("description", 6, Text),
    ],
    extension: Some(7),
};

fn word<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn parameters_item(value: &Value) -> Option<(u32, &'static Form)> {
    static REFERENCE_VALUE: Form = Form::Object(&REFERENCE);
    match value.get("$ref") {
        Some(_) => Some((2, &REFERENCE_VALUE)),
        None => Some((1, &PARAMETER_VALUE)),
    }
}

fn parameter(value: &Value) -> Option<(u32, &'static Form)> {
    static BODY_VALUE: Form = Form::Object(&BODY_PARAMETER);
    static OTHER_VALUE: Form = Form::Choice(non_body_parameter);
    match word(value, "in") {
        "body" => Some((1, &BODY_VALUE)),
        _ => Some((2, &OTHER_VALUE)),
    }
}

fn non_body_parameter(value: &Value) -> Option<(u32, &'static Form)> {
    static PLAIN_VALUE: Form = Form::Object(&PLAIN_PARAMETER);
    static EMPTIABLE_VALUE: Form = Form::Object(&EMPTIABLE_PARAMETER);
    match word(value, "in") {
        "header" => Some((1, &PLAIN_VALUE)),
        "formData" => Some((2, &EMPTIABLE_VALUE)),
        "query" => Some((3, &EMPTIABLE_VALUE)),
        "path" => Some((4, &PLAIN_VALUE)),
        _ => None,
    }
}

fn response_value(value: &Value) -> Option<(u32, &'static Form)> {
    static REFERENCE_VALUE: Form = Form::Object(&REFERENCE);
    match value.get("$ref") {
        Some(_) => Some((2, &REFERENCE_VALUE)),
        None => Some((1, &RESPONSE_VALUE)),
    }
}

fn schema_item(value: &Value) -> Option<(u32, &'static Form)> {
    static FILE_VALUE: Form = Form::Object(&FILE_SCHEMA);
    match word(value, "type") {
        "file" => Some((2, &FILE_VALUE)),
        _ => Some((1, &SCHEMA_VALUE)),
    }
}

fn security_definition(value: &Value) -> Option<(u32, &'static Form)> {
    static BASIC: Form = Form::Object(&BASIC_SECURITY);
    static API_KEY: Form = Form::Object(&API_KEY_SECURITY);
    static IMPLICIT: Form = Form::Object(&IMPLICIT_SECURITY);
    static TOKEN: Form = Form::Object(&TOKEN_SECURITY);
    static ACCESS_CODE: Form = Form::Object(&ACCESS_CODE_SECURITY);
    match (word(value, "type"), word(value, "flow")) {
        ("basic", _) => Some((1, &BASIC)),
        ("apiKey", _) => Some((2, &API_KEY)),
        ("oauth2", "implicit") => Some((3, &IMPLICIT)),
        ("oauth2", "password") => Some((4, &TOKEN)),
        ("oauth2", "application") => Some((5, &TOKEN)),
        ("oauth2", "accessCode") => Some((6, &ACCESS_CODE)),
        _ => None,
    }
}

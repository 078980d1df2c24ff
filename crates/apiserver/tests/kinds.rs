//! Kinds that both kube-apiserver and the library serve in the tests: one that upstream has built in, one
//! that it has from a CustomResourceDefinition.

use std::collections::BTreeMap;

use apiserver::{
    resource::{Cell, Column, Definition, Generation, Object, Resource, Scale},
    validation::{FieldError, Path},
};
use kube_wire::table::TableColumnDefinition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `v1` `ConfigMap`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ConfigMap {
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    binary_data: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    immutable: Option<bool>,
}

impl Resource for ConfigMap {
    const GROUP: &'static str = "";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "ConfigMap";
    const PLURAL: &'static str = "configmaps";

    fn describe(definition: &mut Definition) {
        const DATA: &str = "Data contains the configuration data. Each key must consist of alphanumeric characters, '-', '_' or '.'. Values with non-UTF-8 byte sequences must use the BinaryData field. The keys stored in Data must not overlap with the keys in the BinaryData field, this is enforced during validation process.";
        definition.names.short_names = vec!["cm".to_owned()];
        definition.qualified_finalizers = true;
        let count = Column::computed("Data", "string", DATA, |object| {
            let keys =
                |name: &str| object.get(name).and_then(|map| map.as_object()).map_or(0, |map| map.len());
            (keys("data") + keys("binaryData")).into()
        });
        definition.versions[0].columns = vec![Column::name(), count, Column::age()];
    }

    fn validate_update(object: &Object<Self>, old: &Object<Self>) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if old.body.immutable == Some(true) {
            let mut frozen = |name: &str| {
                errors.push(FieldError::forbidden(
                    &Path::new(name),
                    "field is immutable when `immutable` is set",
                ));
            };
            if object.body.immutable != Some(true) {
                frozen("immutable");
            }
            if object.body.data != old.body.data {
                frozen("data");
            }
            if object.body.binary_data != old.body.binary_data {
                frozen("binaryData");
            }
        }
        errors
    }
}

/// What `widgets.yaml` defines for kube-apiserver.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Widget {
    #[serde(skip_serializing_if = "Option::is_none")]
    spec: Option<WidgetSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<WidgetStatus>,
}

/// What is wanted.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WidgetSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    colour: Option<String>,
}

/// What there is.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WidgetStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    selector: Option<String>,
}

impl Resource for Widget {
    const GROUP: &'static str = "library.example.com";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Widget";
    const PLURAL: &'static str = "widgets";

    fn describe(definition: &mut Definition) {
        definition.names.short_names = vec!["wg".to_owned()];
        definition.names.categories = vec!["all".to_owned()];
        definition.generation = Generation::Counted;
        definition.status = true;
        definition.scale = Some(Scale {
            spec_replicas: "spec.size".to_owned(),
            status_replicas: "status.size".to_owned(),
            label_selector: Some("status.selector".to_owned()),
        });
        definition.selectable = vec!["spec.colour".to_owned()];
        definition.unconditional_update = false;
        definition.unstructured = true;
        const AGE: &str =
            "Custom resource definition column (in JSONPath format): .metadata.creationTimestamp";
        let age = Column {
            definition: TableColumnDefinition::new("Age", "date", AGE),
            cell: Cell::Age("metadata.creationTimestamp".to_owned()),
        };
        let size = Column::new("Size", "integer", "How large.", "spec.size");
        definition.versions[0].columns = vec![Column::name(), size, age];
    }
}

/// All of them.
pub fn definitions() -> [Definition; 2] {
    [Definition::of::<ConfigMap>(), Definition::of::<Widget>()]
}

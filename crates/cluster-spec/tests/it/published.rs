//! The published schemas are what the types say, and judge as the rules do; `UPDATE_EXPECT=1` renews them.

use boon::{Compiler, SchemaIndex, Schemas};
use cluster_spec::{Rule, Source, inventory_schema, object_schema};
use expect_test::expect_file;
use serde_json::Value;

use crate::support::fixtures;

#[test]
fn the_schemas_are_published() {
    expect_file!["../../../../schema/cluster.schema.json"].assert_eq(&format!("{:#}\n", object_schema()));
    let name = "../../../../schema/cluster-inventory.schema.json";
    expect_file![name].assert_eq(&format!("{:#}\n", inventory_schema()));
}

/// A judge that knows nothing of our own reading of the schema.
struct Judge {
    schemas: Schemas,
    schema: SchemaIndex,
}

impl Judge {
    fn of(schema: &Value) -> Self {
        let mut schemas = Schemas::new();
        let mut compiler = Compiler::new();
        compiler.add_resource("schema.json", schema.clone()).expect("a resource");
        let schema = compiler.compile("schema.json", &mut schemas).expect("a schema");
        Self { schemas, schema }
    }

    fn accepts(&self, text: &str) -> bool {
        let value: Value = serde_saphyr::from_str(text).expect("YAML");
        self.schemas.validate(&value, self.schema).is_ok()
    }
}

#[test]
fn good_objects_are_accepted() {
    let (object, inventory) = (Judge::of(object_schema()), Judge::of(inventory_schema()));
    for fixture in fixtures("succeeds") {
        assert!(object.accepts(&fixture.object), "{}", fixture.name());
        let good = fixture.inventory.as_ref().is_none_or(|text| inventory.accepts(text));
        assert!(good, "the inventory of {}", fixture.name());
    }
}

#[test]
fn wrong_objects_are_refused_for_shape_and_format() {
    let (object, inventory) = (Judge::of(object_schema()), Judge::of(inventory_schema()));
    for fixture in fixtures("fails") {
        let findings = fixture.read().expect_err("wrong");
        if findings.iter().any(|finding| finding.rule == Rule::Syntax) {
            continue;
        }
        let wrong = |source| {
            let of_source = findings.iter().filter(move |finding| finding.source == source);
            of_source.map(|finding| finding.rule).collect::<Vec<_>>()
        };
        judge(&object, &fixture.object, &wrong(Source::Object), &fixture.name());
        if let Some(text) = &fixture.inventory {
            judge(
                &inventory,
                text,
                &wrong(Source::Inventory),
                &format!("the inventory of {}", fixture.name()),
            );
        }
    }
}

fn judge(judge: &Judge, text: &str, rules: &[Rule], name: &str) {
    let by_schema = |rule: &Rule| matches!(rule, Rule::Shape | Rule::Format);
    if rules.iter().any(by_schema) {
        assert!(!judge.accepts(text), "{name}: the schema should refuse it");
    } else if rules.iter().all(|rule| *rule == Rule::Meaning) {
        assert!(judge.accepts(text), "{name}: the schema cannot know this");
    }
}

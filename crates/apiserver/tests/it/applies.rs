//! Server-side apply does what kube-apiserver does.

use std::collections::BTreeMap;

use apiserver::{
    apply::{FieldManager, FieldSet, NoConversion, Request, keep_times, manager_from_user_agent},
    patch::{json_patch, merge_patch, strategic_merge_patch},
    schema::types::{Types, add_custom_resource, read_definitions},
};
use kube_wire::{Encoding, object::time};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::recordings::{
    Sequence, Step, definitions, sequences, with_defaults, without_empty, without_server_fields, yaml,
};

/// The types of all kinds in the records.
fn types() -> Types {
    let mut definitions = definitions();
    let resources: Vec<Value> = yaml("resources.yaml");
    for resource in resources {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let spec = &resource["spec"];
        for version in spec["versions"].as_array().unwrap() {
            let (group, kind) = (text(&spec["group"]), text(&spec["names"]["kind"]));
            let schema = &version["schema"]["openAPIV3Schema"];
            add_custom_resource(&mut definitions, (&group, &text(&version["name"]), &kind), schema);
        }
    }
    read_definitions(&definitions, false).unwrap()
}

fn empty(kind: &str) -> Value {
    match kind {
        "Deployment" => json!({
            "metadata": {}, "status": {},
            "spec": {"selector": null, "strategy": {}, "template": {"metadata": {}, "spec": {"containers": null}}},
        }),
        "Service" => json!({"metadata": {}, "spec": {}, "status": {"loadBalancer": {}}}),
        "Role" => json!({"metadata": {}, "rules": null}),
        "Widget" | "Blob" => json!({}),
        _ => json!({"metadata": {}}),
    }
}

fn ignored(step: &Step) -> BTreeMap<String, FieldSet> {
    let fields = match (&*step.kind, &*step.subresource) {
        ("Widget", "status") => FieldSet::of_names(&[&["metadata"], &["spec"]]),
        ("Widget" | "Deployment" | "Service", _) => FieldSet::of_names(&[&["status"]]),
        _ => return BTreeMap::new(),
    };
    BTreeMap::from([(step.api_version.clone(), fields)])
}

fn in_step(step: usize) -> String {
    time::format(946_684_800 + 60 * i64::try_from(step).unwrap())
}

#[test]
fn as_recorded() {
    let types = types();
    let sequences = sequences("apply.jsonl");
    assert!(sequences.len() >= 45, "{} sequences", sequences.len());
    let wrong: Vec<String> = sequences.iter().flat_map(|sequence| replay(sequence, &types)).collect();
    assert!(wrong.is_empty(), "{} steps:\n{}", wrong.len(), wrong.join("\n"));
}

/// Patches keep managed fields, too.
#[test]
fn patches_as_recorded() {
    let types = types();
    let sequences = sequences("patches.jsonl");
    let wrong: Vec<String> = sequences.iter().flat_map(|sequence| replay(sequence, &types)).collect();
    assert!(wrong.is_empty(), "{} steps:\n{}", wrong.len(), wrong.join("\n"));
}

fn replay(sequence: &Sequence, types: &Types) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut live: Option<Value> = None;
    for (number, step) in sequence.steps.iter().enumerate() {
        let ours = !step.later && !step.foreign && (step.done() || step.verb == "apply");
        if ours && let Err(why) = check(step, live.as_ref(), &in_step(number), types) {
            wrong.push(format!("{}, step {}: {}: {why}", sequence.name, number + 1, step.body));
        }
        if step.done() {
            live = Some(step.answer.clone());
        }
    }
    wrong
}

fn check(step: &Step, live: Option<&Value>, now: &str, types: &Types) -> Result<(), String> {
    let mut empty = empty(&step.kind);
    empty["apiVersion"] = json!(step.api_version);
    empty["kind"] = json!(step.kind);
    let ignored = ignored(step);
    let fields = FieldManager {
        types,
        conversion: &NoConversion,
        api_version: &step.api_version,
        kind: &step.kind,
        subresource: &step.subresource,
        ignored: &ignored,
        empty: &empty,
    };
    let mut before = live.cloned().unwrap_or_else(|| empty.clone());
    before["apiVersion"] = json!(step.api_version);
    let mut ours = if step.verb == "apply" {
        let request = Request { manager: &step.manager, force: step.force, now };
        match fields.apply(&before, &step.body, &request) {
            Ok(applied) if step.done() => applied.object,
            Ok(_) => return Err(format!("the server refused: {}", step.answer)),
            Err(error) => {
                let mut ours: Value = serde_json::from_slice(&error.status().encode(Encoding::Json)).unwrap();
                if let Some(Value::Array(causes)) = ours.pointer_mut("/details/causes") {
                    causes.sort_by_key(Value::to_string);
                }
                let same = ours == step.answer;
                return if same { Ok(()) } else { Err(format!("\nours\n{ours}\ntheirs\n{}", step.answer)) };
            }
        }
    } else {
        let mut new = with_defaults(&written(step, &before, types), &defaults(step, live));
        if step.root(types).is_some() && !["Widget", "Blob"].contains(&&*step.kind) {
            let managed = new["metadata"].get("managedFields").cloned();
            new = as_built_in(&without_managed_fields(&new), &step.answer);
            if let Some(managed) = managed {
                new["metadata"]["managedFields"] = managed;
            }
        }
        // The rest is put back by what comes after.
        if step.subresource == "status" {
            new["spec"] = step.answer["spec"].clone();
        } else if step.kind == "Widget" {
            match step.answer.get("status") {
                Some(status) => new["status"] = status.clone(),
                None => drop(new.as_object_mut().unwrap().remove("status")),
            }
        }
        let manager = match &*step.manager {
            "" => manager_from_user_agent(&step.agent),
            manager => manager.to_owned(),
        };
        fields.update(&before, &new, &manager, now)
    };
    let managed = |object: &Value| object["metadata"]["managedFields"].clone();
    if step.kind == "Widget" || step.subresource == "status" {
        // What the request does not reach is put back.
        for name in ["spec", "status"] {
            let reached = (name == "status") == (step.subresource == "status");
            if !reached {
                match step.answer.get(name) {
                    Some(value) => ours[name] = value.clone(),
                    None => drop(ours.as_object_mut().unwrap().remove(name)),
                }
            }
        }
    }
    let mut ours = with_defaults(&ours, &without_managed_fields(&step.answer));
    if let Some(live) = live {
        keep_times(&mut ours, live);
    }
    if managed(&ours) != managed(&step.answer) {
        return Err(format!("managed fields\nours\n{}\ntheirs\n{}", managed(&ours), managed(&step.answer)));
    }
    let (ours, theirs) = (without_server_fields(&ours), without_server_fields(&step.answer));
    let (ours, theirs) = (without_empty(&ours), without_empty(&theirs));
    if ours == theirs { Ok(()) } else { Err(format!("object\nours\n{ours}\ntheirs\n{theirs}")) }
}

/// What is filled in before managed fields are found.
fn defaults(step: &Step, live: Option<&Value>) -> Value {
    let mut defaults = without_managed_fields(&step.answer);
    if step.kind == "Service" && live.is_none() {
        // Addresses are allocated later.
        for name in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
            defaults["spec"].as_object_mut().unwrap().remove(name);
        }
    }
    defaults
}

/// A type of Go does not write most of what is empty; the server's answer says what it does.
fn as_built_in(object: &Value, server: &Value) -> Value {
    let empty = |value: &Value| [json!(null), json!([]), json!({})].contains(value);
    match (object, server) {
        (Value::Object(object), Value::Object(server)) => {
            let kept = object.iter().filter(|(name, value)| server.contains_key(*name) || !empty(value));
            let of = |name: &String| server.get(name).unwrap_or(&Value::Null);
            Value::Object(kept.map(|(name, value)| (name.clone(), as_built_in(value, of(name)))).collect())
        }
        (Value::Array(object), Value::Array(server)) if object.len() == server.len() => {
            object.iter().zip(server).map(|(object, server)| as_built_in(object, server)).collect()
        }
        (other, _) => other.clone(),
    }
}

fn without_managed_fields(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    object
}

/// The object that a write other than an apply makes of the one before.
fn written(step: &Step, before: &Value, types: &Types) -> Value {
    let patch = step.body.clone();
    match &*step.verb {
        "json" => json_patch(before.clone(), &patch, false).unwrap().document,
        "merge" => merge_patch(before.clone(), patch, false).unwrap(),
        "strategic" => {
            let Value::Object(before) = before.clone() else { panic!("no object") };
            let root = step.root(types).unwrap();
            Value::Object(strategic_merge_patch(before, patch, types, root).unwrap())
        }
        _ => patch,
    }
}

fn scalar() -> impl Strategy<Value = Value> {
    "[a-c]".prop_map(Value::from)
}

/// The spec of a widget, valid for its type. Sets, maps and lists with keys are not empty: kube-apiserver, too,
/// lets nobody own an empty list, and leaves null where an empty map has lost its entries.
fn spec() -> impl Strategy<Value = Value> {
    let map = || prop::collection::btree_map("[a-c]", scalar(), 1..3);
    let set = prop::collection::btree_set("[a-d]", 1..4).prop_shuffle_values();
    let keyed =
        prop::collection::btree_map("[a-c]", (prop::option::of(scalar()), prop::option::of(map())), 1..4)
            .prop_map(|items| {
                let item = |(name, (value, more))| {
                    let mut item = json!({"name": name});
                    if let Some(value) = value {
                        item["value"] = value;
                    }
                    if let Some(more) = more {
                        item["more"] = json!(more);
                    }
                    item
                };
                items.into_iter().map(item).collect::<Vec<Value>>()
            });
    let plain = prop::collection::vec(scalar(), 0..3);
    let fields = (
        prop::option::of(0..3_i64),
        prop::option::of(set),
        prop::option::of(keyed),
        prop::option::of(map()),
        prop::option::of(map()),
        prop::option::of(plain),
    );
    fields.prop_map(|(replicas, set, keyed, map, atomic, plain)| {
        let pairs = [
            ("replicas", replicas.map(Value::from)),
            ("set", set.map(Value::from)),
            ("keyed", keyed.map(Value::from)),
            ("map", map.map(|map| json!(map))),
            ("atomic", atomic.map(|map| json!(map))),
            ("plain", plain.map(Value::from)),
        ];
        let pairs = pairs.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Value::Object(pairs.collect())
    })
}

trait ShuffleValues {
    fn prop_shuffle_values(self) -> BoxedStrategy<Vec<String>>;
}

impl<S: Strategy<Value = std::collections::BTreeSet<String>> + 'static> ShuffleValues for S {
    fn prop_shuffle_values(self) -> BoxedStrategy<Vec<String>> {
        self.prop_map(|set| set.into_iter().collect::<Vec<_>>()).prop_shuffle().boxed()
    }
}

#[derive(Clone, Debug)]
struct Turn {
    manager: &'static str,
    spec: Value,
    force: bool,
    applies: bool,
}

fn turn() -> impl Strategy<Value = Turn> {
    (prop_oneof!["a", "b", "c"], spec(), any::<bool>(), any::<bool>()).prop_map(
        |(manager, spec, force, applies)| {
            let manager = ["a", "b", "c"].into_iter().find(|name| *name == manager).unwrap();
            Turn { manager, spec, force, applies }
        },
    )
}

const VERSION: &str = "test.example.com/v1";

fn widget(spec: &Value) -> Value {
    json!({"apiVersion": VERSION, "kind": "Widget", "metadata": {"name": "a", "uid": "1"}, "spec": spec})
}

/// Carries out turns; hands every state and the turn that led there to `look`.
fn play(turns: &[Turn], mut look: impl FnMut(&FieldManager<'_>, &Value, &Turn)) {
    thread_local!(static TYPES: Types = types());
    TYPES.with(|types| {
        let empty = json!({"apiVersion": VERSION, "kind": "Widget", "metadata": {}});
        let ignored = BTreeMap::new();
        let fields = FieldManager {
            types,
            conversion: &NoConversion,
            api_version: VERSION,
            kind: "Widget",
            subresource: "",
            ignored: &ignored,
            empty: &empty,
        };
        let mut live = empty.clone();
        for (number, turn) in turns.iter().enumerate() {
            let now = in_step(number);
            live = if turn.applies {
                let request = Request { manager: turn.manager, force: turn.force, now: &now };
                match fields.apply(&live, &widget(&turn.spec), &request) {
                    Ok(applied) => applied.object,
                    Err(error) => {
                        assert_eq!(error.status().code, 409, "{error}");
                        assert!(!turn.force, "{error}");
                        continue;
                    }
                }
            } else {
                fields.update(&live, &widget(&turn.spec), turn.manager, &now)
            };
            look(&fields, &live, turn);
        }
    });
}

/// Every scalar and every whole list or map of a configuration is in the object; what is empty need not be.
fn contains(object: &Value, configuration: &Value) -> bool {
    match (object, configuration) {
        (_, configuration) if configuration == &json!({}) || configuration == &json!([]) => true,
        (Value::Object(object), Value::Object(configuration)) => configuration
            .iter()
            .all(|(name, value)| contains(object.get(name).unwrap_or(&Value::Null), value)),
        (Value::Array(object), Value::Array(configuration)) => {
            configuration.iter().all(|item| object.iter().any(|object| contains(object, item)))
        }
        (object, configuration) => object == configuration,
    }
}

fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.values().any(holds_null),
        Value::Array(items) => items.iter().any(holds_null),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// An apply that is repeated changes nothing; what was applied is in the object.
    #[test]
    fn prop_apply_is_idempotent(turns in prop::collection::vec(turn(), 1..6)) {
        play(&turns, |fields, live, turn| {
            if !turn.applies {
                return;
            }
            assert!(contains(&live["spec"], &turn.spec), "{live}\n{}", turn.spec);
            // As upstream, what loses its last field is null: applied once more, it is empty.
            if holds_null(&live["spec"]) {
                return;
            }
            let request = Request { manager: turn.manager, force: false, now: "2020-01-01T00:00:00Z" };
            let again = fields.apply(live, &widget(&turn.spec), &request).unwrap();
            assert!(!again.changed, "{}\n{live}", again.object);
            assert_eq!(&again.object, live);
        });
    }

    /// What is forced is owned by the applier; nobody owns what is not there.
    #[test]
    fn prop_owners_own_what_is_there(turns in prop::collection::vec(turn(), 1..6)) {
        play(&turns, |fields, live, turn| {
            let other = Request { manager: "other", force: false, now: "2020-01-01T00:00:00Z" };
            for entry in live["metadata"]["managedFields"].as_array().into_iter().flatten() {
                let set = FieldSet::from_fields_v1(&entry["fieldsV1"]).unwrap();
                assert!(!set.is_empty(), "{turn:?}");
                assert_eq!(set.to_fields_v1(), entry["fieldsV1"]);
            }
            // Whoever wants what is there anyway has no conflict.
            let mut wanted = widget(&live["spec"]);
            if live["spec"].is_null() {
                wanted.as_object_mut().unwrap().remove("spec");
            }
            assert!(!fields.apply(live, &wanted, &other).unwrap().changed);
        });
    }

    /// Sets behave as sets.
    #[test]
    fn prop_field_sets(one in tree(), other in tree()) {
        let (one, other) = (FieldSet::from_fields_v1(&one).unwrap(), FieldSet::from_fields_v1(&other).unwrap());
        let (union, both) = (one.union(&other), one.intersection(&other));
        prop_assert_eq!(union.len() + both.len(), one.len() + other.len());
        prop_assert_eq!(one.difference(&other).union(&both), one.clone());
        prop_assert!(one.difference(&other).intersection(&other).is_empty());
        prop_assert!(one.without_below(&other).difference(&one.difference(&other)).is_empty());
        for path in union.paths() {
            prop_assert!(one.contains(&path) || other.contains(&path));
        }
        prop_assert_eq!(FieldSet::from_fields_v1(&union.to_fields_v1()).unwrap(), union);
    }

    /// Whatever stands in managed fields, nothing panics.
    #[test]
    fn prop_any_managed_fields(key in "([fkvix]:?)?[{}\"a:1,\\[\\]]{0,8}", value in any::<bool>()) {
        let below = if value { json!({}) } else { json!(1) };
        let _ = FieldSet::from_fields_v1(&Value::Object(Map::from_iter([(key, below)])));
    }

    /// Whatever is applied, nothing panics.
    #[test]
    fn prop_apply_of_anything(spec in anything(), live in anything()) {
        play(&[], |_, _, _| {});
        let turns = [Turn { manager: "a", spec: json!({}), force: false, applies: true }];
        play(&turns, |fields, _, _| {
            let request = Request { manager: "a", force: false, now: "2020-01-01T00:00:00Z" };
            let live = fields.update(fields.empty, &widget(&live), "b", request.now);
            if let Ok(applied) = fields.apply(&live, &widget(&spec), &request) {
                let again = fields.apply(&applied.object, &widget(&spec), &request);
                assert!(again.is_ok());
            }
        });
    }
}

fn tree() -> impl Strategy<Value = Value> {
    let leaf = Just(json!({}));
    leaf.prop_recursive(3, 16, 3, |inner| {
        let key = "f:[a-c]|v:[12]|k:\\{\"name\":\"[ab]\"\\}|i:[01]|\\.";
        prop::collection::btree_map(key, inner, 0..4).prop_map(|map| {
            // A dot says that the object itself is a member, and has nothing below.
            let map =
                map.into_iter().map(|(key, value)| if key == "." { (key, json!({})) } else { (key, value) });
            Value::Object(map.collect())
        })
    })
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let key =
            "free|keyed|set|map|nested|atomic|plain|either|embedded|name|value|metadata|a|size|ports|port";
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

//! Server-side apply, and the ownership that other writes leave behind.

use serde_json::Value;

use super::fields::{
    FieldSet, Manager, Operation, Path, managers, owned_leaves, remove, set, value_at, write_managers,
};

/// A field that somebody else owns with another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Conflict {
    /// Who owns it.
    pub(super) manager: String,
    /// Which field, as `.spec.text`.
    pub(super) field: String,
}

/// Who writes, when, and whether it takes fields from others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer<'a> {
    /// `?fieldManager=`, or the first word of the user agent.
    pub(super) manager: &'a str,
    /// RFC 3339.
    pub(super) time: &'a str,
    /// `?force=true`.
    pub(super) force: bool,
}

/// The live object with a configuration applied to it.
///
/// A field that the manager applied before and no longer does goes, unless somebody else owns it too.
pub(super) fn apply(live: &Value, config: &Value, writer: Writer<'_>) -> Result<Value, Vec<Conflict>> {
    let wanted = owned_leaves(config);
    let mut owners = managers(live);
    let conflicts = conflicts(live, config, &wanted, &owners, writer);
    if !conflicts.is_empty() && !writer.force {
        return Err(conflicts.into_iter().map(|(conflict, _)| conflict).collect());
    }
    let own = owners.iter().position(|owner| is_applier(owner, writer));
    let before = own.map(|index| owners[index].fields.clone()).unwrap_or_default();
    let others: FieldSet = owners
        .iter()
        .filter(|owner| !is_applier(owner, writer))
        .flat_map(|owner| owner.fields.iter().cloned())
        .collect();

    let mut result = live.clone();
    for path in before.difference(&wanted).filter(|path| !others.contains(*path)) {
        remove(&mut result, path);
    }
    for path in &wanted {
        if let Some(value) = value_at(config, path) {
            set(&mut result, path, value.clone());
        }
    }

    for (_, path) in &conflicts {
        for owner in owners.iter_mut().filter(|owner| !is_applier(owner, writer)) {
            owner.fields.remove(path);
        }
    }
    match own {
        // An apply that changes nothing leaves everything as it is, the time included.
        Some(index) if before == wanted && owned_values_equal(live, &result) => {
            owners[index].fields = wanted;
        }
        Some(index) => {
            owners[index].fields = wanted;
            owners[index].time = writer.time.to_owned();
        }
        None => owners.push(Manager {
            name: writer.manager.to_owned(),
            operation: Operation::Apply,
            time: writer.time.to_owned(),
            fields: wanted,
        }),
    }
    write_managers(&mut result, &owners);
    Ok(result)
}

/// Notes in `new` who owns what after a write that was no apply: what changed belongs to the writer
/// alone, what is gone to nobody.
pub(super) fn track_update(live: Option<&Value>, new: &mut Value, writer: Writer<'_>) {
    let mut owners = live.map(managers).unwrap_or_default();
    let leaves = owned_leaves(new);
    let changed: FieldSet = leaves
        .iter()
        .filter(|path| live.and_then(|live| value_at(live, path)) != value_at(new, path))
        .cloned()
        .collect();
    for owner in &mut owners {
        owner.fields.retain(|path| leaves.contains(path) && !changed.contains(path));
    }
    if !changed.is_empty() {
        let own = owners
            .iter_mut()
            .find(|owner| owner.name == writer.manager && owner.operation == Operation::Update);
        match own {
            Some(owner) => {
                owner.fields.extend(changed);
                owner.time = writer.time.to_owned();
            }
            None => owners.push(Manager {
                name: writer.manager.to_owned(),
                operation: Operation::Update,
                time: writer.time.to_owned(),
                fields: changed,
            }),
        }
    }
    write_managers(new, &owners);
}

fn conflicts(
    live: &Value,
    config: &Value,
    wanted: &FieldSet,
    owners: &[Manager],
    writer: Writer<'_>,
) -> Vec<(Conflict, Path)> {
    let mut found = Vec::new();
    for path in wanted.iter().filter(|path| value_at(live, path) != value_at(config, path)) {
        let holders = owners.iter().filter(|owner| !is_applier(owner, writer) && owner.fields.contains(path));
        for owner in holders {
            let conflict = Conflict { manager: owner.name.clone(), field: format!(".{}", path.join(".")) };
            found.push((conflict, path.clone()));
        }
    }
    found
}

fn is_applier(owner: &Manager, writer: Writer<'_>) -> bool {
    owner.operation == Operation::Apply && owner.name == writer.manager
}

fn owned_values_equal(a: &Value, b: &Value) -> bool {
    let (leaves_a, leaves_b) = (owned_leaves(a), owned_leaves(b));
    leaves_a == leaves_b && leaves_a.iter().all(|path| value_at(a, path) == value_at(b, path))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const fn writer(manager: &str) -> Writer<'_> {
        Writer { manager, time: "2026-01-01T00:00:00Z", force: false }
    }

    fn owned_by(object: &Value, name: &str) -> Vec<String> {
        let owners = managers(object);
        owners
            .iter()
            .filter(|owner| owner.name == name)
            .flat_map(|owner| &owner.fields)
            .map(|p| p.join("."))
            .collect()
    }

    #[test]
    fn a_field_no_longer_applied_goes() {
        let base = json!({"metadata": {"name": "a"}});
        let first =
            apply(&base, &json!({"spec": {"text": "x", "pinned": true}}), writer("one")).expect("apply");
        let second = apply(&first, &json!({"spec": {"text": "x"}}), writer("one")).expect("apply");
        assert_eq!(second["spec"], json!({"text": "x"}));
        assert_eq!(owned_by(&second, "one"), ["spec.text"]);
    }

    #[test]
    fn a_field_that_another_owns_too_stays() {
        let base = json!({"metadata": {"name": "a"}});
        let first =
            apply(&base, &json!({"spec": {"text": "x", "pinned": true}}), writer("one")).expect("apply");
        let shared = apply(&first, &json!({"spec": {"pinned": true}}), writer("two")).expect("same value");
        let third = apply(&shared, &json!({"spec": {"text": "x"}}), writer("one")).expect("apply");
        assert_eq!(third["spec"], json!({"text": "x", "pinned": true}));
        assert_eq!(owned_by(&third, "two"), ["spec.pinned"]);
    }

    #[test]
    fn another_value_conflicts_unless_forced() {
        let base = json!({"metadata": {"name": "a"}});
        let first = apply(&base, &json!({"spec": {"text": "x"}}), writer("one")).expect("apply");
        let config = json!({"spec": {"text": "y"}});
        let refused = apply(&first, &config, writer("two")).expect_err("conflict");
        assert_eq!(refused, [Conflict { manager: "one".into(), field: ".spec.text".into() }]);
        let forced = apply(&first, &config, Writer { force: true, ..writer("two") }).expect("forced");
        assert_eq!(forced["spec"]["text"], "y");
        assert!(owned_by(&forced, "one").is_empty());
        assert_eq!(owned_by(&forced, "two"), ["spec.text"]);
    }

    #[test]
    fn the_same_again_changes_nothing() {
        let base = json!({"metadata": {"name": "a"}});
        let config = json!({"metadata": {"labels": {"a.b/c": "d"}}, "spec": {"text": "x", "tags": []}});
        let first = apply(&base, &config, writer("one")).expect("apply");
        let later = Writer { time: "2030-01-01T00:00:00Z", ..writer("one") };
        assert_eq!(apply(&first, &config, later).expect("again"), first);
    }

    #[test]
    fn an_update_takes_what_it_changes() {
        let base = json!({"metadata": {"name": "a"}});
        let applied =
            apply(&base, &json!({"spec": {"text": "x", "pinned": true}}), writer("one")).expect("apply");
        let mut updated = applied.clone();
        updated["spec"]["text"] = json!("y");
        track_update(Some(&applied), &mut updated, writer("edit"));
        assert_eq!(owned_by(&updated, "one"), ["spec.pinned"]);
        assert_eq!(owned_by(&updated, "edit"), ["spec.text"]);
    }
}

//! The rules of JSON schema.

use serde_json::{Map, Number, Value};

use super::{
    super::structural::{Rules, Structural},
    FieldError, Found, field, value,
};

pub(super) fn text(text: &str, rules: &Rules, path: &str, found: &mut Found) {
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    if let Some(max) = rules.max_length.filter(|max| length > *max) {
        found.errors.push(FieldError::too_long(&field(path), usize::try_from(max).unwrap_or(0)));
    } else if let Some(min) = rules.min_length.filter(|min| length < *min) {
        found.broken(path, text, &format!("should be at least {min} chars long"));
    } else if let Some((pattern, compiled)) = &rules.pattern
        && !compiled.as_ref().is_ok_and(|compiled| compiled.is_match(text))
    {
        found.broken(path, text, &format!("should match '{pattern}'"));
    }
}

pub(super) fn number(number: &Number, schema: &Structural, path: &str, found: &mut Found) {
    let (rules, float) = (&schema.rules, number.as_f64().unwrap_or(0.0));
    if let Some(factor) = rules.multiple_of {
        multiple_of(number, factor, path, found);
    }
    // As upstream, a whole number is compared with the whole part of a bound.
    let part = |bound: f64| if number.is_i64() { bound.trunc() } else { bound };
    if let Some((max, excluded)) = rules.maximum {
        let max = if fits("Maximum", max, schema, path, found) { part(max) } else { max };
        if excluded && float >= max {
            found.broken(path, number, &format!("should be less than {}", bound(max)));
        } else if float > max {
            found.broken(path, number, &format!("should be less than or equal to {}", bound(max)));
        }
    }
    if let Some((min, excluded)) = rules.minimum {
        let min = if fits("Minimum", min, schema, path, found) { part(min) } else { min };
        if excluded && float <= min {
            found.broken(path, number, &format!("should be greater than {}", bound(min)));
        } else if float < min {
            found.broken(path, number, &format!("should be greater than or equal to {}", bound(min)));
        }
    }
}

/// A bound of whole numbers must be one itself; that it is not is said for each value.
fn fits(which: &str, bound: f64, schema: &Structural, path: &str, found: &mut Found) -> bool {
    let fits = schema.kind != "integer" || bound.fract() == 0.0;
    if !fits {
        let width = super::formats::of_width(schema);
        found.general(format!("{which} boundary value must be of type integer {width} in {path}"));
    }
    fits
}

fn multiple_of(number: &Number, factor: f64, path: &str, found: &mut Found) {
    // Here, too.
    let (data, factor) = match number.is_i64() {
        true => (number.as_f64().unwrap_or(0.0), factor.trunc()),
        false => (number.as_f64().unwrap_or(0.0), factor),
    };
    if factor <= 0.0 {
        let detail = format!("factor MultipleOf declared for {path} must be positive: {factor}");
        return found.errors.push(FieldError::invalid(&field(path), shown(factor), detail));
    }
    let ratio = if factor < 1.0 { 1.0 / factor * data } else { data / factor };
    let near = (ratio - ratio.round()).abs() <= 1e-9 * ratio.abs().max(1.0);
    if !near {
        found.broken(path, number, &format!("should be a multiple of {factor}"));
    }
}

/// A number as Go writes it: whole ones without a fraction.
fn shown(number: f64) -> Value {
    match number.fract() == 0.0 && number.abs() < 1e15 {
        #[allow(clippy::cast_possible_truncation, reason = "it is whole and small")]
        true => Value::from(number as i64),
        false => Value::from(number),
    }
}

/// A bound as Go writes it in a sentence: large ones with an exponent.
fn bound(number: f64) -> String {
    if number.abs() < 1e21 {
        return number.to_string();
    }
    let text = format!("{number:e}");
    match text.split_once('e') {
        Some((digits, exponent)) => format!("{digits}e+{exponent:0>2}"),
        None => text,
    }
}

pub(super) fn items(items: &[Value], rules: &Rules, path: &str, found: &mut Found) {
    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
    if let Some(min) = rules.min_items.filter(|min| length < *min) {
        found.broken(path, length, &format!("should have at least {min} items"));
    }
    if let Some(max) = rules.max_items.filter(|max| length > *max) {
        let max = usize::try_from(max).unwrap_or(0);
        found.errors.push(FieldError::too_many(&field(path), items.len(), max));
    }
}

pub(super) fn properties(map: &Map<String, Value>, rules: &Rules, path: &str, found: &mut Found) {
    let length = i64::try_from(map.len()).unwrap_or(i64::MAX);
    if let Some(min) = rules.min_properties.filter(|min| length < *min) {
        found.broken(path, length, &format!("should have at least {min} properties"));
    }
    if let Some(max) = rules.max_properties.filter(|max| length > *max) {
        let max = usize::try_from(max).unwrap_or(0);
        found.errors.push(FieldError::too_many(&field(path), map.len(), max));
    }
}

pub(super) fn required(map: &Map<String, Value>, rules: &Rules, path: &str, found: &mut Found) {
    for name in rules.required.iter().filter(|name| !map.contains_key(*name)) {
        found.errors.push(FieldError::required(&field(&format!("{path}.{name}")), ""));
    }
}

/// `enum`.
pub(super) fn values(data: &Value, rules: &Rules, path: &str, found: &mut Found) {
    if rules.values.is_empty() || rules.values.contains(data) {
        return;
    }
    let shown: Vec<String> = rules
        .values
        .iter()
        .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        .collect();
    let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
    found.errors.push(FieldError::not_supported(&field(path), data, &shown));
}

/// `anyOf`, `oneOf`, `allOf` and `not`.
pub(super) fn operators(data: &Value, rules: &Rules, path: &str, found: &mut Found) {
    let tried = |schema| {
        let mut tried = Found::default();
        value(data, schema, path, &mut tried);
        tried
    };
    let best = |alternatives: Vec<Found>| {
        // The first of those with most rules fulfilled.
        let best = alternatives.iter().map(|found| found.fulfilled).max();
        alternatives.into_iter().find(|found| Some(found.fulfilled) == best)
    };
    if !rules.any_of.is_empty() {
        let alternatives: Vec<Found> = rules.any_of.iter().map(tried).collect();
        if alternatives.iter().all(|found| !found.errors.is_empty()) {
            found.operator(path, "must validate at least one schema (anyOf)");
            found.errors.extend(best(alternatives).into_iter().flat_map(|found| found.errors));
        }
    }
    if !rules.one_of.is_empty() {
        let alternatives: Vec<Found> = rules.one_of.iter().map(tried).collect();
        match alternatives.iter().filter(|found| found.errors.is_empty()).count() {
            1 => {}
            0 => {
                found.operator(path, "must validate one and only one schema (oneOf). Found none valid");
                found.errors.extend(best(alternatives).into_iter().flat_map(|found| found.errors));
            }
            count => {
                let sentence = "must validate one and only one schema (oneOf).";
                found.operator(path, &format!("{sentence} Found {count} valid alternatives"));
            }
        }
    }
    if !rules.all_of.is_empty() {
        let all: Vec<Found> = rules.all_of.iter().map(tried).collect();
        let fulfilled = all.iter().filter(|found| found.errors.is_empty()).count();
        let length = all.len();
        all.into_iter().for_each(|each| found.join(each));
        if fulfilled < length {
            let none = if fulfilled == 0 { ". None validated" } else { "" };
            found.operator(path, &format!("must validate all the schemas (allOf){none}"));
        }
    }
    if rules.not.as_deref().is_some_and(|schema| tried(schema).errors.is_empty()) {
        found.operator(path, "must not validate the schema (not)");
    }
}

//! Nobody gives away more than it has.

use std::collections::{BTreeMap, BTreeSet};

use kube_wire::UserInfo;

use super::{Policy, Rule, rules::quoted};

/// Whether a user has, in a namespace, all that these rules allow.
///
/// # Errors
/// What is missing, in upstream's words.
pub(super) fn confirm(
    policy: &Policy,
    user: &UserInfo,
    namespace: &str,
    rules: &[Rule],
) -> Result<(), String> {
    let (own, problems) = policy.rules_for(user, namespace);
    let pieces = rules.iter().flat_map(Rule::pieces);
    let missing: Vec<Rule> = pieces.filter(|piece| !own.iter().any(|own| own.covers(piece))).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let shown: BTreeSet<String> = compact(missing).iter().map(Rule::shown).collect();
    let shown: Vec<String> = shown.into_iter().collect();
    let mut message = format!(
        "user {:?} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
        user.name,
        quoted(&user.groups),
        shown.join("\n")
    );
    if !problems.is_empty() {
        let problems =
            if problems.len() == 1 { problems[0].clone() } else { format!("[{}]", problems.join(", ")) };
        message.push_str(&format!("; resolution errors: [{problems}]"));
    }
    Err(message)
}

/// Pieces that differ in nothing but the verb, as one.
fn compact(pieces: Vec<Rule>) -> Vec<Rule> {
    let mut merged: BTreeMap<Rule, Vec<String>> = BTreeMap::new();
    let mut others = Vec::new();
    for piece in pieces {
        if piece.non_resource_urls.is_empty() {
            let verbs = piece.verbs.clone();
            merged.entry(Rule { verbs: Vec::new(), ..piece }).or_default().extend(verbs);
        } else {
            others.push(piece);
        }
    }
    others.extend(merged.into_iter().map(|(rule, verbs)| Rule { verbs, ..rule }));
    others
}

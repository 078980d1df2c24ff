//! The four kinds.

mod bindings;
mod roles;

pub use bindings::{ClusterRoleBinding, RoleBinding, RoleRef, Subject};
pub use roles::{AggregationRule, ClusterRole, LabelSelector, Requirement, Role};

use apiserver::resource::{Column, Definition};

/// What the four have in common.
fn describe(definition: &mut Definition, columns: Vec<Column>) {
    definition.name_rule = apiserver::validation::names::path_segment;
    definition.qualified_finalizers = true;
    definition.create_on_update = true;
    definition.versions[0].columns = columns;
}

//! The form of `metadata`.

use std::sync::{Arc, LazyLock};

use super::{Kind, Struct};

/// `metav1.ObjectMeta`.
pub static OBJECT_META: LazyLock<Kind> = LazyLock::new(|| {
    let text = || Kind::Text("string");
    let texts = || Kind::Map(Box::new(text()));
    let owner = structure(
        "OwnerReference",
        [
            ("apiVersion", text()),
            ("kind", text()),
            ("name", text()),
            ("uid", Kind::Text("types.UID")),
            ("controller", Kind::Boolean),
            ("blockOwnerDeletion", Kind::Boolean),
        ],
    );
    let managed = structure(
        "ManagedFieldsEntry",
        [
            ("manager", text()),
            ("operation", Kind::Text("v1.ManagedFieldsOperationType")),
            ("apiVersion", text()),
            ("time", Kind::Time),
            ("fieldsType", text()),
            ("fieldsV1", Kind::Any),
            ("subresource", text()),
        ],
    );
    structure(
        "ObjectMeta",
        [
            ("name", text()),
            ("generateName", text()),
            ("namespace", text()),
            ("selfLink", text()),
            ("uid", Kind::Text("types.UID")),
            ("resourceVersion", text()),
            ("generation", Kind::Integer("int64")),
            ("creationTimestamp", Kind::Time),
            ("deletionTimestamp", Kind::Time),
            ("deletionGracePeriodSeconds", Kind::Integer("int64")),
            ("labels", texts()),
            ("annotations", texts()),
            ("ownerReferences", Kind::List(Box::new(owner))),
            ("finalizers", Kind::List(Box::new(text()))),
            ("managedFields", Kind::List(Box::new(managed))),
        ],
    )
});

fn structure<const N: usize>(name: &str, fields: [(&str, Kind); N]) -> Kind {
    let fields = fields.into_iter().map(|(name, kind)| (name.to_owned(), kind)).collect();
    Kind::Struct(Arc::new(Struct { name: name.to_owned(), fields, open: false }))
}

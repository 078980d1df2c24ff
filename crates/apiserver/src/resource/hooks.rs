//! What a resource adds to the rules that all resources share.

use super::{Fields, Mistakes, Refusal, TimeToLive, Writer};

/// The rules of one resource, on objects in the version in which they are stored. Each method has a
/// default that does nothing.
pub trait Strategy: Send + Sync {
    /// Fills in what a client may leave out.
    fn set_defaults(&self, object: &mut Fields) {
        let _ = object;
    }

    /// Sets what only the server may set, before a new object is checked.
    fn prepare_for_create(&self, object: &mut Fields, writer: Writer<'_>) {
        let _ = (object, writer);
    }

    /// Sets what only the server may set, before a changed object is checked.
    fn prepare_for_update(&self, object: &mut Fields, old: &Fields, writer: Writer<'_>) {
        let _ = (object, old, writer);
    }

    /// What is wrong with an object, new or changed, besides its metadata.
    fn validate(&self, object: &Fields) -> Mistakes {
        let _ = object;
        Vec::new()
    }

    /// What is wrong with a change.
    fn validate_update(&self, object: &Fields, old: &Fields) -> Mistakes {
        let _ = (object, old);
        Vec::new()
    }

    /// What a client should know, although it may be written.
    fn warnings(&self, object: &Fields, old: Option<&Fields>) -> Vec<String> {
        let _ = (object, old);
        Vec::new()
    }

    /// How long it stays.
    fn time_to_live(&self, object: &Fields) -> TimeToLive {
        let _ = object;
        None
    }
}

/// The way between a version and the one in which objects are stored. Metadata, kind and `apiVersion`
/// are taken care of.
pub trait Conversion: Send + Sync {
    /// To the stored version.
    ///
    /// # Errors
    /// What the client is told when that cannot be done.
    fn to_stored(&self, object: Fields) -> Result<Fields, Refusal>;

    /// From the stored version.
    ///
    /// # Errors
    /// What the client is told when that cannot be done.
    fn of_stored(&self, object: Fields) -> Result<Fields, Refusal>;
}

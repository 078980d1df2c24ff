//! All objects that a selector means, deleted one by one.

use kube_wire::Status;

use super::{Call, Engine, Listed};
use crate::options::{DeleteOptions, ListOptions};

impl Engine {
    /// Deletes them and says which they were. One that is gone already is no mistake.
    ///
    /// # Errors
    /// The first one; what was deleted before stays deleted.
    pub async fn delete_collection(
        &self,
        call: &Call<'_>,
        options: &DeleteOptions,
        which: &ListOptions,
    ) -> Result<Listed, Status> {
        let listed = self.list(call, which).await?;
        for entry in &listed.entries {
            let one = Call {
                name: entry.key.name(),
                namespace: entry.key.namespace().unwrap_or_default(),
                ..*call
            };
            match self.delete(&one, options).await {
                Err(status) if status.code != 404 => return Err(status),
                _ => {}
            }
        }
        Ok(listed)
    }
}

//! Between the version of a request and the one in which objects are stored.

use kube_wire::Status;

use super::{Definition, Fields, Version};

impl Definition {
    /// An object of this version as it is stored.
    ///
    /// # Errors
    /// What the conversion says.
    pub fn to_stored(&self, version: &Version, object: Fields) -> Result<Fields, Status> {
        let converted = match &version.conversion {
            Some(conversion) => conversion.to_stored(object).map_err(|refusal| *refusal)?,
            None => object,
        };
        Ok(named(converted, &self.names.kind, self.api_version(self.stored_version())))
    }

    /// A stored object as this version shows it.
    ///
    /// # Errors
    /// What the conversion says.
    pub fn of_stored(&self, version: &Version, object: Fields) -> Result<Fields, Status> {
        let converted = match &version.conversion {
            Some(conversion) => conversion.of_stored(object).map_err(|refusal| *refusal)?,
            None => object,
        };
        Ok(named(converted, &self.names.kind, self.api_version(version)))
    }
}

fn named(mut object: Fields, kind: &str, api_version: String) -> Fields {
    object.insert("kind".to_owned(), kind.into());
    object.insert("apiVersion".to_owned(), api_version.into());
    object
}

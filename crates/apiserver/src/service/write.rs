//! `create`, `update`, `delete` and `deletecollection`.

use bytes::Bytes;
use kube_wire::Status;

use super::{Asked, Incoming, Service, body, respond, respond::Outcome};
use crate::{
    answer::Wish,
    decode::{self, Decoded, Syntax},
    engine::{Change, Subresource},
    object::text,
    options::{DeleteOptions, ListOptions, WriteOptions},
    resource::Fields,
};

impl Service {
    pub(super) async fn create(
        &self,
        asked: &Asked<'_>,
        body: Incoming,
        warnings: &mut Vec<String>,
    ) -> Outcome {
        let wish = Wish::negotiate(&asked.head.headers, asked.query)?;
        let (syntax, bytes) = self.read_body(asked, body).await?;
        let options = WriteOptions::read(asked.query, "CreateOptions")?;
        let decoded = decoded(asked, syntax, &options, &bytes)?;
        warnings.extend(decoded.warnings);
        let fields = asked.definition().to_stored(asked.served.version(), decoded.object)?;
        let manager = options.manager(&asked.head.headers);
        let stored = self.engine.create(&asked.call(&manager), fields, options.dry_run, warnings).await?;
        Ok(respond::object(201, asked.served.stored(stored, wish.shape)?, wish.encoding))
    }

    pub(super) async fn update(
        &self,
        asked: &Asked<'_>,
        body: Incoming,
        warnings: &mut Vec<String>,
    ) -> Outcome {
        let wish = Wish::negotiate(&asked.head.headers, asked.query)?;
        let (syntax, bytes) = self.read_body(asked, body).await?;
        let options = WriteOptions::read(asked.query, "UpdateOptions")?;
        let decoded = decoded(asked, syntax, &options, &bytes)?;
        warnings.extend(decoded.warnings);
        check_name(&asked.info.name, &asked.info.namespace, &decoded.object)?;
        let fields = asked.definition().to_stored(asked.served.version(), decoded.object)?;
        let manager = options.manager(&asked.head.headers);
        let change = Change {
            compute: Box::new(|_| Ok(fields.clone())),
            may_create: asked.definition().create_on_update && asked.subresource == Subresource::None,
            dry_run: options.dry_run,
        };
        let updated = self.engine.update(&asked.call(&manager), change, warnings).await?;
        let code = if updated.created { 201 } else { 200 };
        Ok(respond::object(code, asked.served.stored(updated.object, wish.shape)?, wish.encoding))
    }

    pub(super) async fn delete(&self, asked: &Asked<'_>, body: Incoming) -> Outcome {
        let wish = Wish::negotiate(&asked.head.headers, asked.query)?;
        let (syntax, bytes) = self.read_optional_body(asked, body).await?;
        let options = DeleteOptions::read(asked.query, syntax, &bytes, asked.served.api_version())?;
        let call = asked.call("");
        let deleted = self.engine.delete(&call, &options).await?;
        if deleted.gone && !asked.definition().returns_deleted {
            return Ok(respond::status(&deleted.status(&call), wish.encoding));
        }
        let code = if !deleted.gone && options.orphan_dependents == Some(false) { 202 } else { 200 };
        Ok(respond::object(code, asked.served.stored(deleted.object, wish.shape)?, wish.encoding))
    }

    pub(super) async fn delete_collection(&self, asked: &Asked<'_>, body: Incoming) -> Outcome {
        let wish = Wish::negotiate(&asked.head.headers, asked.query)?;
        let which = ListOptions::read(asked.query, false, asked.definition(), "")?;
        let (syntax, bytes) = self.read_optional_body(asked, body).await?;
        let options = DeleteOptions::read(asked.query, syntax, &bytes, asked.served.api_version())?;
        let listed = self.engine.delete_collection(&asked.call(""), &options, &which).await?;
        // What was deleted is shown as it was before.
        Ok(respond::object(200, asked.served.list(&listed, wish.shape)?, wish.encoding))
    }

    pub(super) async fn read_body(
        &self,
        asked: &Asked<'_>,
        incoming: Incoming,
    ) -> Result<(Syntax, Bytes), Status> {
        let syntax = decode::syntax(&asked.head.headers)?;
        Ok((syntax, body::collect(incoming, self.parts.limits.max_body).await?))
    }

    /// A deletion need not have a body; then nobody looks at its type.
    async fn read_optional_body(
        &self,
        asked: &Asked<'_>,
        incoming: Incoming,
    ) -> Result<(Syntax, Bytes), Status> {
        let bytes = body::collect(incoming, self.parts.limits.max_body).await?;
        let syntax = if bytes.is_empty() { Syntax::Json } else { decode::syntax(&asked.head.headers)? };
        Ok((syntax, bytes))
    }
}

fn decoded(
    asked: &Asked<'_>,
    syntax: Syntax,
    options: &WriteOptions,
    bytes: &[u8],
) -> Result<Decoded, Status> {
    decode::object(asked.definition(), asked.served.version(), syntax, options.field_validation, bytes)
}

/// Name and namespace of what is sent must be those of the URL.
pub(super) fn check_name(name: &str, namespace: &str, object: &Fields) -> Result<(), Status> {
    let (own, own_namespace) = (text(object, "metadata.name"), text(object, "metadata.namespace"));
    if !namespace.is_empty() && !own_namespace.is_empty() && own_namespace != namespace {
        return Err(Status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    if own.is_empty() {
        return Err(Status::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        )));
    }
    if own != name {
        return Err(Status::bad_request(format!(
            "the name of the object ({own}) does not match the name on the URL ({name})"
        )));
    }
    Ok(())
}

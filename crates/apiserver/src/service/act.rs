//! What is answered and not stored.

use std::sync::Arc;

use kube_wire::Status;

use super::{Asked, Incoming, Service, respond, respond::Outcome, write::check_name};
use crate::{
    answer::{Served, Wish},
    decode,
    engine::Subresource,
    hooks::{Attributes, Operation},
    object::{Stored, text},
    options::WriteOptions,
    resource::{Action, Answers, Fields, Question},
    storage::Revision,
};

impl Service {
    /// A resource of its own, such as a review.
    pub(super) async fn answer(
        &self,
        asked: &Asked<'_>,
        answers: &dyn Answers,
        body: Incoming,
        warnings: &mut Vec<String>,
    ) -> Outcome {
        let served = Arc::clone(asked.served);
        self.ask(asked, &served, answers, body, warnings).await
    }

    /// A subresource that does something.
    pub(super) async fn act(
        &self,
        asked: &Asked<'_>,
        action: &Action,
        body: Incoming,
        warnings: &mut Vec<String>,
    ) -> Outcome {
        if asked.info.verb != action.verb() || asked.info.name.is_empty() {
            return Err(respond::method_not_allowed());
        }
        let served = match &action.kind {
            Some(kind) => Arc::new(Served::new(Arc::clone(kind), 0)),
            None => Arc::clone(asked.served),
        };
        self.ask(asked, &served, &*action.answers, body, warnings).await
    }

    async fn ask(
        &self,
        asked: &Asked<'_>,
        served: &Served,
        answers: &dyn Answers,
        body: Incoming,
        warnings: &mut Vec<String>,
    ) -> Outcome {
        let wish = Wish::negotiate(&asked.head.headers, asked.query)?;
        let (syntax, bytes) = self.read_body(asked, body).await?;
        let creates = asked.info.verb == "create";
        let options =
            WriteOptions::read(asked.query, if creates { "CreateOptions" } else { "UpdateOptions" })?;
        let (kind, version) = (served.definition(), served.version());
        let decoded = decode::object(kind, version, syntax, options.field_validation, &bytes)?;
        warnings.extend(decoded.warnings);
        let mut object = kind.to_stored(version, decoded.object)?;
        self.check_place(asked, &object, creates)?;
        let write = Attributes {
            operation: if creates { Operation::Create } else { Operation::Update },
            definition: asked.definition(),
            subresource: &asked.info.subresource,
            namespace: &asked.info.namespace,
            name: &asked.info.name,
            user: asked.user,
            dry_run: options.dry_run,
            any_version: false,
        };
        kind.strategy.set_defaults(&mut object);
        self.engine.admit(write, &mut object, None).await?;
        let errors = kind.strategy.validate(&object);
        if !errors.is_empty() {
            let name = text(&object, "metadata.name");
            return Err(crate::validation::invalid(&kind.names.kind, &kind.group, name, &errors));
        }
        self.engine.judge(write, Some(&object), None).await?;
        let question = Question {
            object,
            user: asked.user,
            namespace: &asked.info.namespace,
            name: &asked.info.name,
            dry_run: options.dry_run,
            engine: &self.engine,
        };
        let mut fields: Fields = answers.answer(question).await?;
        fields.insert("kind".to_owned(), (*kind.names.kind).into());
        fields.insert("apiVersion".to_owned(), kind.api_version(kind.stored_version()).into());
        let answer = served.stored(Stored { fields, revision: Revision(0) }, wish.shape)?;
        Ok(respond::object(if creates { 201 } else { 200 }, answer, wish.encoding))
    }

    /// What is sent must be for the object and the namespace of the URL, where it says so.
    fn check_place(&self, asked: &Asked<'_>, object: &Fields, creates: bool) -> Result<(), Status> {
        let info = asked.info;
        if !creates {
            return check_name(&info.name, &info.namespace, object);
        }
        let (name, namespace) = (text(object, "metadata.name"), text(object, "metadata.namespace"));
        if !namespace.is_empty() && namespace != info.namespace {
            return Err(Status::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
        if asked.subresource == Subresource::None
            && !info.name.is_empty()
            && !name.is_empty()
            && name != info.name
        {
            return Err(Status::bad_request(format!(
                "the name of the object ({name}) does not match the name on the URL ({})",
                info.name
            )));
        }
        Ok(())
    }
}

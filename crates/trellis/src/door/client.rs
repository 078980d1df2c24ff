//! Requests to the door, and what its refusals mean for a command.

use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use kube::{Client, client::Body};
use serde_json::Value;

use super::kubeconfig;
use crate::{
    args::DoorArgs,
    exit::{Code, Outcome, Problem, chain},
};

/// Longest answer that is read; a list of thousands of servers is far shorter.
const MAX_ANSWER: usize = 64 << 20;

/// A connection to the door.
pub(crate) struct Door {
    client: Client,
    url: String,
}

/// An answer, read to its end.
pub(crate) struct Answer {
    /// HTTP status.
    pub(crate) code: StatusCode,
    /// The body as JSON; a string when it is none.
    pub(crate) body: Value,
}

impl Door {
    /// The door that the arguments and the environment name.
    pub(crate) async fn find(args: &DoorArgs) -> Outcome<Self> {
        let config = kubeconfig::load(args).await?;
        let url = config.cluster_url.to_string();
        let client = Client::try_from(config).map_err(|error| {
            Problem::new(Code::Input, format!("cannot use the kubeconfig for {url}: {}", chain(&error)))
        })?;
        Ok(Self { client, url })
    }

    /// Its URL.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Sends a request and reads the answer, whatever its status.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        content_type: Option<&str>,
        body: Option<&Value>,
    ) -> Outcome<Answer> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::ACCEPT, "application/json")
            .header(header::USER_AGENT, concat!("trellis/", env!("CARGO_PKG_VERSION")));
        if let Some(content_type) = content_type {
            request = request.header(header::CONTENT_TYPE, content_type);
        }
        let bytes = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        let request = request
            .body(Body::from(bytes))
            .map_err(|error| Problem::new(Code::Input, format!("cannot ask the door for {path}: {error}")))?;
        let response = self.client.send(request).await.map_err(|error| self.unreachable(&error))?;
        let code = response.status();
        let body = Limited::new(response.into_body(), MAX_ANSWER)
            .collect()
            .await
            .map_err(|error| self.unreachable(error.as_ref()))?
            .to_bytes();
        let body = serde_json::from_slice(&body)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&body).trim().to_owned()));
        Ok(Answer { code, body })
    }

    /// Sends a request; anything but 2xx is a problem.
    pub(crate) async fn expect(&self, method: Method, path: &str, body: Option<&Value>) -> Outcome<Value> {
        let content_type = body.map(|_| "application/json");
        let answer = self.send(method, path, content_type, body).await?;
        if answer.code.is_success() { Ok(answer.body) } else { Err(self.refused(&answer)) }
    }

    /// What a refusal means.
    pub(crate) fn refused(&self, answer: &Answer) -> Problem {
        let message = answer.message();
        let says = format!("the door at {} says: {message}", self.url);
        match answer.code {
            StatusCode::UNAUTHORIZED => {
                Problem::new(Code::Refused, format!("the door at {} does not know you", self.url))
                    .next("use the admin.kubeconfig in its state folder, or a user that it knows")
            }
            StatusCode::FORBIDDEN => Problem::new(Code::Refused, says)
                .next("writing registrations needs the group system:masters, or a permission in the core"),
            StatusCode::NOT_FOUND => Problem::new(Code::NotFound, says),
            StatusCode::CONFLICT => Problem::new(Code::Conflict, says),
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => Problem::new(Code::Input, says),
            code if code.is_server_error() => Problem::new(Code::Failure, format!("{says} ({code})")),
            code => Problem::new(Code::Failure, format!("{says} ({code})")),
        }
    }

    fn unreachable(&self, error: &(dyn std::error::Error + 'static)) -> Problem {
        Problem::new(Code::Unreachable, format!("cannot reach the door at {}: {}", self.url, chain(error)))
            .next("see that it runs (`trellis up`, `trellis serve`) and that the kubeconfig is its own")
    }
}

impl Answer {
    /// The message of a `Status`, or the text itself.
    pub(crate) fn message(&self) -> String {
        match &self.body {
            Value::String(text) if text.is_empty() => self.code.to_string(),
            Value::String(text) => text.chars().take(500).collect(),
            body => body["message"].as_str().map_or_else(|| self.code.to_string(), str::to_owned),
        }
    }
}

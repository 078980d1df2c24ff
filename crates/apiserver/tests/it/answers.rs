//! What is answered and not stored; and how answers travel.

use std::{io::Read as _, sync::Arc};

use apiserver::{
    engine::Hooks,
    hooks::{AllowAll, Later},
    resource::{Action, Answers, Definition, Fields, Object, Question, Resource},
    service::{Incoming, Service},
    storage::{Embedded, Options},
    validation::{FieldError, Path},
};
use flate2::read::GzDecoder;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use kube_wire::Status;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Asks for the sum of numbers.
#[derive(Serialize, Deserialize, JsonSchema)]
struct SumReview {
    /// The numbers.
    spec: Numbers,
    /// Their sum.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Sum>,
}

/// What is added up.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Numbers {
    /// They.
    numbers: Vec<i64>,
    /// A note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<Note>,
}

/// Says what it is for.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Note {
    /// Who says it.
    author: String,
    /// What.
    text: String,
}

/// What comes of it.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Sum {
    /// The sum.
    sum: i64,
}

impl Resource for SumReview {
    const GROUP: &'static str = "sums.example.com";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "SumReview";
    const PLURAL: &'static str = "sumreviews";

    fn validate(object: &Object<Self>) -> Vec<FieldError> {
        let field = Path::new("spec").child("numbers");
        let none = object.body.spec.numbers.is_empty();
        none.then(|| FieldError::required(&field, "there is nothing to add")).into_iter().collect()
    }
}

/// Adds up; with an action also the length of the name of the object.
struct Adds;

impl Answers for Adds {
    fn answer<'a>(&'a self, question: Question<'a>) -> Later<'a, Result<Fields, Status>> {
        Box::pin(async move {
            let mut fields = question.object;
            let numbers = fields["spec"]["numbers"].as_array().into_iter().flatten();
            let sum: i64 = numbers.filter_map(Value::as_i64).sum();
            let length = i64::try_from(question.name.len()).unwrap_or_default();
            let who = format!("{} in {:?}", question.user.name, question.namespace);
            fields.insert("status".to_owned(), json!({"sum": sum + length, "who": who}));
            Ok(fields)
        })
    }
}

fn service() -> Service {
    let review = Definition::of::<SumReview>().answered_by(Adds);
    let mut thing = Definition::new("sums.example.com", "v1", "Thing", "things");
    let kind = Some(Arc::new(Definition::of::<SumReview>()));
    let action =
        |name: &str, creates, kind| Action { name: name.to_owned(), creates, kind, answers: Arc::new(Adds) };
    thing.actions = vec![action("sum", true, kind), action("finalize", false, None)];
    let store = Embedded::in_memory(Options::default()).unwrap();
    let builder = Service::builder().hooks(Hooks::authorized_by(AllowAll)).resource(review).resource(thing);
    builder.build(Arc::new(store)).unwrap()
}

const REVIEWS: &str = "/apis/sums.example.com/v1/namespaces/default/sumreviews";
const THINGS: &str = "/apis/sums.example.com/v1/namespaces/default/things";

async fn open(
    service: &Service,
    (method, path): (&str, &str),
    headers: &[(&str, &str)],
    body: impl ToString,
) -> Response<apiserver::service::Body> {
    let body = Incoming::new(Full::new(body.to_string().into()).map_err(|never| match never {}));
    let request =
        headers.iter().fold(Request::builder().method(method).uri(path), |request, (name, value)| {
            request.header(*name, *value)
        });
    service.handle(request.body(body).unwrap()).await
}

async fn ask(service: &Service, asked: (&str, &str), body: impl ToString) -> (StatusCode, Value) {
    let response = open(service, asked, &[], body).await;
    let status = response.status();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

#[tokio::test]
async fn a_review_is_answered_and_not_stored() {
    let service = service();
    let (status, answer) = ask(&service, ("POST", REVIEWS), json!({"spec": {"numbers": [1, 2]}})).await;
    assert_eq!(status, 201, "{answer}");
    let expected = json!({
        "kind": "SumReview", "apiVersion": "sums.example.com/v1", "metadata": {},
        "spec": {"numbers": [1, 2]}, "status": {"sum": 3, "who": "system:anonymous in \"default\""},
    });
    assert_eq!(answer, expected);
    for method in ["GET", "DELETE", "PUT", "PATCH"] {
        assert_eq!(ask(&service, (method, REVIEWS), "{}").await.0, 405, "{method}");
    }
    assert_eq!(service.engine().revision().await.unwrap().0, 0);
}

#[tokio::test]
async fn an_action_has_a_kind_of_its_own_or_that_of_its_object() {
    let service = service();
    let numbers = json!({"spec": {"numbers": [1, 2]}});
    let (status, answer) = ask(&service, ("POST", &format!("{THINGS}/four/sum")), &numbers).await;
    assert_eq!((status.as_u16(), &answer["status"]["sum"]), (201, &json!(7)), "{answer}");
    assert_eq!(answer["kind"], "SumReview");
    let finalize = format!("{THINGS}/four/finalize");
    let whole = json!({"metadata": {"name": "four"}, "spec": {"numbers": [1]}});
    let (status, answer) = ask(&service, ("PUT", &finalize), &whole).await;
    assert_eq!((status.as_u16(), &answer["status"]["sum"]), (200, &json!(5)), "{answer}");
    assert_eq!(answer["kind"], "Thing");
    // Of another object, of another namespace, with another verb, under another name.
    let other = json!({"metadata": {"name": "five"}});
    assert_eq!(ask(&service, ("PUT", &finalize), &other).await.0, 400);
    let elsewhere = json!({"metadata": {"namespace": "other"}, "spec": {"numbers": [1]}});
    assert_eq!(ask(&service, ("POST", &format!("{THINGS}/four/sum")), &elsewhere).await.0, 400);
    assert_eq!(ask(&service, ("POST", &finalize), &whole).await.0, 405);
    assert_eq!(ask(&service, ("GET", &finalize), "").await.0, 405);
    assert_eq!(ask(&service, ("POST", &format!("{THINGS}/four/eviction")), &whole).await.0, 404);
}

#[tokio::test]
async fn documents_say_what_can_be_asked() {
    let service = service();
    let (_, list) = ask(&service, ("GET", "/apis/sums.example.com/v1"), "").await;
    let resources = list["resources"].as_array().unwrap();
    let named = |name: &str| resources.iter().find(|resource| resource["name"] == name).unwrap();
    assert_eq!(named("sumreviews")["verbs"], json!(["create"]));
    assert_eq!(named("sumreviews")["storageVersionHash"], Value::Null);
    assert_eq!(named("things/sum")["verbs"], json!(["create"]));
    assert_eq!(named("things/sum")["kind"], "SumReview");
    assert_eq!(named("things/finalize")["verbs"], json!(["update"]));
    assert_eq!(named("things/finalize")["kind"], "Thing");
    let (_, openapi) = ask(&service, ("GET", "/openapi/v3/apis/sums.example.com/v1"), "").await;
    let path = "/apis/sums.example.com/v1/namespaces/{namespace}/things/{name}/sum";
    let post = &openapi["paths"][path]["post"];
    assert_eq!(post["x-kubernetes-group-version-kind"]["kind"], "SumReview", "{post}");
    assert!(openapi["paths"]["/apis/sums.example.com/v1/namespaces/{namespace}/sumreviews"]["get"].is_null());
}

#[tokio::test]
async fn what_cannot_be_served_is_refused() {
    let refused = |change: fn(&mut Definition)| {
        let mut definition = Definition::of::<SumReview>().answered_by(Adds);
        change(&mut definition);
        definition.check().is_err()
    };
    assert!(!refused(|_| {}));
    assert!(refused(|definition| definition.verbs.push("get")));
    let action = || Action { name: "status".to_owned(), creates: true, kind: None, answers: Arc::new(Adds) };
    let mut definition = Definition::new("sums.example.com", "v1", "Thing", "things");
    definition.actions = vec![action()];
    assert!(definition.check().is_ok());
    definition.status = true;
    assert!(definition.check().is_err());
    definition.status = false;
    definition.actions.push(action());
    assert!(definition.check().is_err());
}

#[tokio::test]
async fn what_is_missing_is_named_field_by_field() {
    let service = service();
    let missing = [
        (json!({}), "spec: Required value"),
        (json!({"spec": {}}), "spec.numbers: Required value"),
        (json!({"spec": {"numbers": []}}), "spec.numbers: Required value: there is nothing to add"),
        (
            json!({"spec": {"note": {"text": "a"}}}),
            "[spec.numbers: Required value, spec.note.author: Required value]",
        ),
        (json!({"spec": {"numbers": null}}), "spec.numbers: Required value"),
    ];
    for (body, sentence) in missing {
        let (status, answer) = ask(&service, ("POST", REVIEWS), &body).await;
        assert_eq!(status, 422, "{answer}");
        let expected = format!("SumReview.sums.example.com \"\" is invalid: {sentence}");
        assert_eq!(answer["message"], expected, "{body}");
        assert_eq!(answer["details"]["causes"][0]["reason"], "FieldValueRequired");
    }
}

#[tokio::test]
async fn large_answers_are_compressed_for_who_takes_it() {
    let service = service();
    let text = "x".repeat(200_000);
    let large = json!({"metadata": {"name": "large"}, "spec": text});
    let (status, made) = ask(&service, ("POST", THINGS), &large).await;
    assert_eq!(status, 201);
    let one = format!("{THINGS}/large");
    for takes in ["gzip", "deflate, gzip", " gzip ,br"] {
        for path in [&*one, THINGS] {
            let response = open(&service, ("GET", path), &[("accept-encoding", takes)], "").await;
            assert_eq!(response.headers()["content-encoding"], "gzip", "{takes}");
            assert_eq!(response.headers()["vary"], "Accept-Encoding");
            let bytes = response.into_body().collect().await.unwrap().to_bytes();
            assert!(bytes.len() < 20_000, "{}", bytes.len());
            let mut plain = String::new();
            GzDecoder::new(&*bytes).read_to_string(&mut plain).unwrap();
            let value: Value = serde_json::from_str(&plain).unwrap();
            let own = if path == one { &value } else { &value["items"][0] };
            assert_eq!(own["spec"], made["spec"]);
        }
    }
    // Who does not say so in so many words, and what is small.
    ask(&service, ("POST", THINGS), json!({"metadata": {"name": "small"}})).await;
    let small = format!("{THINGS}/small");
    let plain =
        [(&*one, "br"), (&*one, "gzip;q=1"), (&*one, "*"), (&*small, "gzip"), ("/openapi/v2", "gzip")];
    for (path, takes) in plain {
        let response = open(&service, ("GET", path), &[("accept-encoding", takes)], "").await;
        assert!(!response.headers().contains_key("content-encoding"), "{path} {takes}");
    }
}

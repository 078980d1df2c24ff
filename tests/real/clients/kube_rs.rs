//! kube-rs, the Rust client.

use futures_util::{StreamExt as _, TryStreamExt as _};
use kube::{
    Api, Client, Config, Discovery,
    api::{
        ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams,
        PostParams, WatchEvent, WatchParams,
    },
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::{Value, json};

use crate::lab::Lab;

const NAME: &str = "matrix-kube-rs";

pub(crate) fn run(lab: &Lab) {
    let kubeconfig = lab.door.kubeconfig_of(lab.pki(), "admin", &["system:masters"]);
    let kubeconfig = Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(matrix(kubeconfig)).expect("the matrix");
}

fn flunder(step: &str) -> Value {
    json!({
        "apiVersion": "wardle.example.com/v1alpha1", "kind": "Flunder",
        "metadata": {"name": NAME, "labels": {"step": step}}, "spec": {"reference": "other"},
    })
}

fn step(object: &DynamicObject) -> &str {
    object.metadata.labels.as_ref().and_then(|labels| labels.get("step")).map_or("", String::as_str)
}

async fn matrix(kubeconfig: Kubeconfig) -> kube::Result<()> {
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    let mut config = config.expect("a configuration");
    let client = Client::try_from(config.clone())?;

    let resource = resource(client.clone()).await?;
    let api: Api<DynamicObject> = Api::default_namespaced_with(client.clone(), &resource);
    let created = api.create(&PostParams::default(), &from(flunder("create"))).await?;
    let got = api.get(NAME).await?;
    assert_eq!(got.metadata.uid, created.metadata.uid);

    let patch = Patch::Merge(json!({"metadata": {"labels": {"step": "patch"}}}));
    assert_eq!(step(&api.patch(NAME, &PatchParams::default(), &patch).await?), "patch");
    let applied =
        api.patch(NAME, &PatchParams::apply("applier").force(), &Patch::Apply(flunder("apply"))).await?;
    assert_eq!(step(&applied), "apply");

    let selector = format!("metadata.name={NAME}");
    let mut events = api.watch(&WatchParams::default().fields(&selector), "0").await?.boxed();
    let mut seen = Vec::new();
    while let Some(event) = events.try_next().await? {
        match event {
            WatchEvent::Added(_) => {
                seen.push("added");
                api.delete(NAME, &DeleteParams::default()).await?;
            }
            WatchEvent::Deleted(_) => {
                seen.push("deleted");
                break;
            }
            WatchEvent::Bookmark(_) => {}
            _ => seen.push("other"),
        }
    }
    assert_eq!(seen, ["added", "deleted"]);
    assert!(api.get_opt(NAME).await?.is_none());

    config.auth_info.impersonate = Some("nobody".to_owned());
    let nobody = Client::try_from(config)?;
    let api: Api<DynamicObject> = Api::default_namespaced_with(nobody, &resource);
    match api.list(&ListParams::default()).await {
        Err(kube::Error::Api(status)) => assert_eq!(status.code, 403, "{status:?}"),
        other => panic!("nobody was answered {other:?}"),
    }
    Ok(())
}

/// The resource as discovery has it, in both of its forms.
async fn resource(client: Client) -> kube::Result<ApiResource> {
    let kind = GroupVersionKind::gvk("wardle.example.com", "v1alpha1", "Flunder");
    let aggregated = Discovery::new(client.clone()).filter(&["wardle.example.com"]).run_aggregated().await?;
    let legacy = Discovery::new(client).filter(&["wardle.example.com"]).run().await?;
    let (resource, _) = aggregated.resolve_gvk(&kind).expect("it is in the aggregated form");
    assert!(legacy.resolve_gvk(&kind).is_some(), "it is not in the legacy form");
    assert_eq!(resource.plural, "flunders");
    Ok(resource)
}

fn from(value: Value) -> DynamicObject {
    serde_json::from_value(value).expect("an object")
}

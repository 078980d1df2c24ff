"""The client matrix with the official Python client: kubernetes_client.py NAME; one `ok STEP` a step."""

import json
import sys

from kubernetes import client, config, watch
from kubernetes.client.rest import ApiException
from kubernetes.dynamic import DynamicClient

GROUP, VERSION, NAMESPACE = "wardle.example.com", "v1alpha1", "default"
name = sys.argv[1]


def flunder(step):
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "Flunder",
        "metadata": {"name": name, "labels": {"step": step}},
        "spec": {"reference": "other"},
    }


def ok(step):
    print("ok", step, flush=True)


config.load_kube_config()
api = client.ApiClient()
assert client.VersionApi(api).get_code().major == "1"
dynamic = DynamicClient(api)
flunders = dynamic.resources.get(api_version=f"{GROUP}/{VERSION}", kind="Flunder")
assert flunders.name == "flunders" and flunders.namespaced
ok("api-resources")

document = json.loads(dynamic.request("get", f"/openapi/v3/apis/{GROUP}/{VERSION}", serialize=False).data)
assert any(key.endswith("FlunderSpec") for key in document["components"]["schemas"])
ok("explain")

custom = client.CustomObjectsApi(api)
created = custom.create_namespaced_custom_object(GROUP, VERSION, NAMESPACE, "flunders", flunder("create"))
ok("create")

got = flunders.get(name=name, namespace=NAMESPACE)
assert got.metadata.uid == created["metadata"]["uid"]
ok("get")

patched = flunders.patch(
    name=name, namespace=NAMESPACE, body={"metadata": {"labels": {"step": "patch"}}},
    content_type="application/merge-patch+json",
)
assert patched.metadata.labels.step == "patch"
ok("patch")

applied = flunders.server_side_apply(
    name=name, namespace=NAMESPACE, body=flunder("apply"), field_manager="applier", force_conflicts=True
)
assert applied.metadata.labels.step == "apply"
ok("apply")

seen = []
stream = watch.Watch()
for event in stream.stream(
    custom.list_namespaced_custom_object, GROUP, VERSION, NAMESPACE, "flunders",
    field_selector=f"metadata.name={name}", timeout_seconds=60,
):
    seen.append(event["type"])
    if event["type"] == "ADDED":
        flunders.delete(name=name, namespace=NAMESPACE)
    if event["type"] == "DELETED":
        stream.stop()
assert seen == ["ADDED", "DELETED"], seen
ok("watch")

try:
    custom.get_namespaced_custom_object(GROUP, VERSION, NAMESPACE, "flunders", name)
    raise SystemExit("it is still there")
except ApiException as error:
    assert error.status == 404, error
ok("delete")

other = client.ApiClient()
other.set_default_header("Impersonate-User", "nobody")
try:
    client.CustomObjectsApi(other).list_namespaced_custom_object(GROUP, VERSION, NAMESPACE, "flunders")
    raise SystemExit("nobody was let in")
except ApiException as error:
    assert error.status == 403 and 'User "nobody" cannot list' in error.body.replace("\\", ""), error
ok("as")

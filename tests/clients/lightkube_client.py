"""The client matrix with lightkube: lightkube_client.py NAME; one `ok STEP` a step."""

import sys

from lightkube import ApiError, Client
from lightkube.generic_resource import create_namespaced_resource
from lightkube.types import PatchType

GROUP, VERSION, NAMESPACE = "wardle.example.com", "v1alpha1", "default"
name = sys.argv[1]
Flunder = create_namespaced_resource(GROUP, VERSION, "Flunder", "flunders")


def flunder(step):
    return Flunder(metadata={"name": name, "labels": {"step": step}}, spec={"reference": "other"})


def ok(step):
    print("ok", step, flush=True)


client = Client(namespace=NAMESPACE, field_manager="applier")
created = client.create(flunder("create"))
ok("create")

assert client.get(Flunder, name).metadata.uid == created.metadata.uid
ok("get")

patched = client.patch(Flunder, name, {"metadata": {"labels": {"step": "patch"}}}, patch_type=PatchType.MERGE)
assert patched.metadata.labels["step"] == "patch"
ok("patch")

applied = client.apply(flunder("apply"), force=True)
assert applied.metadata.labels["step"] == "apply"
ok("apply")

seen = []
for event, _ in client.watch(Flunder, fields={"metadata.name": name}):
    seen.append(event)
    if event == "ADDED":
        client.delete(Flunder, name)
    if event == "DELETED":
        break
assert seen == ["ADDED", "DELETED"], seen
ok("watch")

try:
    client.get(Flunder, name)
    raise SystemExit("it is still there")
except ApiError as error:
    assert error.status.code == 404, error
ok("delete")

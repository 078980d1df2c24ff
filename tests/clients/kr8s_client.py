"""The client matrix with kr8s: kr8s_client.py NAME; one `ok STEP` a step."""

import asyncio
import sys
import threading

import kr8s
import kr8s.asyncio
from kr8s.objects import new_class

GROUP, VERSION, NAMESPACE = "wardle.example.com", "v1alpha1", "default"
name = sys.argv[1]


def ok(step):
    print("ok", step, flush=True)


api = kr8s.api()
resources = [r for r in api.api_resources() if r["kind"] == "Flunder" and r["version"].startswith(GROUP)]
assert resources and resources[0]["name"] == "flunders", resources
ok("api-resources")


async def call(*arguments, **more):
    """What the library has no call of its own for goes through its general one, over its asynchronous half."""
    client = await kr8s.asyncio.api()
    async with client.call_api(*arguments, **more) as response:
        return response.json()


def flunders(method, url, **more):
    return asyncio.run(call(method, base=f"/apis/{GROUP}", version=VERSION, namespace=NAMESPACE, url=url, **more))


document = asyncio.run(call("GET", base=f"/openapi/v3/apis/{GROUP}", version="", url=VERSION))
assert any(key.endswith("FlunderSpec") for key in document["components"]["schemas"])
ok("explain")

Flunder = new_class(kind="Flunder", version=f"{GROUP}/{VERSION}", namespaced=True)
flunder = Flunder({
    "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"step": "create"}},
    "spec": {"reference": "other"},
}, api=api)
flunder.create()
ok("create")

assert Flunder.get(name, namespace=NAMESPACE, api=api).metadata.uid == flunder.metadata.uid
ok("get")

flunder.patch({"metadata": {"labels": {"step": "patch"}}})
assert Flunder.get(name, namespace=NAMESPACE, api=api).labels.step == "patch"
ok("patch")

applied = flunders(
    "PATCH",
    f"flunders/{name}",
    params={"fieldManager": "applier", "force": "true"},
    headers={"Content-Type": "application/apply-patch+yaml"},
    content=f"apiVersion: {GROUP}/{VERSION}\nkind: Flunder\nmetadata: {{name: {name}, labels: {{step: apply}}}}\n",
)
assert applied["metadata"]["labels"]["step"] == "apply"
assert any(entry["operation"] == "Apply" for entry in applied["metadata"]["managedFields"])
ok("apply")

try:
    flunders("GET", "flunders", headers={"Impersonate-User": "nobody"})
    raise SystemExit("nobody may list")
except kr8s.ServerError as error:
    assert error.response.status_code == 403 and 'User "nobody" cannot list' in str(error), error
ok("as")

seen = []
for event, _ in api.watch(Flunder, namespace=NAMESPACE, field_selector=f"metadata.name={name}"):
    seen.append(event)
    if event == "ADDED":
        threading.Thread(target=flunder.delete).start()
    if event == "DELETED":
        break
assert seen[0] == "ADDED" and seen[-1] == "DELETED", seen
ok("watch")

assert not flunder.exists()
ok("delete")

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



async def document():
    """The one request that the library has no call for, over its asynchronous half."""
    client = await kr8s.asyncio.api()
    async with client.call_api("GET", base=f"/openapi/v3/apis/{GROUP}", version="", url=VERSION) as response:
        return response.json()


assert any(key.endswith("FlunderSpec") for key in asyncio.run(document())["components"]["schemas"])
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

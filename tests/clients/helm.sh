#!/usr/bin/env bash
# helm installs, upgrades and removes a chart with federated objects: helm.sh HELM NAME CHART KUBECTL.
set -euo pipefail
helm=$1 name=$2 chart=$3 kubectl=$4

"$helm" install "$name" "$chart" --set step=create --wait
[ "$("$kubectl" get flunder "$name" -o jsonpath='{.metadata.labels.step}')" = create ]
echo ok create
"$helm" list --short | grep -qx "$name"
"$helm" get manifest "$name" | grep -q 'kind: Flunder'
echo ok get
"$helm" upgrade "$name" "$chart" --set step=patch --wait
[ "$("$kubectl" get flunder "$name" -o jsonpath='{.metadata.labels.step}')" = patch ]
echo ok patch
"$helm" rollback "$name" 1 --wait
[ "$("$kubectl" get flunder "$name" -o jsonpath='{.metadata.labels.step}')" = create ]
echo ok apply
# Where releases are kept is asked first, so that is what nobody may not read.
if refused=$("$helm" list --kube-as-user nobody 2>&1); then exit 1; fi
grep -q 'User "nobody" cannot list' <<<"$refused"
echo ok as
"$helm" uninstall "$name" --wait
if "$kubectl" get flunder "$name" 2>/dev/null; then exit 1; fi
echo ok delete

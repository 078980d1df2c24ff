#!/usr/bin/env bash
# The client matrix with kubectl: kubectl.sh KUBECTL NAME. KUBECONFIG says where; one `ok STEP` a step.
set -euo pipefail
kubectl=$1 name=$2
group=wardle.example.com
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() { echo "$*" >&2; exit 1; }

"$kubectl" api-resources --api-group=$group --no-headers >"$scratch/resources"
grep -q '^flunders .* Flunder$' "$scratch/resources" || fail "no flunders: $(cat "$scratch/resources")"
echo ok api-resources

"$kubectl" explain "flunders.spec" --api-version=$group/v1alpha1 >"$scratch/explain"
grep -q referenceType "$scratch/explain" || fail "explain: $(cat "$scratch/explain")"
echo ok explain

cat >"$scratch/flunder.yaml" <<YAML
apiVersion: $group/v1alpha1
kind: Flunder
metadata:
  name: $name
  labels: {step: create}
spec:
  reference: other
YAML
"$kubectl" create -f "$scratch/flunder.yaml"
echo ok create

[ "$("$kubectl" get flunder "$name" -o jsonpath='{.metadata.labels.step}')" = create ] || fail get
"$kubectl" get flunders "$name" | grep -q "^$name " || fail "table"
echo ok get

"$kubectl" get flunders --watch --output-watch-events -o 'jsonpath={.type} {.object.metadata.name} {.object.metadata.labels.step}{"\n"}' \
  --field-selector "metadata.name=$name" >"$scratch/events" &
watcher=$!
seen() {
  for _ in $(seq 300); do
    grep -q "^$1 $name $2" "$scratch/events" && return
    sleep 0.1
  done
  kill $watcher
  fail "watch did not show $1 $2: $(cat "$scratch/events")"
}
seen ADDED create

# An edit is a patch made from what the editor changed.
KUBE_EDITOR="sed -i 's/step: create/step: patch/'" "$kubectl" edit flunder "$name"
seen MODIFIED patch
echo ok patch

sed 's/step: create/step: apply/' "$scratch/flunder.yaml" >"$scratch/applied.yaml"
"$kubectl" apply --server-side --force-conflicts -f "$scratch/applied.yaml"
"$kubectl" get flunder "$name" -o yaml --show-managed-fields | grep -q 'operation: Apply' || fail "no applied fields"
seen MODIFIED apply
echo ok apply

if "$kubectl" get flunders --as=nobody 2>"$scratch/refused"; then fail "nobody was let in"; fi
grep -q 'User "nobody" cannot list resource "flunders"' "$scratch/refused" || fail "$(cat "$scratch/refused")"
echo ok as

"$kubectl" delete flunder "$name"
seen DELETED apply
kill $watcher
echo ok watch
if "$kubectl" get flunder "$name" 2>"$scratch/gone"; then fail "it is still there"; fi
grep -q NotFound "$scratch/gone" || fail "$(cat "$scratch/gone")"
echo ok delete

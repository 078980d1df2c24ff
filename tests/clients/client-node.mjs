// The client matrix with @kubernetes/client-node: client-node.mjs NAME; one `ok STEP` a step.
import { strict as assert } from 'node:assert';
import { createRequire } from 'node:module';

// The packages lie beside this script's copy of their lock file, in the folder that NODE_FOLDER names.
const require = createRequire(`${process.env.NODE_FOLDER}/package.json`);
const k8s = await import(require.resolve('@kubernetes/client-node'));

const group = 'wardle.example.com', version = 'v1alpha1', namespace = 'default';
const name = process.argv[2];
const ok = (step) => console.log('ok', step);
const flunder = (step) => ({
  apiVersion: `${group}/${version}`,
  kind: 'Flunder',
  metadata: { name, namespace, labels: { step } },
  spec: { reference: 'other' },
});

const config = new k8s.KubeConfig();
config.loadFromDefault();
assert.equal((await config.makeApiClient(k8s.VersionApi).getCode()).major, '1');
const groups = await config.makeApiClient(k8s.ApisApi).getAPIVersions();
assert.ok(groups.groups.some((g) => g.name === group));
const custom = config.makeApiClient(k8s.CustomObjectsApi);
const resources = await custom.getAPIResources({ group, version });
assert.ok(resources.resources.some((r) => r.name === 'flunders' && r.namespaced));
ok('api-resources');

// The library has no call for OpenAPI; it gives its credentials to whoever makes requests of his own.
const { default: fetch } = await import(require.resolve('node-fetch'));
const server = config.getCurrentCluster().server;
const answer = await fetch(`${server}/openapi/v3/apis/${group}/${version}`, await config.applyToFetchOptions({}));
assert.ok(Object.keys((await answer.json()).components.schemas).some((key) => key.endsWith('FlunderSpec')));
ok('explain');

const objects = k8s.KubernetesObjectApi.makeApiClient(config);
const created = await objects.create(flunder('create'));
ok('create');

const got = await objects.read(flunder('create'));
assert.equal(got.metadata.uid, created.metadata.uid);
ok('get');

const patch = { ...flunder('patch') };
const patched = await objects.patch(patch, undefined, undefined, undefined, undefined, k8s.PatchStrategy.MergePatch);
assert.equal(patched.metadata.labels.step, 'patch');
ok('patch');

const applied = await objects.patch(flunder('apply'), undefined, undefined, 'applier', true, k8s.PatchStrategy.ServerSideApply);
assert.equal(applied.metadata.labels.step, 'apply');
ok('apply');

const seen = [];
await new Promise((resolve, reject) => {
  const path = `/apis/${group}/${version}/namespaces/${namespace}/flunders`;
  const watch = new k8s.Watch(config);
  let request;
  const timer = setTimeout(() => reject(new Error(`the watch saw ${seen}`)), 60_000);
  const event = async (phase) => {
    seen.push(phase);
    if (phase === 'ADDED') await objects.delete(flunder('apply'));
    if (phase === 'DELETED') { clearTimeout(timer); request.abort(); resolve(); }
  };
  watch
    .watch(path, { fieldSelector: `metadata.name=${name}` }, (phase) => event(phase).catch(reject), () => resolve())
    .then((r) => { request = r; }, reject);
});
assert.deepEqual(seen, ['ADDED', 'DELETED']);
ok('watch');

await assert.rejects(objects.read(flunder('apply')), (error) => error.code === 404);
ok('delete');

// Who the requests are made for is a property of the kubeconfig's user.
const other = new k8s.KubeConfig();
other.loadFromDefault();
const impersonating = other.makeApiClient(k8s.CustomObjectsApi);
const middleware = {
  pre: async (context) => { context.setHeaderParam('Impersonate-User', 'nobody'); return context; },
  post: async (context) => context,
};
await assert.rejects(
  impersonating.listNamespacedCustomObject({ group, version, namespace, plural: 'flunders' },
    k8s.setHeaderOptions ? k8s.setHeaderOptions('Impersonate-User', 'nobody') : { middleware: [middleware] }),
  (error) => error.code === 403 && error.body.includes('User \\"nobody\\" cannot list'),
);
ok('as');
process.exit(0);

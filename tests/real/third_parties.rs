//! Servers that other projects ship, registered as they ship them; and a server with nothing but a URL.

use std::{thread, time::Duration};

use libtest_mimic::Trial;
use testkit::{
    TempPki,
    real::{Door, DoorBuilder, Http, Kubectl, MetricsServer, SampleServer, Unavailable, program},
};

use crate::{
    lab::{Lab, SharedLab},
    rows::{skipped, trial},
};

type Test = fn(&Lab);

pub(crate) fn trials() -> Vec<Trial> {
    let lab = SharedLab::new();
    let missing = Lab::available().err();
    let tests: [(&str, Test, &[&str]); 5] = [
        ("sample-apiserver's own manifests", sample_server, &[]),
        ("metrics-server's own manifests", metrics_server, &["metrics-server"]),
        ("service accounts", service_account, &[]),
        ("impersonation towards the core", impersonating, &[]),
        ("a CustomResourceDefinition appears at once", custom_resource, &[]),
    ];
    let mut trials: Vec<Trial> = tests
        .into_iter()
        .map(|(name, test, needs)| {
            let name = format!("third_parties::{name}");
            let missing = missing.clone().or_else(|| needs.iter().find_map(|need| program(need).err()));
            let lab = lab.clone();
            match missing {
                Some(reason) => skipped(name, &reason),
                None => trial(name, move || test(lab.get())),
            }
        })
        .collect();
    let name = "third_parties::sample-apiserver by its URL, without a core";
    let missing = ["sample-apiserver", "etcd", "kubectl"].into_iter().find_map(|name| program(name).err());
    trials.push(match missing {
        Some(reason) => skipped(name, &reason),
        None => trial(name, || alone().unwrap_or_else(|missing| panic!("{missing}"))),
    });
    trials
}

fn kubectl(lab: &Lab) -> Kubectl {
    let kubeconfig = lab.door.kubeconfig_of(lab.pki(), "admin", &["system:masters"]);
    Kubectl::kubectl(&kubeconfig).expect("kubectl")
}

/// Tries until it is so; for what becomes true a moment after something else.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..600 {
        if holds() {
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
    panic!("after a minute not yet: {what}");
}

fn sample_server(lab: &Lab) {
    let kubectl = kubectl(lab);
    let resources = kubectl.ok(&["api-resources", "--api-group=wardle.example.com", "-o", "name"]);
    assert_eq!(
        resources.lines().collect::<Vec<_>>(),
        ["fischers.wardle.example.com", "flunders.wardle.example.com"]
    );
    // The core's groups are there too, and its objects are the core's.
    let direct = Kubectl::kubectl(&lab.core.kubeconfig()).expect("kubectl");
    let uid = ["get", "namespace", "default", "-o", "jsonpath={.metadata.uid}"];
    assert_eq!(kubectl.ok(&uid), direct.ok(&uid));
    let condition = "jsonpath={.status.conditions[?(@.type=='Available')].status}";
    assert_eq!(kubectl.ok(&["get", "apiservice", "v1alpha1.wardle.example.com", "-o", condition]), "True");
    let servers =
        lab.door.trellis(&lab.door.kubeconfig_of(lab.pki(), "admin", &["system:masters"])).expect("trellis");
    let listed = servers.ok(&["servers"]);
    assert!(listed.contains("wardle"), "{listed}");
}

fn metrics_server(lab: &Lab) {
    let _server = MetricsServer::behind(&lab.core, &lab.network, 1).expect("metrics-server");
    let kubectl = kubectl(lab);
    eventually("metrics.k8s.io answers through the door", || {
        kubectl.run(&["get", "--raw", "/apis/metrics.k8s.io/v1beta1/nodes"]).code == 0
    });
    let list = kubectl.ok(&["get", "--raw", "/apis/metrics.k8s.io/v1beta1/nodes"]);
    assert!(list.contains("NodeMetricsList"), "{list}");
    // A path that nobody registered goes to the core at once; discovery follows.
    eventually("its resources are in discovery", || {
        let resources = kubectl.ok(&["api-resources", "--api-group=metrics.k8s.io", "-o", "name"]);
        resources.contains("nodes.metrics.k8s.io")
    });
    // There are no nodes, and so no figures: kubectl says that there are none, not that there is no API.
    let top = kubectl.run(&["top", "nodes"]);
    let said = format!("{}{}", top.text(), top.stderr);
    assert!(top.code == 0 || said.contains("metrics not available yet"), "{}: {said}", top.code);
}

/// The token of a service account is judged by the core, and carries its rights to a federated server.
fn service_account(lab: &Lab) {
    let admin = kubectl(lab);
    admin.ok(&["create", "serviceaccount", "robot"]);
    let token = admin.ok(&["create", "token", "robot"]);
    let bearer = format!("--token={}", token.trim());
    let server = format!("--server=https://{}", lab.door.address());
    let ca = lab.pki().file("door-ca.crt", lab.pki().server_ca.certificate_pem());
    let ca = format!("--certificate-authority={}", ca.display());
    let nobody = Kubectl::kubectl(&lab.pki().file("empty.kubeconfig", b"")).expect("kubectl");
    let who =
        nobody.ok(&["auth", "whoami", "-o", "jsonpath={.status.userInfo.username}", &bearer, &server, &ca]);
    assert_eq!(who, "system:serviceaccount:default:robot");
    let list = ["get", "flunders", &bearer, &server, &ca];
    let refused = nobody.run(&list);
    assert!(refused.stderr.contains("system:serviceaccount:default:robot"), "{}", refused.stderr);
    admin.ok(&["create", "clusterrole", "robot", "--verb=list", "--resource=flunders.wardle.example.com"]);
    admin.ok(&[
        "create",
        "clusterrolebinding",
        "robot",
        "--clusterrole=robot",
        "--serviceaccount=default:robot",
    ]);
    eventually("the robot may list", || nobody.run(&list).code == 0);
}

/// Without the core's front-proxy pair, the door speaks for users by impersonation.
fn impersonating(lab: &Lab) {
    let door = DoorBuilder::new(lab.pki()).core_impersonating(&lab.core).start().expect("a door");
    let user =
        Kubectl::kubectl(&door.kubeconfig_of(lab.pki(), "somebody", &["some", "others"])).expect("kubectl");
    let who =
        user.ok(&["auth", "whoami", "-o", "jsonpath={.status.userInfo.username} {.status.userInfo.groups}"]);
    assert_eq!(who, r#"somebody ["some","others","system:authenticated"]"#);
    let refused = user.run(&["get", "secrets"]);
    assert!(
        refused.stderr.contains(r#"User "somebody" cannot list resource "secrets""#),
        "{}",
        refused.stderr
    );
}

fn custom_resource(lab: &Lab) {
    let kubectl = kubectl(lab);
    kubectl.apply(
        &serde_json::json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "gadgets.shop.example.com"},
            "spec": {
                "group": "shop.example.com", "scope": "Namespaced",
                "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "GadgetList"},
                "versions": [{
                    "name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
                }],
            },
        })
        .to_string(),
    );
    eventually("the new kind is in discovery", || {
        kubectl
            .run(&["api-resources", "--api-group=shop.example.com", "-o", "name"])
            .text()
            .contains("gadgets")
    });
    kubectl.apply(r#"{"apiVersion":"shop.example.com/v1","kind":"Gadget","metadata":{"name":"one"}}"#);
    assert_eq!(kubectl.ok(&["get", "gadgets", "-o", "name"]), "gadget.shop.example.com/one\n");
    kubectl.ok(&["delete", "crd", "gadgets.shop.example.com"]);
    eventually("the kind is gone from discovery", || {
        !kubectl
            .run(&["api-resources", "--api-group=shop.example.com", "-o", "name"])
            .text()
            .contains("gadgets")
    });
}

fn alone() -> Result<(), Unavailable> {
    let pki = TempPki::new();
    let mut sample = SampleServer::alone(&pki)?;
    let door: Door = DoorBuilder::new(&pki).front_proxy().start()?;
    let kubeconfig = door.kubeconfig_of(&pki, "admin", &["system:masters"]);
    let (trellis, kubectl) = (door.trellis(&kubeconfig)?, Kubectl::kubectl(&kubeconfig)?);
    let ca = pki.file("sample-ca.crt", pki.server_ca.certificate_pem());
    trellis.ok(&["register", &sample.url(), "--name=sample", "--ca", &ca.to_string_lossy()]);
    let flunder =
        r#"{"apiVersion":"wardle.example.com/v1alpha1","kind":"Flunder","metadata":{"name":"one"}}"#;
    kubectl.apply(flunder);
    assert_eq!(kubectl.ok(&["get", "flunders", "-o", "name"]), "flunder.wardle.example.com/one\n");

    // Its server is gone: what it offers stays known, and the failure is told where it is met.
    sample.process().kill();
    let resources = ["api-resources", "--api-group=wardle.example.com", "-o", "name"];
    assert!(kubectl.ok(&resources).contains("flunders"));
    let failed = kubectl.run(&["get", "flunders"]);
    assert!(
        failed.stderr.contains("ServiceUnavailable") || failed.stderr.contains("unable to handle"),
        "{}",
        failed.stderr
    );

    trellis.ok(&["unregister", "sample"]);
    assert_eq!(kubectl.run(&resources).text(), "");
    let http = Http::new();
    let target = door.user(&pki, "admin", &["system:masters"]);
    let reply = http.get(&target, "/apis/wardle.example.com/v1alpha1/flunders").expect("an answer");
    assert_eq!(reply.status.as_u16(), 404);
    Ok(())
}

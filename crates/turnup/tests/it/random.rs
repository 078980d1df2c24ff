//! Objects of all kinds: laid down through the script, and then there is nothing to do.

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use crate::support::{Run, TestHost, options, target};

/// How many.
const OBJECTS: u32 = 200;

/// An object of which everything that changes files may be otherwise.
fn object() -> impl Strategy<Value = String> {
    let network = (0_u8..100, 100_u8..200, prop_oneof!["flannel", "none"], "[a-z]{1,8}\\.[a-z]{2,5}");
    let addons = proptest::collection::vec(any::<bool>(), 2);
    let rest = (prop_oneof![Just("None"), Just("Metadata"), Just("Request")], any::<bool>(), any::<bool>());
    let host = (
        "[a-z][a-z0-9]{0,10}",
        1_u8..250,
        proptest::collection::btree_map("[a-z]{1,8}", "[a-z0-9]{0,8}", 0..3),
    );
    let kubelet =
        (proptest::option::of(0_u8..10), prop_oneof![Just("auto"), Just("systemd"), Just("cgroupfs")]);
    (network, addons, rest, host, kubelet).prop_map(|(network, addons, rest, host, kubelet)| {
        let (pods, services, plugin, domain) = network;
        let (audit, encrypted, proxy) = rest;
        let (name, last, labels) = host;
        let mut object = serde_json::json!({
            "name": "random",
            "hosts": [
                {"name": "cp1", "address": format!("192.168.7.{last}")},
                {"name": format!("n-{name}"), "address": "192.168.8.1", "labels": labels},
            ],
            "network": {
                "pods": format!("10.{pods}.0.0/16"),
                "services": format!("10.{services}.0.0/20"),
                "plugin": plugin,
                "dnsDomain": domain,
            },
            "addons": {"coredns": {"enabled": addons[0]}, "kube-proxy": {"enabled": addons[1] || plugin == "flannel"}},
            "audit": {"level": audit},
            "encryption": {"secrets": if encrypted { "secretbox" } else { "none" }},
            "runtime": {"cgroupDriver": kubelet.1},
        });
        if proxy {
            object["proxy"] = serde_json::json!({"http": "http://proxy.example:3128", "https": "http://proxy.example:3128"});
        }
        if let Some(level) = kubelet.0 {
            object["components"] = serde_json::json!({"kubelet": {"extraArgs": {"v": level.to_string()}}});
        }
        object.to_string()
    })
}

#[test]
fn are_laid_down_and_then_there_is_nothing_to_do() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let mut runner = TestRunner::new(Config {
        cases: OBJECTS,
        max_shrink_iters: 20,
        failure_persistence: None,
        ..Config::default()
    });
    // One host of each kind in turn, which each object finds as the one before left it: changes and removals are tried as well.
    let hosts = [TestHost::new(), TestHost::new()];
    let tried = std::cell::Cell::new(0);
    let outcome = runner.run(&object(), |text| {
        tried.set(tried.get() + 1);
        runtime.block_on(async {
            let index = (tried.get() % 2) as usize;
            let run = Run::new(options(), target(&hosts[index], "n1"), &text, index);
            run.apply().await;
            let plan = run.plan().await;
            prop_assert!(plan.is_empty(), "{}\n{text}", plan.to_text(true));
            Ok(())
        })
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(tried.get() >= OBJECTS);
    // And whatever came and went, nothing of it stays.
    runtime.block_on(async {
        for (index, host) in hosts.iter().enumerate() {
            let object = r#"{"name": "random", "hosts": [{"name": "a", "address": "10.0.0.1"}, {"name": "b", "address": "10.0.0.2"}]}"#;
            Run::new(options(), target(host, "n1"), object, index).down().await;
            assert_eq!(host.everything(), TestHost::new().everything());
        }
    });
}

//! What is decided, beyond what the golden files show.

use cluster_spec::{CgroupDriver, HostFacts};

const OBJECT: &str =
    "name: demo\nhosts:\n- {name: cp, address: 192.168.7.1}\n- {name: n1, address: 192.168.7.2}\n";

#[track_caller]
fn check(more: &str, name: &str, expected: &str) {
    let cluster =
        cluster_spec::read(&format!("{OBJECT}{more}"), None).unwrap_or_else(|found| panic!("{found:#?}"));
    let resolved = cluster.resolve();
    let all = resolved.decisions.clone().with(resolved.hosts[0].with(&HostFacts::default()));
    let decision = all.get(name).unwrap_or_else(|| panic!("no {name}"));
    assert_eq!(decision.text().as_deref(), Some(expected), "{more} {name}");
}

#[test]
fn values_follow_from_fields() {
    let services = "network: {services: 172.20.0.0/16}\n";
    for (more, name, expected) in [
        ("", "kubernetes.version", "v1.37.2"),
        ("kubernetes: {version: \"1.36\"}\n", "kubernetes.version", "v1.36.3"),
        ("kubernetes: {version: \"1.35.0\"}\n", "images.coredns", "registry.k8s.io/coredns/coredns:v1.13.1"),
        (services, "network.dnsAddress", "172.20.0.10"),
        (services, "api.serviceAddress", "172.20.0.1"),
        ("api: {endpoint: api.example.com}\n", "api.endpoint", "api.example.com:6443"),
        ("api: {endpoint: \"api.example.com:443\"}\n", "api.port", "6443"),
        ("api: {endpoint: \"cp:443\"}\n", "api.port", "443"),
        ("", "host.taints", r#"[{"effect":"NoSchedule","key":"node-role.kubernetes.io/control-plane"}]"#),
        ("proxy: {http: \"http://10.9.9.9:3128\"}\n", "proxy.https", "http://10.9.9.9:3128"),
        (
            "proxy: {http: \"http://10.9.9.9:3128\", noProxy: [.corp]}\n",
            "proxy.noProxy",
            "localhost,127.0.0.1,192.168.7.1,192.168.7.2,10.244.0.0/16,10.96.0.0/12,.svc,.cluster.local,.corp",
        ),
        (
            "components: {kube-scheduler: {extraArgs: {profiling: true}}}\n",
            "kube-scheduler.profiling",
            "true",
        ),
        (
            "components: {kube-proxy: {config: {conntrack: {maxPerCore: 0}}}}\n",
            "kube-proxy.config.conntrack",
            r#"{"maxPerCore":0}"#,
        ),
        (
            "sources: {mirror: {images: \"reg:5000/m\", binaries: \"http://reg/b\"}}\n",
            "images.flannel",
            "reg:5000/m/flannel-io/flannel:v0.26.7",
        ),
    ] {
        check(more, name, expected);
    }
}

#[test]
fn the_cgroup_driver_is_found_out_unless_given() {
    let facts = HostFacts { cgroup_driver: CgroupDriver::Cgroupfs, ..HostFacts::default() };
    for (more, expected) in [("", "cgroupfs"), ("runtime: {cgroupDriver: systemd}\n", "systemd")] {
        let cluster = cluster_spec::read(&format!("{OBJECT}{more}"), None).expect("good");
        let decisions = cluster.resolve().hosts[1].with(&facts);
        let text = decisions.get("host.cgroupDriver").and_then(cluster_spec::Decision::text);
        assert_eq!(text.as_deref(), Some(expected));
    }
}

#[test]
fn a_starter_is_good() {
    let hosts: Vec<_> = [("cp1", "10.0.0.1"), ("n1", "10.0.0.2")]
        .map(|(name, address)| cluster_spec::StarterHost {
            name: name.to_owned(),
            address: address.to_owned(),
        })
        .into();
    for as_json in [false, true] {
        let text = cluster_spec::starter(Some("cluster.schema.json"), "demo", &hosts, as_json);
        let cluster = cluster_spec::read(&text, None).unwrap_or_else(|found| panic!("{text}\n{found:#?}"));
        let planes: Vec<bool> = cluster.resolve().hosts.iter().map(|host| host.control_plane).collect();
        assert_eq!(planes, [true, false]);
    }
}

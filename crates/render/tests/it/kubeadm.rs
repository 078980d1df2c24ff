//! The control plane has the arguments that kubeadm gives it, but for what is listed with a reason.

use serde_json::Value;

use crate::support::{PLAIN, text, trees};

/// Component, and the arguments of kubeadm 1.36 and 1.37 without files, which lie in the same folder.
const KUBEADM: &[(&str, &[&str])] = &[
    (
        "etcd",
        &[
            "--advertise-client-urls=https://192.168.7.1:2379",
            "--cert-file=/etc/kubernetes/pki/etcd/server.crt",
            "--client-cert-auth=true",
            "--data-dir=/var/lib/etcd",
            "--feature-gates=InitialCorruptCheck=true",
            "--initial-advertise-peer-urls=https://192.168.7.1:2380",
            "--initial-cluster=cp1=https://192.168.7.1:2380",
            "--key-file=/etc/kubernetes/pki/etcd/server.key",
            "--listen-client-urls=https://127.0.0.1:2379,https://192.168.7.1:2379",
            "--listen-metrics-urls=http://127.0.0.1:2381",
            "--listen-peer-urls=https://192.168.7.1:2380",
            "--name=cp1",
            "--peer-cert-file=/etc/kubernetes/pki/etcd/peer.crt",
            "--peer-client-cert-auth=true",
            "--peer-key-file=/etc/kubernetes/pki/etcd/peer.key",
            "--peer-trusted-ca-file=/etc/kubernetes/pki/etcd/ca.crt",
            "--snapshot-count=10000",
            "--trusted-ca-file=/etc/kubernetes/pki/etcd/ca.crt",
            "--watch-progress-notify-interval=5s",
        ],
    ),
    (
        "kube-apiserver",
        &[
            "--advertise-address=192.168.7.1",
            "--allow-privileged=true",
            "--authorization-mode=Node,RBAC",
            "--client-ca-file=/etc/kubernetes/pki/ca.crt",
            "--enable-admission-plugins=NodeRestriction",
            "--enable-bootstrap-token-auth=true",
            "--etcd-cafile=/etc/kubernetes/pki/etcd/ca.crt",
            "--etcd-certfile=/etc/kubernetes/pki/apiserver-etcd-client.crt",
            "--etcd-keyfile=/etc/kubernetes/pki/apiserver-etcd-client.key",
            "--etcd-servers=https://127.0.0.1:2379",
            "--kubelet-client-certificate=/etc/kubernetes/pki/apiserver-kubelet-client.crt",
            "--kubelet-client-key=/etc/kubernetes/pki/apiserver-kubelet-client.key",
            "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
            "--proxy-client-cert-file=/etc/kubernetes/pki/front-proxy-client.crt",
            "--proxy-client-key-file=/etc/kubernetes/pki/front-proxy-client.key",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-client-ca-file=/etc/kubernetes/pki/front-proxy-ca.crt",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-username-headers=X-Remote-User",
            "--secure-port=6443",
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
            "--service-account-key-file=/etc/kubernetes/pki/sa.pub",
            "--service-account-signing-key-file=/etc/kubernetes/pki/sa.key",
            "--service-cluster-ip-range=10.96.0.0/12",
            "--tls-cert-file=/etc/kubernetes/pki/apiserver.crt",
            "--tls-private-key-file=/etc/kubernetes/pki/apiserver.key",
        ],
    ),
    (
        "kube-controller-manager",
        &[
            "--allocate-node-cidrs=true",
            "--authentication-kubeconfig=/etc/kubernetes/controller-manager.conf",
            "--authorization-kubeconfig=/etc/kubernetes/controller-manager.conf",
            "--bind-address=127.0.0.1",
            "--client-ca-file=/etc/kubernetes/pki/ca.crt",
            "--cluster-cidr=10.244.0.0/16",
            "--cluster-name=demo",
            "--cluster-signing-cert-file=/etc/kubernetes/pki/ca.crt",
            "--cluster-signing-key-file=/etc/kubernetes/pki/ca.key",
            "--controllers=*,bootstrapsigner,tokencleaner",
            "--kubeconfig=/etc/kubernetes/controller-manager.conf",
            "--leader-elect=true",
            "--requestheader-client-ca-file=/etc/kubernetes/pki/front-proxy-ca.crt",
            "--root-ca-file=/etc/kubernetes/pki/ca.crt",
            "--service-account-private-key-file=/etc/kubernetes/pki/sa.key",
            "--service-cluster-ip-range=10.96.0.0/12",
            "--use-service-account-credentials=true",
        ],
    ),
    (
        "kube-scheduler",
        &[
            "--authentication-kubeconfig=/etc/kubernetes/scheduler.conf",
            "--authorization-kubeconfig=/etc/kubernetes/scheduler.conf",
            "--bind-address=127.0.0.1",
            "--kubeconfig=/etc/kubernetes/scheduler.conf",
            "--leader-elect=true",
        ],
    ),
];

/// Ours alone: component, argument, why.
const OURS: &[(&str, &str, &str)] = &[
    (
        "kube-apiserver",
        "--kubelet-certificate-authority=/etc/kubernetes/pki/ca.crt",
        "serving certificates are approved",
    ),
    ("kube-apiserver", "--profiling=false", "nobody profiles it"),
    ("kube-controller-manager", "--profiling=false", "nobody profiles it"),
    ("kube-scheduler", "--profiling=false", "nobody profiles it"),
];

#[test]
fn arguments_agree() {
    let tree = &trees(PLAIN)[0];
    for (component, expected) in KUBEADM {
        let path = format!("/etc/kubernetes/manifests/{component}.yaml");
        let file = tree.files.iter().find(|file| file.path == path).expect("a manifest");
        let pod: Value = serde_saphyr::from_str(&text(file)).expect("YAML");
        let command = pod["spec"]["containers"][0]["command"].as_array().expect("a command").iter().skip(1);
        let mut found: Vec<&str> = command.map(|argument| argument.as_str().expect("text")).collect();
        let ours = OURS.iter().filter(|(of, ..)| of == component).map(|(_, argument, _)| *argument);
        let mut expected: Vec<&str> = expected.iter().copied().chain(ours).collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{component}");
    }
}

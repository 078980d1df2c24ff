use std::time::Duration;

use pki::{Authority, CertifiedKey, Kubeconfig, KubeconfigUser};

#[test]
fn with_a_certificate() {
    let config = Kubeconfig {
        server: "https://127.0.0.1:6443".to_owned(),
        ca_pem: b"CA".to_vec(),
        user: KubeconfigUser::Certificate(CertifiedKey::from_pem("CHAIN", "KEY", "")),
        context: "trellis".to_owned(),
    };
    expect_test::expect![[r#"
        apiVersion: v1
        kind: Config
        clusters:
        - name: "trellis"
          cluster:
            server: "https://127.0.0.1:6443"
            certificate-authority-data: Q0E=
        users:
        - name: "trellis"
          user:
            client-certificate-data: Q0hBSU4=
            client-key-data: S0VZ
        contexts:
        - name: "trellis"
          context:
            cluster: "trellis"
            user: "trellis"
        current-context: "trellis"
    "#]]
    .assert_eq(&config.to_yaml());
}

#[test]
fn with_a_token_whatever_its_characters() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("admin.kubeconfig");
    let authority = Authority::make("a CA", Duration::from_secs(60)).unwrap();
    let config = Kubeconfig {
        server: "https://127.0.0.1:6443".to_owned(),
        ca_pem: authority.certificate_pem().to_vec(),
        user: KubeconfigUser::Token("a\"b\\c\n: #d".to_owned()),
        context: "x".to_owned(),
    };
    config.write(&path).unwrap();
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.contains(r#"    token: "a\"b\\c\u000a: #d""#), "{written}");
    assert_eq!(format!("{config:?}"), "Kubeconfig(x at https://127.0.0.1:6443)");
}

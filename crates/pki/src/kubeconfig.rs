//! Writing a kubeconfig.

use std::{fmt, fmt::Write as _, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{CertifiedKey, Error, files};

/// A kubeconfig with one cluster, one user and one context, the secrets inside.
pub struct Kubeconfig {
    /// `https://host:port`.
    pub server: String,
    /// CA of the server, PEM.
    pub ca_pem: Vec<u8>,
    /// Who the user is.
    pub user: KubeconfigUser,
    /// Name of cluster, user and context.
    pub context: String,
}

/// How a kubeconfig's user shows who he is.
pub enum KubeconfigUser {
    /// By a client certificate.
    Certificate(CertifiedKey),
    /// By a bearer token.
    Token(String),
}

impl Kubeconfig {
    /// The YAML text. It holds the key or token.
    pub fn to_yaml(&self) -> String {
        // Every JSON string is a YAML string too, so quoting is JSON's.
        let name = quoted(&self.context);
        let mut yaml = String::from("apiVersion: v1\nkind: Config\nclusters:\n");
        let _ = write!(
            yaml,
            "- name: {name}\n  cluster:\n    server: {}\n    certificate-authority-data: {}\n",
            quoted(&self.server),
            STANDARD.encode(&self.ca_pem),
        );
        let _ = write!(yaml, "users:\n- name: {name}\n  user:\n");
        match &self.user {
            KubeconfigUser::Certificate(pair) => {
                let _ = write!(
                    yaml,
                    "    client-certificate-data: {}\n    client-key-data: {}\n",
                    STANDARD.encode(pair.chain_pem()),
                    STANDARD.encode(pair.key_pem()),
                );
            }
            KubeconfigUser::Token(token) => {
                let _ = writeln!(yaml, "    token: {}", quoted(token));
            }
        }
        let _ = write!(
            yaml,
            "contexts:\n- name: {name}\n  context:\n    cluster: {name}\n    user: {name}\ncurrent-context: {name}\n"
        );
        yaml
    }

    /// Writes it, 0600, atomically.
    ///
    /// # Errors
    /// When the file or its folder cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        files::write_private(path, self.to_yaml().as_bytes())
    }
}

impl fmt::Debug for Kubeconfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kubeconfig({} at {})", self.context, self.server)
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            control if control.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

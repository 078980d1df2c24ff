//! Connections from kubeconfig files.

use std::path::{Path, PathBuf};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use pki::CertifiedKey;
use serde::Deserialize;

use super::{Connection, Credential};

/// A kubeconfig that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InvalidKubeconfig {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] pki::Error),
    /// It is no YAML, or has fields of other types.
    #[error("kubeconfig: {0}")]
    Syntax(String),
    /// Something that another part names is not there.
    #[error("kubeconfig: there is no {what} {name:?}")]
    Missing {
        /// Context, cluster or user.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// It asks for something that this client does not do.
    #[error("kubeconfig: {0}")]
    Unsupported(&'static str),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct File {
    #[serde(default)]
    current_context: String,
    #[serde(default)]
    contexts: Vec<Context>,
    #[serde(default)]
    clusters: Vec<Cluster>,
    #[serde(default)]
    users: Vec<User>,
}

#[derive(Deserialize)]
struct Context {
    name: String,
    context: ContextBody,
}

#[derive(Deserialize)]
struct ContextBody {
    cluster: String,
    user: String,
}

#[derive(Deserialize)]
struct Cluster {
    name: String,
    cluster: ClusterBody,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct ClusterBody {
    server: String,
    certificate_authority: Option<PathBuf>,
    certificate_authority_data: Option<String>,
    tls_server_name: Option<String>,
    #[serde(default)]
    insecure_skip_tls_verify: bool,
    proxy_url: Option<String>,
}

#[derive(Deserialize)]
struct User {
    name: String,
    user: UserBody,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct UserBody {
    client_certificate: Option<PathBuf>,
    client_certificate_data: Option<String>,
    client_key: Option<PathBuf>,
    client_key_data: Option<String>,
    token: Option<String>,
    #[serde(rename = "tokenFile")]
    token_file: Option<PathBuf>,
}

impl Connection {
    /// The current context of a kubeconfig file. Paths in it count from its folder. Certificates and tokens
    /// are understood; programs that make credentials, proxies, and not verifying the server are not.
    ///
    /// # Errors
    /// When a file cannot be read, a part is missing, or something in it is not understood.
    pub fn from_kubeconfig(path: &Path) -> Result<Self, InvalidKubeconfig> {
        let bytes = pki::read_limited(path)?;
        let text = String::from_utf8(bytes).map_err(|_| syntax(&"it is no text"))?;
        let file: File = serde_saphyr::from_str(&text).map_err(|error| syntax(&error))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let missing = |what, name: &str| InvalidKubeconfig::Missing { what, name: name.to_owned() };
        let context = file.contexts.iter().find(|context| context.name == file.current_context);
        let context = &context.ok_or_else(|| missing("context", &file.current_context))?.context;
        let cluster = file.clusters.iter().find(|cluster| cluster.name == context.cluster);
        let cluster = &cluster.ok_or_else(|| missing("cluster", &context.cluster))?.cluster;
        let user = file.users.iter().find(|user| user.name == context.user);
        let user = &user.ok_or_else(|| missing("user", &context.user))?.user;
        if cluster.insecure_skip_tls_verify {
            return Err(InvalidKubeconfig::Unsupported("the certificate of the server must be verified"));
        }
        if cluster.proxy_url.is_some() {
            return Err(InvalidKubeconfig::Unsupported("proxies are not supported"));
        }
        let ca = (cluster.certificate_authority_data.as_ref(), cluster.certificate_authority.as_ref());
        Ok(Self {
            server: cluster.server.clone(),
            ca: content(ca, folder)?,
            server_name: cluster.tls_server_name.clone(),
            credential: credential(user, folder)?,
        })
    }
}

fn credential(user: &UserBody, folder: &Path) -> Result<Credential, InvalidKubeconfig> {
    let chain = content((user.client_certificate_data.as_ref(), user.client_certificate.as_ref()), folder)?;
    let key = content((user.client_key_data.as_ref(), user.client_key.as_ref()), folder)?;
    match (chain, key, &user.token_file, &user.token) {
        (Some(chain), Some(key), ..) => {
            Ok(Credential::Certificate(CertifiedKey::from_pem(chain, key, "the client certificate")))
        }
        (_, _, Some(file), _) => Ok(Credential::TokenFile(folder.join(file))),
        (_, _, _, Some(token)) => Ok(Credential::Token(token.clone())),
        _ => Err(InvalidKubeconfig::Unsupported("the user has neither a certificate nor a token")),
    }
}

/// Data in the file, or another file.
fn content(
    (data, path): (Option<&String>, Option<&PathBuf>),
    folder: &Path,
) -> Result<Option<Vec<u8>>, InvalidKubeconfig> {
    match (data, path) {
        (Some(data), _) => STANDARD.decode(data.trim()).map(Some).map_err(|error| syntax(&error)),
        (None, Some(path)) => Ok(Some(pki::read_limited(&folder.join(path))?)),
        (None, None) => Ok(None),
    }
}

fn syntax(problem: &dyn std::fmt::Display) -> InvalidKubeconfig {
    InvalidKubeconfig::Syntax(problem.to_string())
}

//! The core as its kubeconfig describes it.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use catalog::{
    ClientCertificate, Credentials, Endpoint, IdentityMode, Limits, Role, Roots, Secret, Server, ServerName,
    Trust,
};
use kube::config::{AuthInfo, Cluster, KubeConfigOptions, Kubeconfig, NamedAuthInfo};

use super::exec::Plugins;
use crate::{config::CoreConfig, validation};

/// The core, and how the door speaks to it.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) server: Server,
    /// Of everything that was read, to see changes.
    fingerprint: Vec<Vec<u8>>,
    kubeconfig: Kubeconfig,
    context: Option<String>,
}

impl PartialEq for Access {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint
    }
}

impl Access {
    /// Reads the kubeconfig and every file that it names.
    /// Runs the credential plugin of the user, when there is one and what it gave before has expired:
    /// blocks, at most as long as a plugin may take.
    pub(super) fn read(config: &CoreConfig, plugins: &Plugins) -> Result<Self, String> {
        let path = &config.kubeconfig;
        let bad = |why: &dyn std::fmt::Display| {
            format!(
                "cannot use the kubeconfig {}: {why}; correct the file or choose another one with --core",
                path.display()
            )
        };
        let text = std::fs::read_to_string(path).map_err(|error| bad(&error))?;
        let mut kubeconfig = Kubeconfig::read_from(path).map_err(|error| bad(&error))?;
        let (cluster, name, user) =
            current(&kubeconfig, config.context.as_deref()).map_err(|why| bad(&why))?;
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let resolved = plugins.resolve(&user, &cluster, &folder).map_err(|why| bad(&why))?;
        let mut files = Files { folder, read: vec![text.into_bytes()] };
        if user.exec.is_some() {
            files.read.push(serde_json::to_vec(&resolved).map_err(|error| bad(&error))?);
            // The same credentials for the watches: a plugin is not run for each.
            let own = |named: &&mut NamedAuthInfo| name.as_ref() == Some(&named.name);
            if let Some(named) = kubeconfig.auth_infos.iter_mut().find(own) {
                named.auth_info = Some(resolved.clone());
            }
        }
        let user = resolved;
        let server = server(config, &cluster, &user, &mut files).map_err(|why| bad(&why))?;
        Ok(Self { server, fingerprint: files.read, kubeconfig, context: config.context.clone() })
    }

    /// A client with the same credentials, for watches.
    pub(super) async fn client(&self) -> Result<kube::Client, String> {
        let options = KubeConfigOptions { context: self.context.clone(), ..KubeConfigOptions::default() };
        let config = kube::Config::from_custom_kubeconfig(self.kubeconfig.clone(), &options)
            .await
            .map_err(|error| error.to_string())?;
        kube::Client::try_from(config).map_err(|error| error.to_string())
    }
}

/// Reads files and keeps what was in them.
struct Files {
    folder: PathBuf,
    read: Vec<Vec<u8>>,
}

impl Files {
    fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let path = self.folder.join(name);
        let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        self.read.push(bytes.clone());
        Ok(bytes)
    }

    /// What stands in the file itself, or else in the file that it names.
    fn data(
        &mut self,
        what: &str,
        data: Option<&str>,
        file: Option<&str>,
    ) -> Result<Option<Vec<u8>>, String> {
        if let Some(data) = data {
            let decoded = base64::engine::general_purpose::STANDARD.decode(data.trim());
            return decoded.map(Some).map_err(|_| format!("{what} is not base64"));
        }
        file.map(|file| self.read(file)).transpose()
    }
}

/// The cluster of the context, the name of its user, and the user.
fn current(
    kubeconfig: &Kubeconfig,
    context: Option<&str>,
) -> Result<(Cluster, Option<String>, AuthInfo), String> {
    let name =
        context.or(kubeconfig.current_context.as_deref()).ok_or("it has no current context; name one")?;
    let context = kubeconfig
        .contexts
        .iter()
        .find(|context| context.name == name)
        .and_then(|context| context.context.clone())
        .ok_or_else(|| format!("it has no context {name:?}"))?;
    let cluster = kubeconfig
        .clusters
        .iter()
        .find(|cluster| cluster.name == context.cluster)
        .and_then(|cluster| cluster.cluster.clone())
        .ok_or_else(|| format!("it has no cluster {:?}", context.cluster))?;
    let user = kubeconfig
        .auth_infos
        .iter()
        .find(|user| Some(&user.name) == context.user.as_ref())
        .and_then(|user| user.auth_info.clone())
        .unwrap_or_default();
    Ok((cluster, context.user, user))
}

fn server(
    config: &CoreConfig,
    cluster: &Cluster,
    user: &AuthInfo,
    files: &mut Files,
) -> Result<Server, String> {
    let url = cluster.server.as_deref().ok_or("its cluster has no server")?;
    let (address, base_path) = validation::parse_base_url(url).map_err(|problems| problems.to_string())?;
    let ca = files.data(
        "certificate-authority-data",
        cluster.certificate_authority_data.as_deref(),
        cluster.certificate_authority.as_deref(),
    )?;
    let (identity, credentials) = match &config.proxy_client {
        Some(pair) => {
            let chain = files.read(&pair.certificate.to_string_lossy())?;
            let key = files.read(&pair.key.to_string_lossy())?;
            let client_certificate = Some(ClientCertificate { chain: chain.into(), key: Secret::new(key) });
            (IdentityMode::RequestHeader, Credentials { client_certificate, bearer_token: None })
        }
        None => (IdentityMode::Impersonate, credentials(user, files)?),
    };
    Ok(Server {
        name: ServerName::new(ServerName::CORE),
        revision: 0,
        role: Role::Core,
        endpoints: vec![Endpoint::Network { tls: address.tls, host: address.host, port: address.port }],
        base_path,
        trust: Trust {
            roots: ca.map_or(Roots::System, |pem| Roots::Pem(pem.into())),
            server_name: cluster.tls_server_name.clone(),
            skip_verification: cluster.insecure_skip_tls_verify.unwrap_or(false),
        },
        identity,
        credentials,
        limits: Limits { max_connections: 256, max_in_flight: 10_000, ..Limits::default() },
        direct_address: None,
    })
}

fn credentials(user: &AuthInfo, files: &mut Files) -> Result<Credentials, String> {
    if user.auth_provider.is_some() {
        return Err("its user has an `auth-provider`, which Kubernetes has removed; use `exec`, a client certificate or a token".to_owned());
    }
    let chain = files.data(
        "client-certificate-data",
        user.client_certificate_data.as_deref(),
        user.client_certificate.as_deref(),
    )?;
    // The secret fields are opaque but for their serialised form.
    let plain = serde_json::to_value(user).map_err(|error| error.to_string())?;
    let secret = |field: &str| plain.get(field).and_then(serde_json::Value::as_str).map(str::to_owned);
    let key_data = secret("client-key-data");
    let key = files.data("client-key-data", key_data.as_deref(), user.client_key.as_deref())?;
    let client_certificate = match (chain, key) {
        (Some(chain), Some(key)) => Some(ClientCertificate { chain: chain.into(), key: Secret::new(key) }),
        (None, None) => None,
        _ => return Err("a client certificate and its key belong together".to_owned()),
    };
    let token = match (secret("token"), &user.token_file) {
        (Some(token), _) => Some(token.into_bytes()),
        (None, Some(file)) => Some(files.read(file)?),
        (None, None) => None,
    };
    let bearer_token = token.map(|token| Secret::new(token.trim_ascii()));
    Ok(Credentials { client_certificate, bearer_token })
}

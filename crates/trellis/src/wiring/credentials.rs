//! What callers are recognised by: authorities and tokens, read again when their files change.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use gateway::authn::{self, Authenticator, ClientTrust, CoreClient, FrontProxy, TokenFile};
use pki::{Authority, CertifiedKey, Contents, Reloading};

use crate::{
    config::{KeyPair, Settings},
    exit::{Code, Outcome, Problem, chain},
};

/// The authenticator, and the watch on its files.
pub(super) struct Secrets {
    authenticator: Arc<Authenticator>,
    _reloading: Reloading<()>,
}

impl Secrets {
    /// Reads everything once; later changes are taken over, unless they are wrong.
    pub(super) fn start(
        settings: &Settings,
        own_clients: Option<&Authority>,
        core: Option<Arc<dyn CoreClient>>,
    ) -> Outcome<Self> {
        let reader = Reader::new(settings, own_clients);
        let first = reader.read_now()?;
        let mut authenticator = Authenticator::new(first, core);
        if let Some(proxy) = &settings.front_proxy {
            authenticator = authenticator.header_names(proxy.headers.clone());
        }
        let authenticator = Arc::new(authenticator);
        let (target, files) = (authenticator.clone(), reader.files.clone());
        let reloading = Reloading::start(files, move |contents| {
            target.reload(reader.read(contents)?);
            Ok(())
        })
        .map_err(Problem::given)?;
        Ok(Self { authenticator, _reloading: reloading })
    }

    /// Recognises callers, always by the newest files.
    pub(super) fn authenticator(&self) -> Arc<Authenticator> {
        self.authenticator.clone()
    }
}

/// Reads the files of one configuration.
struct Reader {
    own_clients: Vec<u8>,
    files: Vec<PathBuf>,
    client_ca: Option<usize>,
    tokens: Option<usize>,
    front_proxy: Option<(usize, Vec<String>)>,
}

impl Reader {
    fn new(settings: &Settings, own_clients: Option<&Authority>) -> Self {
        let mut files = Vec::new();
        let mut add = |path: &PathBuf| {
            files.push(path.clone());
            files.len() - 1
        };
        let client_ca = settings.client_ca.as_ref().map(&mut add);
        let tokens = settings.token_file.as_ref().map(&mut add);
        let front_proxy =
            settings.front_proxy.as_ref().map(|proxy| (add(&proxy.ca), proxy.allowed_names.clone()));
        let own_clients = own_clients.map(|own| own.certificate_pem().to_vec()).unwrap_or_default();
        Self { own_clients, files, client_ca, tokens, front_proxy }
    }

    fn read_now(&self) -> Outcome<authn::Secrets> {
        let contents =
            self.files.iter().map(|path| pki::read_limited(path)).collect::<Result<Vec<_>, _>>().map_err(
                |error| {
                    Problem::new(Code::Input, error).next("correct the path or the permissions of the file")
                },
            )?;
        self.secrets(|place| &contents[place]).map_err(|what| {
            Problem::new(Code::Input, what)
                .next("correct the file; `trellis serve --help` says what it holds")
        })
    }

    fn read(&self, contents: &Contents) -> Result<authn::Secrets, pki::Error> {
        self.secrets(|place| contents.get(place))
            .map_err(|problem| pki::Error::Pem { object: self.names(), problem })
    }

    fn secrets<'a>(&self, content: impl Fn(usize) -> &'a [u8]) -> Result<authn::Secrets, String> {
        let mut clients = self.own_clients.clone();
        if let Some(place) = self.client_ca {
            let given = content(place);
            pki::certificates(given, &self.name(place)).map_err(|error| error.to_string())?;
            clients.extend_from_slice(given);
        }
        let front_proxy = self
            .front_proxy
            .as_ref()
            .map(|(place, names)| FrontProxy { ca: content(*place), allowed_names: names });
        let clients = Some(&*clients).filter(|pem| !pem.is_empty());
        let trust = ClientTrust::new(clients, front_proxy).map_err(|error| chain(&error))?;
        let tokens = match self.tokens {
            Some(place) => TokenFile::parse(content(place))
                .map_err(|error| format!("{}: {}", self.name(place), chain(&error)))?,
            None => TokenFile::default(),
        };
        Ok(authn::Secrets { trust, tokens })
    }

    fn name(&self, place: usize) -> String {
        self.files[place].display().to_string()
    }

    fn names(&self) -> String {
        let names: Vec<_> = self.files.iter().map(|path| path.display().to_string()).collect();
        names.join(", ")
    }
}

/// Reads everything that a configuration names about keys and callers, without starting anything.
pub(crate) fn check(settings: &Settings) -> Outcome {
    Reader::new(settings, None).read_now()?;
    for pair in [&settings.serving, &settings.proxy_client].into_iter().flatten() {
        check_pair(pair)?;
    }
    Ok(())
}

fn check_pair(pair: &KeyPair) -> Outcome {
    let load = |cert: &Path, key: &Path| CertifiedKey::load(cert, key)?.to_rustls().map(drop);
    load(&pair.cert, &pair.key).map_err(Problem::given)
}

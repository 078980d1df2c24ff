//! What the core last said of registrations, for a start without it. Secrets are not in it.

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::{Watched, follow::Objects};
use crate::{
    disk::Writer,
    registration::{ServicePort, ServiceReference},
    resolve::ServiceState,
};

#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    api_servers: Arc<Objects>,
    api_services: Arc<Objects>,
    /// Addresses by `namespace/name/port`.
    services: BTreeMap<String, Vec<(String, u16)>>,
}

#[derive(Debug)]
pub(super) struct Cache {
    file: PathBuf,
    writer: Writer,
    record: Record,
}

impl Cache {
    pub(super) fn load(file: PathBuf, writer: Writer) -> Self {
        let record = match std::fs::read(&file) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_else(|error| {
                tracing::error!(
                    path = %file.display(), %error,
                    "cannot read what the core last said; its registrations come back with it. Delete the file if this comes back"
                );
                Record::default()
            }),
            Err(_) => Record::default(),
        };
        Self { file, writer, record }
    }

    pub(super) fn objects(&self, watched: Watched) -> Arc<Objects> {
        match watched {
            Watched::ApiServers => Arc::clone(&self.record.api_servers),
            Watched::ApiServices => Arc::clone(&self.record.api_services),
            Watched::CustomResourceDefinitions => Arc::default(),
        }
    }

    pub(super) fn services(&self) -> HashMap<ServiceReference, ServiceState> {
        let known = self.record.services.iter();
        known.filter_map(|(key, found)| Some((reference(key)?, ServiceState::Ready(found.clone())))).collect()
    }

    pub(super) fn note_service(&mut self, reference: &ServiceReference, state: &ServiceState) {
        match state {
            ServiceState::Ready(addresses) => self.record.services.insert(key(reference), addresses.clone()),
            _ => self.record.services.remove(&key(reference)),
        };
    }

    pub(super) fn save(&mut self, api_servers: &Arc<Objects>, api_services: &Arc<Objects>) {
        self.record.api_servers = Arc::clone(api_servers);
        self.record.api_services = Arc::clone(api_services);
        match serde_json::to_vec(&self.record) {
            Ok(bytes) => self.writer.write(self.file.clone(), bytes),
            Err(error) => tracing::error!(%error, "cannot note what the core says"),
        }
    }
}

fn key(ServiceReference { namespace, name, port }: &ServiceReference) -> String {
    match port {
        ServicePort::Number(port) => format!("{namespace}/{name}/{port}"),
        ServicePort::Name(port) => format!("{namespace}/{name}/{port}"),
    }
}

fn reference(key: &str) -> Option<ServiceReference> {
    let mut parts = key.splitn(3, '/').map(str::to_owned);
    let (namespace, name, port) = (parts.next()?, parts.next()?, parts.next()?);
    let port = port.parse().map_or(ServicePort::Name(port), ServicePort::Number);
    Some(ServiceReference { namespace, name, port })
}

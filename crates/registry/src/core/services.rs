//! Follows one Service to the addresses of its endpoints.

use std::{collections::BTreeMap, time::Duration};

use futures_util::StreamExt as _;
use k8s_openapi::api::{core::v1::Service, discovery::v1::EndpointSlice};
use kube::{
    Api, Client,
    runtime::{
        WatchStreamExt as _,
        watcher::{self, Event},
    },
};

use crate::{
    registration::{ServicePort, ServiceReference},
    resolve::ServiceState,
};

/// Label that ties EndpointSlices to their Service.
const OF_SERVICE: &str = "kubernetes.io/service-name";
/// Changes this close together are told as one.
const TOGETHER: Duration = Duration::from_millis(5);

/// Calls `told` with the state of a Service whenever it changes, until it answers false.
pub(super) async fn follow_service(
    client: Client,
    reference: ServiceReference,
    told: impl Fn(ServiceState) -> bool,
) {
    let services = Api::<Service>::namespaced(client.clone(), &reference.namespace);
    let slices = Api::<EndpointSlice>::namespaced(client, &reference.namespace);
    let named = watcher::Config::default().fields(&format!("metadata.name={}", reference.name));
    let labelled = watcher::Config::default().labels(&format!("{OF_SERVICE}={}", reference.name));
    let mut services = std::pin::pin!(watcher::watcher(services, named).default_backoff());
    let mut slices = std::pin::pin!(watcher::watcher(slices, labelled).default_backoff());
    let mut service: Followed<Service> = Followed::default();
    let mut endpoints: Followed<EndpointSlice> = Followed::default();
    let mut last = None;
    loop {
        let state = tokio::select! {
            Some(event) = services.next() => service.take(event),
            Some(event) = slices.next() => endpoints.take(event),
            () = tokio::time::sleep(TOGETHER), if service.news || endpoints.news => {
                (service.news, endpoints.news) = (false, false);
                if !(service.complete && endpoints.complete) {
                    continue;
                }
                Ok(Some(state(&reference, service.objects.values().next(), &endpoints.objects)))
            }
        };
        let state = match state {
            Ok(None) => continue,
            Ok(Some(state)) => state,
            // What was known stays known while the core cannot be reached.
            Err(_) if last.is_some() => continue,
            Err(why) => ServiceState::Refused(why),
        };
        if last.as_ref() != Some(&state) {
            last = Some(state.clone());
            if !told(state) {
                return;
            }
        }
    }
}

/// Objects that a watch told of.
struct Followed<K> {
    objects: BTreeMap<String, K>,
    listing: BTreeMap<String, K>,
    complete: bool,
    news: bool,
}

impl<K> Default for Followed<K> {
    fn default() -> Self {
        Self { objects: BTreeMap::new(), listing: BTreeMap::new(), complete: false, news: false }
    }
}

impl<K: kube::ResourceExt> Followed<K> {
    fn take(&mut self, event: Result<Event<K>, watcher::Error>) -> Result<Option<ServiceState>, String> {
        match event.map_err(|error| error.to_string())? {
            Event::Init => self.listing.clear(),
            Event::InitApply(object) => {
                self.listing.insert(object.name_any(), object);
            }
            Event::InitDone => {
                self.objects = std::mem::take(&mut self.listing);
                (self.complete, self.news) = (true, true);
            }
            Event::Apply(object) => {
                self.objects.insert(object.name_any(), object);
                self.news = true;
            }
            Event::Delete(object) => {
                self.objects.remove(&object.name_any());
                self.news = true;
            }
        }
        Ok(None)
    }
}

/// What these objects mean for a registration.
fn state(
    reference: &ServiceReference,
    service: Option<&Service>,
    slices: &BTreeMap<String, EndpointSlice>,
) -> ServiceState {
    let Some(spec) = service.and_then(|service| service.spec.as_ref()) else { return ServiceState::Missing };
    if spec.type_.as_deref() == Some("ExternalName") {
        let host = spec.external_name.clone().unwrap_or_default();
        return match reference.port {
            ServicePort::Number(port) => ServiceState::Ready(vec![(host, port)]),
            ServicePort::Name(_) => ServiceState::NoPort,
        };
    }
    let wanted = |port: &&k8s_openapi::api::core::v1::ServicePort| match &reference.port {
        ServicePort::Number(number) => port.port == i32::from(*number),
        ServicePort::Name(name) => port.name.as_ref() == Some(name),
    };
    let Some(port) = spec.ports.iter().flatten().find(wanted) else { return ServiceState::NoPort };
    if slices.is_empty() {
        return ServiceState::NoSlices;
    }
    let name = port.name.clone().unwrap_or_default();
    let mut addresses: Vec<(String, u16)> = slices.values().flat_map(|slice| ready(slice, &name)).collect();
    addresses.sort();
    addresses.dedup();
    if addresses.is_empty() { ServiceState::NoAddresses(name) } else { ServiceState::Ready(addresses) }
}

fn ready(slice: &EndpointSlice, name: &str) -> Vec<(String, u16)> {
    let port = slice
        .ports
        .iter()
        .flatten()
        .find(|port| port.name.as_deref().unwrap_or_default() == name)
        .and_then(|port| port.port)
        .and_then(|port| u16::try_from(port).ok());
    let Some(port) = port else { return Vec::new() };
    // Unknown counts as ready, as the API documents it.
    let is_ready = |endpoint: &&k8s_openapi::api::discovery::v1::Endpoint| {
        endpoint.conditions.as_ref().and_then(|conditions| conditions.ready).unwrap_or(true)
    };
    let endpoints = slice.endpoints.iter().flatten().filter(is_ready);
    endpoints.flat_map(|endpoint| endpoint.addresses.iter().map(|address| (address.clone(), port))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(port: ServicePort, service: serde_json::Value, slices: serde_json::Value) -> ServiceState {
        let reference = ServiceReference { namespace: "wardle".into(), name: "api".into(), port };
        let service: Option<Service> = serde_json::from_value(service).expect("a Service");
        let slices: Vec<EndpointSlice> = serde_json::from_value(slices).expect("EndpointSlices");
        let slices = slices.into_iter().enumerate().map(|(i, slice)| (i.to_string(), slice)).collect();
        state(&reference, service.as_ref(), &slices)
    }

    #[test]
    fn services_are_followed_as_kube_aggregator_does() {
        let service = json!({ "spec": { "ports": [{ "name": "https", "port": 443, "targetPort": 8443 }] } });
        let slice = |ready: serde_json::Value| {
            json!([{ "addressType": "IPv4", "ports": [{ "name": "https", "port": 8443 }],
                "endpoints": [{ "addresses": ["10.0.0.1"], "conditions": ready }] }])
        };
        let ready = ServiceState::Ready(vec![("10.0.0.1".to_owned(), 8443)]);
        let number = || ServicePort::Number(443);
        let cases = [
            (number(), service.clone(), slice(json!({ "ready": true })), ready.clone()),
            (number(), service.clone(), slice(json!({})), ready.clone()),
            (ServicePort::Name("https".into()), service.clone(), slice(json!({})), ready),
            (
                number(),
                service.clone(),
                slice(json!({ "ready": false })),
                ServiceState::NoAddresses("https".into()),
            ),
            (number(), service.clone(), json!([]), ServiceState::NoSlices),
            (ServicePort::Number(80), service, json!([]), ServiceState::NoPort),
            (number(), serde_json::Value::Null, json!([]), ServiceState::Missing),
            (
                number(),
                json!({ "spec": { "type": "ExternalName", "externalName": "a.example.com" } }),
                json!([]),
                ServiceState::Ready(vec![("a.example.com".to_owned(), 443)]),
            ),
        ];
        for (port, service, slices, expected) in cases {
            assert_eq!(of(port, service, slices), expected);
        }
    }
}

//! The two ways to the same servers.

use std::{
    net::SocketAddr,
    thread,
    time::{Duration, Instant},
};

use testkit::{
    FakeServer, Group, Resource, Serving, Target,
    real::{Http, Kubectl, Protocol as Wire, endpoint_slice},
};

use super::{
    answer::Answer,
    cases::{Actor, Case, Protocol, State},
};
use crate::lab::Lab;

/// Longer than any answer takes: hung servers are asked with a timeout of their own.
const LIMIT: Duration = Duration::from_secs(90);

/// How often the aggregator is asked again that closed the connection instead of answering, as it does
/// now and then when a server hangs: what it says when it says something is compared. Never the door.
const AGAIN: usize = 3;

/// A lab with one more server behind both: one that follows the `act` of each request.
pub(crate) struct Sides {
    lab: Lab,
    http: Http,
    runtime: tokio::runtime::Runtime,
    scripted: FakeServer,
}

impl Sides {
    /// Starts everything and waits until both ways lead to both servers.
    pub(crate) fn start() -> Self {
        let lab = Lab::start().unwrap_or_else(|missing| panic!("{missing}"));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let scripted = runtime.block_on(async {
            FakeServer::builder()
                .group(Group::new("scripted.example.com", "v1", [Resource::namespaced("things", "Thing")]))
                .tls(lab.pki(), Serving::Good)
                .listen(SocketAddr::new(lab.network.host(), 0))
                .start()
                .await
        });
        register(&lab, scripted.address());
        let sides = Self { lab, http: Http::new(), runtime, scripted };
        sides.wait();
        sides
    }

    /// All cases through kube-apiserver's aggregator.
    pub(crate) fn aggregator(&mut self, cases: &[Case]) -> Vec<Answer> {
        let core = self.lab.core.anonymous();
        self.run(cases, &core, AGAIN)
    }

    /// All cases through the door.
    pub(crate) fn door(&mut self, cases: &[Case]) -> Vec<Answer> {
        let door = self.lab.door.anonymous();
        self.run(cases, &door, 0)
    }

    fn run(&mut self, cases: &[Case], to: &Target, again: usize) -> Vec<Answer> {
        let mut state = State::Healthy;
        let mut answers = Vec::new();
        for case in cases {
            if case.state != state {
                self.enter(case.state);
                state = case.state;
            }
            answers.push(self.ask(case, to, again));
        }
        self.enter(State::Healthy);
        self.wait();
        answers
    }

    /// The answer; a read that gets none at all is repeated `again` times.
    fn ask(&self, case: &Case, to: &Target, again: usize) -> Answer {
        let pki = self.lab.pki();
        let target = match case.actor {
            Actor::Admin => to.clone().identity(pki.user("admin", &["system:masters"])),
            Actor::Reader => to.clone().identity(pki.user("reader", &[])),
            Actor::Nobody => to.clone().identity(pki.user("nobody", &[])),
            Actor::Anonymous => to.clone(),
        };
        let wire = match case.protocol {
            Protocol::Http1 => Wire::Http1,
            Protocol::Http2 => Wire::Http2,
        };
        let request = (case.method.as_str(), case.path.as_str());
        let send = || self.http.send(&target, wire, request, &case.headers, case.body.clone(), LIMIT);
        let mut reply = send();
        for _ in 0..again {
            if reply.is_ok() || case.method != "GET" {
                break;
            }
            reply = send();
        }
        Answer::new(reply)
    }

    /// Brings the servers into a state. The aggregator learns of it by probing twice a minute; both are
    /// asked while they still think that all is well, which is when a client meets the failure first.
    fn enter(&mut self, state: State) {
        let sample = self.lab.sample.lock().expect("the sample server");
        sample.process_ref().signal(if state == State::Hung { "STOP" } else { "CONT" });
        drop(sample);
        if state == State::Refusing {
            self.runtime.block_on(self.scripted.kill());
        } else {
            self.runtime.block_on(self.scripted.restart());
        }
    }

    /// Waits until both servers answer through both ways.
    fn wait(&self) {
        let pki = self.lab.pki();
        let started = Instant::now();
        for target in [self.lab.core.admin(), self.lab.door.user(pki, "admin", &["system:masters"])] {
            for path in [
                "/apis/wardle.example.com/v1alpha1/flunders",
                "/apis/wardle.example.com/v1beta1/flunders",
                "/apis/scripted.example.com/v1/things",
            ] {
                while !self.http.is_ok(&target, path) {
                    assert!(started.elapsed() < LIMIT, "{path} is not there at {}", target.authority());
                    thread::sleep(Duration::from_millis(100));
                }
            }
            // The core makes its documents when they are asked for the first time.
            while !self
                .http
                .get(&target, "/openapi/v3")
                .is_ok_and(|index| index.text().contains("\"api/v1\""))
            {
                assert!(
                    started.elapsed() < LIMIT,
                    "the core's OpenAPI is not there at {}",
                    target.authority()
                );
                thread::sleep(Duration::from_millis(100));
            }
        }
    }
}

/// Makes the scripted server a server of the core, by Service, EndpointSlice and APIService; and lets
/// the reader read.
fn register(lab: &Lab, address: SocketAddr) {
    let kubectl = Kubectl::kubectl(&lab.core.kubeconfig()).expect("kubectl");
    let service = serde_json::json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "scripted", "namespace": "wardle"},
        "spec": {"ports": [{"port": 443, "protocol": "TCP", "targetPort": address.port()}]},
    });
    kubectl.apply(&service.to_string());
    kubectl.apply(&endpoint_slice("scripted", "wardle", "", &[address]));
    let api_service = serde_json::json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {"name": "v1.scripted.example.com"},
        "spec": {
            "group": "scripted.example.com", "version": "v1", "insecureSkipTLSVerify": true,
            "groupPriorityMinimum": 900, "versionPriority": 10,
            "service": {"name": "scripted", "namespace": "wardle"},
        },
    });
    kubectl.apply(&api_service.to_string());
    kubectl.ok(&[
        "create",
        "clusterrole",
        "reader",
        "--verb=get,list,watch",
        "--resource=flunders.wardle.example.com",
    ]);
    kubectl.ok(&["create", "clusterrolebinding", "reader", "--clusterrole=reader", "--user=reader"]);
}

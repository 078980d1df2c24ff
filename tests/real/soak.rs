//! A door that is used for a long time while its servers come and go: every answer is one that a client
//! understands, and memory does not grow.

use std::{
    thread,
    time::{Duration, Instant},
};

use libtest_mimic::Trial;
use testkit::{
    Act, FakeServer, Group, Resource, Serving, Target, TempPki,
    real::{Door, DoorBuilder, Http, Protocol},
};

use crate::rows::{full, trial};

/// How long a run is: rounds of one failure each.
const ROUNDS: u32 = 4;
const ROUNDS_FULL: u32 = 300;
/// Requests in each round.
const REQUESTS: u32 = 60;
/// Servers behind the door.
const SERVERS: usize = 4;
/// What the door may have more at the end than after the first rounds, in KiB.
const GROWTH: u64 = 16 << 10;
/// Longest that one request may take; none here is meant to hang.
const LIMIT: Duration = Duration::from_secs(30);

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("soak::servers come and go", soak)]
}

struct World {
    runtime: tokio::runtime::Runtime,
    servers: Vec<FakeServer>,
    door: Door,
    admin: Target,
    http: Http,
    // Its files are in use until the door has ended.
    _pki: TempPki,
}

fn soak() {
    let mut world = World::start();
    let rounds = if full() { ROUNDS_FULL } else { ROUNDS };
    let (mut answered, mut refused, mut early) = (0, 0, 0);
    let started = Instant::now();
    for round in 0..rounds {
        world.disturb(round);
        for number in 0..REQUESTS {
            match world.request(number) {
                200 => answered += 1,
                502..=504 => refused += 1,
                other => panic!("round {round}, request {number}: {other}"),
            }
        }
        world.calm();
        if round == rounds / 4 {
            early = world.memory();
        }
    }
    let late = world.memory();
    println!("figure: soak seconds = {:.0}", started.elapsed().as_secs_f64());
    println!("figure: soak answered = {answered}");
    println!("figure: soak refused = {refused}");
    println!("figure: soak memory after a quarter (KiB) = {early}");
    println!("figure: soak memory at the end (KiB) = {late}");
    assert!(answered > refused, "{answered} answered, {refused} refused");
    assert!(late <= early + GROWTH, "memory grew from {early} to {late} KiB");
    assert!(world.door.process().wait(Duration::ZERO).is_none(), "the door has ended");
}

impl World {
    fn start() -> Self {
        let pki = TempPki::new();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let servers: Vec<FakeServer> = (0..SERVERS)
            .map(|number| {
                let group = Group::new(&group(number), "v1", [Resource::namespaced("things", "Thing")]);
                runtime.block_on(FakeServer::builder().group(group).tls(&pki, Serving::Good).start())
            })
            .collect();
        let door = DoorBuilder::new(&pki).front_proxy().start().unwrap_or_else(|missing| panic!("{missing}"));
        let kubeconfig = door.kubeconfig_of(&pki, "admin", &["system:masters"]);
        let trellis = door.trellis(&kubeconfig).unwrap_or_else(|missing| panic!("{missing}"));
        let ca = pki.file("servers-ca.crt", pki.server_ca.certificate_pem());
        for (number, server) in servers.iter().enumerate() {
            let name = format!("--name=server-{number}");
            trellis.ok(&["register", &server.url(), &name, "--ca", &ca.to_string_lossy()]);
        }
        let admin = door.user(&pki, "admin", &["system:masters"]);
        Self { runtime, servers, door, admin, http: Http::new(), _pki: pki }
    }

    /// One server fails, each time in another way.
    fn disturb(&self, round: u32) {
        let server = &self.servers[round as usize % SERVERS];
        match round % 5 {
            0 => self.runtime.block_on(server.kill()),
            1 => server.act("/apis/", Act::Status(500)),
            2 => server.goaway_every(3),
            3 => server.act("/apis/", Act::Reset),
            _ => server.act("/apis/", Act::Delay(Duration::from_millis(20))),
        }
    }

    /// All is well again.
    fn calm(&self) {
        for server in &self.servers {
            server.behave();
            server.goaway_every(0);
            server.forget_requests();
            self.runtime.block_on(server.restart());
        }
    }

    /// A request of some kind to some server; gives the status.
    fn request(&self, number: u32) -> u16 {
        let group = group(number as usize % SERVERS);
        let path = match number % 6 {
            0 => "/apis".to_owned(),
            1 => format!("/apis/{group}/v1"),
            2 => "/openapi/v3".to_owned(),
            3 => format!("/apis/{group}/v1/things?watch=true&timeoutSeconds=1&act=bytes:2000"),
            4 => format!("/apis/{group}/v1/namespaces/default/things/one?act=bytes:100000"),
            _ => format!("/apis/{group}/v1/things"),
        };
        let protocol = if number.is_multiple_of(2) { Protocol::Http1 } else { Protocol::Http2 };
        let reply = self.http.send(&self.admin, protocol, ("GET", &path), &[], "", LIMIT);
        // A server's own 500 is passed on as it is.
        let status = reply.map_or_else(|error| panic!("{path}: {error}"), |reply| reply.status.as_u16());
        if status == 500 { 502 } else { status }
    }

    /// Resident memory of the door, KiB, after it has had a moment to give some back.
    fn memory(&mut self) -> u64 {
        thread::sleep(Duration::from_secs(2));
        let status = fs_err::read_to_string(format!("/proc/{}/status", self.door.process().id()));
        let status = status.expect("the state of the door");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("VmRSS");
        line.trim().trim_end_matches(" kB").parse().expect("a number of KiB")
    }
}

fn group(number: usize) -> String {
    format!("server-{number}.example.com")
}

//! kubectl exec, attach, logs and port-forward through the door to a server built from upstream's own
//! parts: over WebSocket and over SPDY, 100 MB each way.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{Shutdown, TcpStream},
    process::Child,
    sync::OnceLock,
    thread,
};

use libtest_mimic::Trial;
use sha2::{Digest as _, Sha256};
use testkit::{
    TempPki,
    real::{Door, DoorBuilder, Kubectl, Unavailable, UpgradeServer, program},
};

use crate::rows::{Shared, skipped, trial};

/// What goes each way.
const BYTES: usize = 100 << 20;
/// What an echo carries both ways at once.
const ECHO: usize = 10 << 20;

/// How kubectl speaks.
#[derive(Clone, Copy)]
struct Transport {
    name: &'static str,
    websockets: &'static str,
}

const TRANSPORTS: [Transport; 2] =
    [Transport { name: "websocket", websockets: "true" }, Transport { name: "spdy", websockets: "false" }];

struct World {
    door: Door,
    // Held for as long as the door needs them.
    _server: UpgradeServer,
    pki: TempPki,
}

#[derive(Clone)]
struct SharedWorld(Shared<World>);

type Test = fn(&Kubectl);

pub(crate) fn trials() -> Vec<Trial> {
    let tests: [(&str, Test); 9] = [
        ("100 MB come out of exec", exec_out),
        ("100 MB go into exec, whose end is seen", exec_in),
        ("exit code 3", exit_code),
        ("the server's own refusal is shown", refusal),
        ("standard error and the caller's identity", identity),
        ("attach echoes", attach),
        ("logs are followed", logs),
        ("100 MB go through port-forward, half-closed", forward_in),
        ("100 MB come out of port-forward, 10 MB echo", forward_out),
    ];
    let world = SharedWorld(Shared::new());
    let missing = ["upgrade-server", "kubectl"].into_iter().find_map(|name| program(name).err());
    let mut trials = Vec::new();
    for transport in TRANSPORTS {
        for (what, test) in tests {
            let name = format!("streams::{}::{what}", transport.name);
            let world = world.clone();
            trials.push(match &missing {
                Some(reason) => skipped(name, reason),
                None => trial(name, move || test(&world.kubectl(transport))),
            });
        }
    }
    trials
}

impl SharedWorld {
    fn kubectl(&self, transport: Transport) -> Kubectl {
        let world = self.0.get(|| World::start().unwrap_or_else(|missing| panic!("{missing}")));
        let kubeconfig = world.door.kubeconfig_of(&world.pki, "admin", &["system:masters", "others"]);
        Kubectl::kubectl(&kubeconfig)
            .expect("kubectl")
            .environment("KUBECTL_REMOTE_COMMAND_WEBSOCKETS", transport.websockets)
            .environment("KUBECTL_PORT_FORWARD_WEBSOCKETS", transport.websockets)
    }
}

impl World {
    fn start() -> Result<Self, Unavailable> {
        let pki = TempPki::new();
        let server = UpgradeServer::start(&pki)?;
        // Pods are the core's: this server is one, as far as it goes.
        let kubeconfig = server.kubeconfig(&pki);
        let door = DoorBuilder::new(&pki).front_proxy().argument("--core", kubeconfig.display()).start()?;
        Ok(Self { door, _server: server, pki })
    }
}

/// 100 MB of the server's pattern, little-endian counters, with its hash: made once.
fn pattern() -> &'static (Vec<u8>, String) {
    static PATTERN: OnceLock<(Vec<u8>, String)> = OnceLock::new();
    PATTERN.get_or_init(|| {
        let mut bytes = Vec::with_capacity(BYTES);
        for word in 0..BYTES as u64 / 8 {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        let hash = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        (bytes, hash)
    })
}

/// Whether these are the first bytes of the pattern; a message must not hold them all.
fn check_pattern(bytes: &[u8], expected: usize) {
    assert_eq!(bytes.len(), expected);
    let differs = bytes.iter().zip(&pattern().0).position(|(a, b)| a != b);
    assert_eq!(differs, None, "the first wrong byte");
}

fn exec_out(kubectl: &Kubectl) {
    let finished = kubectl.run(&["exec", "shell", "--", "pattern", &BYTES.to_string()]);
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    check_pattern(&finished.stdout, BYTES);
}

fn exec_in(kubectl: &Kubectl) {
    let (input, expected) = pattern();
    let finished = kubectl.run_with_input(&["exec", "-i", "shell", "--", "sha256"], input.clone());
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    assert_eq!(finished.text().trim(), expected.as_str());
}

fn exit_code(kubectl: &Kubectl) {
    let finished = kubectl.run(&["exec", "shell", "--", "exit", "3"]);
    assert_eq!(finished.code, 3, "{}", finished.stderr);
}

fn refusal(kubectl: &Kubectl) {
    for command in [&["exec", "forbidden", "--", "cat"][..], &["port-forward", "pod/forbidden", ":7"]] {
        let finished = kubectl.run(command);
        assert_ne!(finished.code, 0);
        assert!(
            finished.stderr.contains("nobody enters this pod: the server itself says so"),
            "{}",
            finished.stderr
        );
    }
}

fn identity(kubectl: &Kubectl) {
    let finished = kubectl.run(&["exec", "shell", "--", "whoami"]);
    assert_eq!(
        finished.text().trim(),
        "admin,system:masters,others,system:authenticated",
        "{}",
        finished.stderr
    );
    let finished = kubectl.run(&["exec", "shell", "--", "stderr", "one line"]);
    assert_eq!((finished.text().as_str(), finished.stderr.as_str()), ("", "one line\n"));
}

fn attach(kubectl: &Kubectl) {
    let finished = kubectl.run_with_input(&["attach", "-i", "shell"], b"hello\n".to_vec());
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    assert!(finished.text().contains("hello"), "{}", finished.text());
}

fn logs(kubectl: &Kubectl) {
    assert_eq!(kubectl.ok(&["logs", "shell", "--tail=2"]), "line 1\nline 2\n");
    let mut child = kubectl.command(&["logs", "--follow", "shell"]).spawn().expect("kubectl logs");
    let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let seen: Vec<String> = lines.take(5).map(|line| line.expect("a line")).collect();
    child.kill().expect("a running kubectl");
    child.wait().expect("its end");
    assert_eq!(seen, ["line 1", "line 2", "line 3", "line 4", "line 5"]);
}

fn forward_in(kubectl: &Kubectl) {
    let (mut stream, _forward) = forward(kubectl, 8);
    let (input, expected) = pattern();
    stream.write_all(input).expect("100 MB go in");
    // Our side ends; the answer still comes.
    stream.shutdown(Shutdown::Write).expect("half-close");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the hash");
    assert_eq!(answer.trim(), expected.as_str());
}

fn forward_out(kubectl: &Kubectl) {
    let (mut stream, _forward) = forward(kubectl, 9);
    let mut output = Vec::new();
    stream.read_to_end(&mut output).expect("100 MB come out");
    check_pattern(&output, BYTES);

    let (mut stream, _forward) = forward(kubectl, 7);
    let mut sender = stream.try_clone().expect("a second handle");
    let writer = thread::spawn(move || sender.write_all(&pattern().0[..ECHO]));
    let mut echo = vec![0; ECHO];
    stream.read_exact(&mut echo).expect("the echo");
    writer.join().expect("the writer").expect("10 MB go in");
    check_pattern(&echo, ECHO);
}

/// A running `kubectl port-forward`, ended with its value.
struct Forward(Child);

impl Drop for Forward {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Forwards a free local port to `port` of the pod, and connects to it.
fn forward(kubectl: &Kubectl, port: u16) -> (TcpStream, Forward) {
    let mut child =
        kubectl.command(&["port-forward", "pod/shell", &format!(":{port}")]).spawn().expect("kubectl");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let line = lines.next().and_then(Result::ok).unwrap_or_else(|| {
        let mut text = String::new();
        let _ = child.stderr.take().map(|mut stderr| stderr.read_to_string(&mut text));
        panic!("port-forward ended: {text}")
    });
    // "Forwarding from 127.0.0.1:40001 -> 8"
    let local = line.split(' ').nth(2).unwrap_or_default().to_owned();
    // Its later lines are read, or it would wait for a reader.
    thread::spawn(move || lines.for_each(drop));
    let stream = TcpStream::connect(&local).unwrap_or_else(|error| panic!("{line}: {error}"));
    (stream, Forward(child))
}

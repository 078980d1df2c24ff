//! The program under test, and a client of its door.

use std::{
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use pki::CertifiedKey;
use serde_json::Value;
use testkit::client::{Client, Target};

/// Long enough for a busy machine; nothing here measures time.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A command of the binary, with no surroundings that could leak in.
pub fn trellis() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trellis"));
    command.env_remove("KUBECONFIG").env_remove("TRELLIS_LOG").env("HOME", "/nonexistent");
    command
}

/// What a command that ends by itself gave.
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a command to its end.
pub fn run(command: &mut Command) -> Ended {
    let output = command.stdin(Stdio::null()).output().expect("the binary starts");
    Ended {
        code: output.status.code().expect("an exit code, not a signal"),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A command that goes on; killed when dropped.
pub struct Running {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Running {
    /// Starts it.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the binary starts");
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Self { child, lines, seen: Vec::new() }
    }

    /// The first line of standard output that contains `wanted`.
    pub fn line(&mut self, wanted: &str) -> String {
        if let Some(line) = self.seen.iter().find(|line| line.contains(wanted)) {
            return line.clone();
        }
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|error| {
                panic!("no line with {wanted:?} ({error}); it said:\n{}", self.seen.join("\n"))
            });
            self.seen.push(line.clone());
            if line.contains(wanted) {
                return line;
            }
        }
    }

    /// Sends a signal, as `kill -NAME`.
    pub fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().expect("kill").success());
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> ExitStatus {
        wait_for("the program to end", || self.child.try_wait().expect("a child"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Polls until there is something.
pub fn wait_for<T>(what: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = poll() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A kubeconfig, read.
pub struct Kubeconfig {
    pub path: PathBuf,
    value: Value,
}

impl Kubeconfig {
    /// Reads the file.
    pub fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).expect("a kubeconfig");
        Self { path: path.to_owned(), value: serde_saphyr::from_str(&text).expect("YAML") }
    }

    /// The door, for a client that shows no certificate.
    pub fn anonymous(&self) -> Target {
        let cluster = &self.value["clusters"][0]["cluster"];
        let url = cluster["server"].as_str().expect("a URL");
        let address = url.strip_prefix("https://").expect("https").parse().expect("an address");
        Target::tls(address, &decode(&cluster["certificate-authority-data"]))
    }

    /// The door, as its administrator.
    pub fn admin(&self) -> Target {
        let user = &self.value["users"][0]["user"];
        let (chain, key) = (decode(&user["client-certificate-data"]), decode(&user["client-key-data"]));
        self.anonymous().identity(CertifiedKey::from_pem(chain, key, "the kubeconfig"))
    }

    /// A connection of the administrator's.
    pub async fn client(&self) -> Client {
        Client::http2(&self.admin()).await.expect("the door answers")
    }
}

fn decode(value: &Value) -> Vec<u8> {
    STANDARD.decode(value.as_str().expect("data")).expect("base64")
}

/// `trellis up` in a folder of its own.
pub struct Up {
    pub running: Running,
    pub kubeconfig: Kubeconfig,
    /// Process of the example server.
    pub example: u32,
}

impl Up {
    /// Starts it and waits until it is up.
    pub fn start(data: &Path) -> Self {
        let mut running =
            Running::start(trellis().args(["up", "--listen", "127.0.0.1:0", "--data"]).arg(data));
        let line = running.line("an example server");
        let process = line.split("process ").nth(1).and_then(|rest| rest.split(',').next());
        let example =
            process.and_then(|id| id.parse().ok()).unwrap_or_else(|| panic!("no process in {line:?}"));
        running.line("Ctrl-C stops it");
        let kubeconfig = Kubeconfig::read(&data.join("admin.kubeconfig"));
        Self { running, kubeconfig, example }
    }
}

/// Whether a process is there and no zombie.
pub fn is_alive(pid: u32) -> bool {
    let mut stat = String::new();
    let read =
        std::fs::File::open(format!("/proc/{pid}/stat")).and_then(|mut file| file.read_to_string(&mut stat));
    read.is_ok() && !stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

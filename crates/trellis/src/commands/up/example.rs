//! The example server: the same binary as a process of its own.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    sync::Mutex,
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, ChildStdin, Command},
    time::timeout,
};

use crate::{
    example_server::READY,
    exit::{Code, Outcome, Problem},
};

/// How long it may take to start, and to stop.
const PATIENCE: Duration = Duration::from_secs(10);

/// The running process. It ends when its standard input closes, so that it never outlives the door,
/// however that ends.
pub(super) struct Example {
    child: tokio::sync::Mutex<Child>,
    input: Mutex<Option<ChildStdin>>,
    id: u32,
    url: String,
    state: PathBuf,
}

impl Example {
    /// Starts it on a free port; it trusts the door's front proxy.
    pub(super) async fn start(state: &Path, front_proxy_ca: &Path) -> Outcome<Self> {
        let failed =
            |what: String| Problem::new(Code::Failure, format!("cannot start the example server: {what}"));
        let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
        let mut child = Command::new(program)
            .args(["example-server", "--listen", "127.0.0.1:0", "--until-stdin-closes"])
            .arg("--state")
            .arg(state)
            .arg("--front-proxy-ca")
            .arg(front_proxy_ca)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C goes to the door, which stops the example when its own requests are done.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        let id = child.id().unwrap_or_default();
        let input = Mutex::new(child.stdin.take());
        let output = child.stdout.take().ok_or_else(|| failed("it has no output".to_owned()))?;
        let mut lines = BufReader::new(output).lines();
        let url = loop {
            match timeout(PATIENCE, lines.next_line()).await {
                Ok(Ok(Some(line))) => match line.strip_prefix(READY) {
                    Some(url) => break url.to_owned(),
                    None => continue,
                },
                Ok(_) => return Err(failed("it ended; what it said stands above".to_owned())),
                Err(_) => return Err(failed(format!("it did not say where it listens within {PATIENCE:?}"))),
            }
        };
        Ok(Self { child: child.into(), input, id, url, state: state.to_owned() })
    }

    /// Its base URL.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Its process.
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// The authority of its serving certificate, PEM.
    pub(super) fn authority(&self) -> Outcome<Vec<u8>> {
        pki::read_limited(&self.state.join("ca.crt")).map_err(Problem::state)
    }

    /// Returns when it has ended, with how.
    pub(super) async fn ended(&self) -> String {
        match self.child.lock().await.wait().await {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        }
    }

    /// Ends it, in good order if it can.
    pub(super) async fn stop(self) {
        drop(self.input.lock().map(|mut input| input.take()));
        let mut child = self.child.into_inner();
        if timeout(PATIENCE, child.wait()).await.is_err() {
            let _ = child.kill().await;
        }
    }
}

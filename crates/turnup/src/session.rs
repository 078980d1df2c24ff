//! One stream to a host, and the script at its other end.

mod answers;
mod request;

use std::{process::Stdio, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    sync::Mutex,
    task::JoinHandle,
    time::timeout,
};

use crate::{Error, HOST_SCRIPT, SshCause, SshOptions, Target};

use answers::{Answer, Answers, BANNER_LIMIT};
pub use request::{Payload, Request};

/// How much is kept of what ssh says, in bytes.
const STDERR_KEPT: usize = 8 << 10;
/// How long the script may take to greet after the connection is there.
const GREETING_WAIT: Duration = Duration::from_secs(20);

/// An open stream. Dropping it ends ssh, and with it the script.
pub struct Session {
    host: String,
    child: Child,
    stdin: ChildStdin,
    answers: Answers<BufReader<ChildStdout>>,
    stderr: Arc<Mutex<Vec<u8>>>,
    stderr_reader: JoinHandle<()>,
}

impl Session {
    /// Connects, and starts the script.
    ///
    /// # Errors
    /// When the host is not reached, does not let us in, or is no host that can run the script.
    pub async fn open(options: &SshOptions, target: &Target) -> Result<Self, Error> {
        let mut child = Command::new(&options.program)
            .args(options.arguments(target, &command(&target.ssh.user)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            // Ctrl-C on a terminal is for us: the step that is being done on the host is finished first.
            .process_group(0)
            .spawn()
            .map_err(|source| Error::Start { program: options.program.clone(), source })?;
        let (Some(stdin), Some(stdout), Some(err)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            let source = std::io::Error::other("it has no standard input or output");
            return Err(Error::Start { program: options.program.clone(), source });
        };
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let stderr_reader = tokio::spawn(keep(err, Arc::clone(&stderr)));
        let answers = Answers::new(BufReader::new(stdout));
        let mut session = Self { host: target.host.clone(), child, stdin, answers, stderr, stderr_reader };
        let wait = Duration::from_secs(options.connect_seconds.into()) + GREETING_WAIT;
        match timeout(wait, session.greet()).await {
            Ok(greeted) => greeted.map(|()| session),
            Err(_) => {
                Err(Error::Silent { host: target.host.clone(), step: "connect".to_owned(), after: wait })
            }
        }
    }

    /// The name of the host.
    pub fn host(&self) -> &str {
        &self.host
    }

    async fn greet(&mut self) -> Result<(), Error> {
        // When the host is not reached, why it is not says ssh, not the pipe.
        let _ = self.stdin.write_all(HOST_SCRIPT.as_bytes()).await;
        let _ = self.stdin.flush().await;
        match self.answers.greeting().await {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.ended("connect").await),
            Err(problem) => Err(self.garbled("connect", problem)),
        }
    }

    /// Asks for something and waits for the answer.
    ///
    /// # Errors
    /// As of [`Session::ask_all`].
    pub async fn ask(&mut self, request: Request, wait: Duration) -> Result<Vec<String>, Error> {
        Ok(self.ask_all(&[request], wait).await?.pop().unwrap_or_default())
    }

    /// Asks for several things at once: sent one after the other without waiting, answered in their order.
    ///
    /// # Errors
    /// When the host refuses one (what follows it is not done), does not answer within `wait`, is gone, or answers
    /// something that is not understood.
    pub async fn ask_all(&mut self, requests: &[Request], wait: Duration) -> Result<Vec<Vec<String>>, Error> {
        let last = requests.last().map_or_else(String::new, Request::step);
        let mut done = 0;
        let outcome = {
            let writing = request::write_all(&mut self.stdin, requests);
            let reading = async {
                let mut all = Vec::with_capacity(requests.len());
                for _ in requests {
                    match self.answers.next().await {
                        Ok(Answer::Done(lines)) => all.push(lines),
                        other => return Err(other),
                    }
                    done += 1;
                }
                Ok(all)
            };
            // A file of this machine that cannot be read ends it; a broken pipe is explained by the other side.
            let both = async {
                tokio::pin!(reading, writing);
                tokio::select! {
                    biased;
                    read = &mut reading => Ok(read),
                    written = &mut writing => match written { Err(error) => Err(error), Ok(()) => Ok(reading.await) },
                }
            };
            timeout(wait, both).await
        };
        let step = requests.get(done).map_or(last, Request::step);
        match outcome {
            Err(_) => Err(Error::Silent { host: self.host.clone(), step, after: wait }),
            Ok(Err(error)) => Err(error),
            Ok(Ok(Ok(all))) => Ok(all),
            Ok(Ok(Err(Ok(Answer::Refused(why))))) => {
                Err(Error::Refused { host: self.host.clone(), step, why })
            }
            Ok(Ok(Err(Ok(_)))) => Err(self.ended(&step).await),
            Ok(Ok(Err(Err(problem)))) => Err(self.garbled(&step, problem)),
        }
    }

    /// Ends the script and the connection.
    pub async fn close(mut self) {
        let _ = self.stdin.write_all(b"bye\n").await;
        let _ = self.stdin.shutdown().await;
        let _ = timeout(Duration::from_secs(2), self.child.wait()).await;
    }

    fn garbled(&self, step: &str, problem: String) -> Error {
        Error::Garbled { host: self.host.clone(), step: step.to_owned(), problem }
    }

    /// Why the stream ended, from what ssh said.
    async fn ended(&mut self, step: &str) -> Error {
        let _ = timeout(Duration::from_secs(2), self.child.wait()).await;
        let _ = timeout(Duration::from_millis(500), &mut self.stderr_reader).await;
        let said = printable(&self.stderr.lock().await);
        let cause = SshCause::of(&said);
        let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let tail = lines[lines.len().saturating_sub(2)..].join("; ");
        let detail = if tail.is_empty() { String::new() } else { format!(": {tail}") };
        Error::Ssh { host: self.host.clone(), step: step.to_owned(), cause, detail }
    }
}

/// What is run on the host: the script comes first on its standard input, so that it stands in no list of processes.
fn command(user: &str) -> String {
    let sudo = if user == "root" { "" } else { "sudo -n -- " };
    let bytes = HOST_SCRIPT.len();
    format!("{sudo}sh -c 'eval \"$(dd bs={bytes} count=1 iflag=fullblock 2>/dev/null)\"'")
}

async fn keep(mut stderr: ChildStderr, kept: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
        let mut kept = kept.lock().await;
        kept.extend_from_slice(&buffer[..read]);
        let over = kept.len().saturating_sub(STDERR_KEPT);
        kept.drain(..over);
    }
}

/// Text of a host for a person: without what would move the cursor, at most some lines.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let shown = text.chars().map(|c| if c == '\n' || !c.is_control() { c } else { ' ' });
    shown.take(BANNER_LIMIT).collect()
}

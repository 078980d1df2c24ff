//! A child process with a log, killed with its value or with this process.

use std::{
    ffi::OsStr,
    io,
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        OnceLock,
        mpsc::{Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

/// How long a program may take to be ready, on a busy machine.
const READY: Duration = Duration::from_secs(120);
/// Lines of a log that a failure shows.
const TAIL: usize = 40;

/// A program to start.
pub struct Spawn {
    name: String,
    command: Command,
    log: PathBuf,
}

impl Spawn {
    /// `program`, called `name` in messages, with its log in `dir`.
    pub fn new(name: &str, program: &Path, dir: &Path) -> Self {
        Self::wrapped(name, &[], program, dir)
    }

    /// The same, started by other programs, for example `ip netns exec NAME`.
    pub fn wrapped(name: &str, wrapper: &[&str], program: &Path, dir: &Path) -> Self {
        // The kernel ends the child when this process ends in whatever way, so that no test leaves
        // servers behind. `setpriv` is part of util-linux.
        let guard: &[&str] = if has_setpriv() { &["setpriv", "--pdeathsig", "KILL"] } else { &[] };
        let words: Vec<&OsStr> =
            wrapper.iter().chain(guard).map(OsStr::new).chain([program.as_os_str()]).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).stdin(Stdio::null()).env_remove("KUBECONFIG");
        Self { name: name.to_owned(), command, log: dir.join(format!("{name}.log")) }
    }

    /// Adds arguments.
    #[must_use]
    pub fn arguments<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn environment(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Starts it.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(mut self) -> Process {
        let log = fs_err::OpenOptions::new().create(true).append(true).open(&self.log).expect("a log");
        let log = log.into_parts().0;
        self.command.stdout(log.try_clone().expect("a second handle")).stderr(log);
        let child =
            spawn(self.command).unwrap_or_else(|error| panic!("{} cannot be started: {error}", self.name));
        Process { name: self.name, child, log: self.log }
    }
}

/// A running program.
pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Waits until `ready` says yes.
    ///
    /// # Panics
    /// When the program ends before, or takes longer than two minutes: the end of its log is shown.
    pub fn wait_until(&mut self, what: &str, mut ready: impl FnMut() -> bool) {
        let started = Instant::now();
        while !ready() {
            if let Some(status) = self.child.try_wait().expect("the state of a child") {
                panic!("{} ended ({status}) before {what}; its log ends with\n{}", self.name, self.tail());
            }
            assert!(
                started.elapsed() < READY,
                "{} after {READY:?} not yet: {what}; its log ends with\n{}",
                self.name,
                self.tail()
            );
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// The last lines of its log, after what it said when it panicked.
    pub fn tail(&self) -> String {
        let text = String::from_utf8_lossy(&fs_err::read(&self.log).unwrap_or_default()).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        let last = lines.len().saturating_sub(TAIL);
        let panics = lines[..last].windows(2).filter(|pair| pair[0].contains("panicked at")).flatten();
        panics.chain(&lines[last..]).map(|line| format!("    {line}\n")).collect()
    }

    /// Everything that it wrote.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&fs_err::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// Sends a signal by name: `STOP`, `CONT`, `TERM`, …
    ///
    /// # Panics
    /// When there is no such process or signal.
    pub fn signal(&self, signal: &str) {
        let status = Command::new("kill").args(["-s", signal, &self.child.id().to_string()]).status();
        assert!(status.is_ok_and(|status| status.success()), "kill -s {signal} {}", self.name);
    }

    /// Ends it at once and waits for that.
    pub fn kill(&mut self) {
        // An error means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits for it to end by itself; none when it did not within `limit`.
    ///
    /// # Panics
    /// When its state cannot be read.
    pub fn wait(&mut self, limit: Duration) -> Option<std::process::ExitStatus> {
        let started = Instant::now();
        while started.elapsed() < limit {
            if let Some(status) = self.child.try_wait().expect("the state of a child") {
                return Some(status);
            }
            thread::sleep(Duration::from_millis(20));
        }
        None
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("the log of {} ends with\n{}", self.name, self.tail());
        }
        self.kill();
    }
}

/// A port of the loopback interface that nobody had a moment ago.
///
/// # Panics
/// When there is none.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("its address").port()
}

fn has_setpriv() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        let found =
            Command::new("setpriv").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        found.is_ok_and(|status| status.success())
    })
}

/// Starts a child from a thread that lives as long as the process: the signal of `setpriv` comes when
/// the starting thread ends, and threads of a test harness end early.
fn spawn(command: Command) -> io::Result<Child> {
    type Job = (Command, Sender<io::Result<Child>>);
    static SPAWNER: OnceLock<Sender<Job>> = OnceLock::new();
    let spawner = SPAWNER.get_or_init(|| {
        let (jobs, queue) = channel::<Job>();
        thread::spawn(move || {
            for (mut command, answer) in queue {
                // Nobody waits for the answer only when the test has ended.
                let _ = answer.send(command.spawn());
            }
        });
        jobs
    });
    let (answer, result) = channel();
    spawner.send((command, answer)).map_err(io::Error::other)?;
    result.recv().map_err(io::Error::other)?
}

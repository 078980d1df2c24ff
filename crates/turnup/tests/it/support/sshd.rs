//! A real sshd that leads into the root folder of a host.

use std::{
    fs,
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use tempfile::TempDir;
use turnup::{SshOptions, Target};

use testkit::TestHost;

/// An sshd with keys of its own, which lets one key in.
pub struct Sshd {
    folder: TempDir,
    port: u16,
    child: Child,
}

impl Sshd {
    /// Starts one in front of a host.
    pub fn start(host: &TestHost) -> Self {
        let folder = TempDir::new().expect("a folder");
        // sshd goes from root to nobody and back there.
        let _ = fs::create_dir_all("/run/sshd");
        for name in ["host", "user"] {
            keygen(&folder.path().join(name));
        }
        let at = |name: &str| folder.path().join(name).display().to_string();
        fs::copy(folder.path().join("user.pub"), folder.path().join("authorized")).expect("a copy");
        let enter = format!(
            "#!/bin/sh\n[ ! -f {0} ] || cat {0}\nexec chroot {1} /bin/sh -c \"$SSH_ORIGINAL_COMMAND\"\n",
            at("banner"),
            host.root().display()
        );
        fs::write(folder.path().join("enter"), enter).expect("a file");
        fs::set_permissions(folder.path().join("enter"), fs::Permissions::from_mode(0o755)).expect("a mode");
        let port = free_port();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nForceCommand {}\nPidFile none\n\
             StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\nLogLevel QUIET\n",
            at("host"),
            at("authorized"),
            at("enter")
        );
        fs::write(folder.path().join("config"), config).expect("a file");
        let child = Command::new("/usr/sbin/sshd")
            .args(["-D", "-e", "-f", &at("config")])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("sshd: the package openssh-server");
        let sshd = Self { folder, port, child };
        sshd.wait();
        fs::write(sshd.known_hosts(), sshd.known_line()).expect("a file");
        sshd
    }

    fn wait(&self) {
        for _ in 0..200 {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("sshd does not listen on {}", self.port);
    }

    /// The file of host keys that knows this one.
    pub fn known_hosts(&self) -> PathBuf {
        self.folder.path().join("known hosts")
    }

    /// The line for it.
    pub fn known_line(&self) -> String {
        let key = fs::read_to_string(self.folder.path().join("host.pub")).expect("a key");
        format!("[127.0.0.1]:{} {key}", self.port)
    }

    /// What is said before the script starts.
    pub fn say_first(&self, text: &[u8]) {
        fs::write(self.folder.path().join("banner"), text).expect("a file");
    }

    /// How the host is reached through it.
    pub fn target(&self, name: &str) -> Target {
        let key = self.folder.path().join("user").display().to_string();
        let ssh =
            cluster_spec::Ssh { port: self.port.into(), key: Some(key), ..cluster_spec::Ssh::default() };
        Target { host: name.to_owned(), address: "127.0.0.1".to_owned(), ssh }
    }

    /// Options that know its key.
    pub fn options(&self) -> SshOptions {
        SshOptions::new(self.known_hosts())
    }

    /// Ends every connection that is open, as a broken network does.
    pub fn drop_connections(&self) {
        let pid = self.child.id().to_string();
        let children = Command::new("ps").args(["-o", "pid=", "--ppid", &pid]).output().expect("ps");
        for pid in String::from_utf8_lossy(&children.stdout).split_whitespace() {
            let _ = Command::new("kill").args(["-9", pid]).status();
        }
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.drop_connections();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn keygen(path: &Path) {
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f"])
        .arg(path)
        .status()
        .expect("ssh-keygen");
    assert!(made.success());
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port()
}

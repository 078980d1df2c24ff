//! The arguments of the system's `ssh`.

use std::{ffi::OsString, path::PathBuf};

use cluster_spec::{ResolvedHost, Ssh};

/// A host and how it is reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Name of the host, for messages.
    pub host: String,
    /// Where it is reached.
    pub address: String,
    /// User, port, key and a host in between.
    pub ssh: Ssh,
}

impl Target {
    /// That of a host of a cluster.
    pub fn of(host: &ResolvedHost) -> Self {
        Self { host: host.name.clone(), address: host.address.to_string(), ssh: host.ssh.clone() }
    }
}

/// What holds for all hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshOptions {
    /// The program, found in `PATH` when it is a name.
    pub program: PathBuf,
    /// Host keys of this cluster; the user's own `known_hosts` is read too.
    pub known_hosts: PathBuf,
    /// Whether the key of a host that was never seen is kept in `known_hosts`. One that differs is refused always.
    pub accept_new: bool,
    /// How long a connection may take to be there, in seconds.
    pub connect_seconds: u32,
}

impl SshOptions {
    /// The ordinary ones.
    pub fn new(known_hosts: impl Into<PathBuf>) -> Self {
        Self {
            program: "ssh".into(),
            known_hosts: known_hosts.into(),
            accept_new: false,
            connect_seconds: 10,
        }
    }

    /// The arguments with which `command` is run on a host. Nothing in them is secret.
    pub fn arguments(&self, target: &Target, command: &str) -> Vec<OsString> {
        let mut arguments = self.common(&target.ssh);
        arguments
            .extend(["-T", "-p", &target.ssh.port.to_string(), "-l", &target.ssh.user].map(OsString::from));
        if let Some(bastion) = &target.ssh.bastion {
            arguments.push("-o".into());
            arguments.push(format!("ProxyCommand={}", self.proxy(bastion, &target.ssh)).into());
        }
        arguments.extend(["--", &target.address, command].map(OsString::from));
        arguments
    }

    fn common(&self, ssh: &Ssh) -> Vec<OsString> {
        let known = self.known_hosts.display();
        let settings = [
            "BatchMode=yes".to_owned(),
            format!("StrictHostKeyChecking={}", if self.accept_new { "accept-new" } else { "yes" }),
            format!("UserKnownHostsFile=\"{known}\" ~/.ssh/known_hosts ~/.ssh/known_hosts2"),
            format!("ConnectTimeout={}", self.connect_seconds),
            // A host that is gone is noticed after a quarter of a minute.
            "ServerAliveInterval=5".to_owned(),
            "ServerAliveCountMax=3".to_owned(),
            "LogLevel=ERROR".to_owned(),
            // The stream is ours alone, and ends when we do.
            "ControlPath=none".to_owned(),
            "ClearAllForwardings=yes".to_owned(),
            "ForwardAgent=no".to_owned(),
        ];
        let mut arguments: Vec<OsString> = Vec::new();
        for setting in settings {
            arguments.extend(["-o".into(), setting.into()]);
        }
        if let Some(key) = &ssh.key {
            arguments.extend(["-i".into(), key.into(), "-o".into(), "IdentitiesOnly=yes".into()]);
        }
        arguments
    }

    /// The same ssh with the same rules to the host in between: `-J` would leave them out.
    fn proxy(&self, bastion: &str, ssh: &Ssh) -> String {
        let (user, host) = bastion.split_once('@').unwrap_or((&ssh.user, bastion));
        let (host, port) = host.split_once(':').unwrap_or((host, "22"));
        let mut words = vec![self.program.as_os_str().to_owned()];
        words.extend(self.common(ssh));
        words.extend(["-l", user, "-p", port, "-W", "[%h]:%p", "--", host].map(OsString::from));
        let quoted = words.iter().map(|word| {
            let word = word.to_string_lossy();
            let escaped = if word == "[%h]:%p" { word.into_owned() } else { word.replace('%', "%%") };
            format!("'{}'", escaped.replace('\'', "'\\''"))
        });
        quoted.collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ssh: Ssh, expected: &[&str]) {
        let target = Target { host: "n1".to_owned(), address: "10.0.0.2".to_owned(), ssh };
        let arguments = SshOptions::new("/a b/known_hosts").arguments(&target, "true");
        let text: Vec<String> =
            arguments.iter().map(|word| word.to_string_lossy().into_owned()).skip(20).collect();
        assert_eq!(text, expected);
    }

    #[test]
    fn what_is_given_is_passed_on() {
        check(Ssh::default(), &["-T", "-p", "22", "-l", "root", "--", "10.0.0.2", "true"]);
        let ssh = Ssh { user: "a".to_owned(), port: 2222, key: Some("~/k".to_owned()), bastion: None };
        let expected = [
            "-i",
            "~/k",
            "-o",
            "IdentitiesOnly=yes",
            "-T",
            "-p",
            "2222",
            "-l",
            "a",
            "--",
            "10.0.0.2",
            "true",
        ];
        check(ssh, &expected);
    }

    #[test]
    fn the_host_in_between_is_verified_too() {
        let ssh = Ssh { bastion: Some("me@jump:2200".to_owned()), ..Ssh::default() };
        let target = Target { host: "n1".to_owned(), address: "10.0.0.2".to_owned(), ssh };
        let arguments = SshOptions::new("/k").arguments(&target, "true");
        let proxy =
            arguments.iter().map(|word| word.to_string_lossy()).find(|word| word.contains("ProxyCommand"));
        let proxy = proxy.expect("a proxy");
        assert!(proxy.contains("'StrictHostKeyChecking=yes'"), "{proxy}");
        assert!(proxy.ends_with("'-l' 'me' '-p' '2200' '-W' '[%h]:%p' '--' 'jump'"), "{proxy}");
    }
}

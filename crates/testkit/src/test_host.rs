//! A host for which this machine stands: a root folder with a shell, coreutils and a systemctl that keeps account.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use tempfile::TempDir;

/// All that the script may use. Whatever else it uses is not found, and the tests fail.
const PROGRAMS: [&str; 33] = [
    "sh",
    "base64",
    "cat",
    "chmod",
    "chown",
    "cp",
    "cut",
    "date",
    "dd",
    "df",
    "head",
    "id",
    "ls",
    "mkdir",
    "mv",
    "nproc",
    "printf",
    "readlink",
    "rm",
    "rmdir",
    "sha256sum",
    "sleep",
    "stat",
    "sync",
    "tail",
    "tee",
    "timeout",
    "touch",
    "tr",
    "true",
    "uname",
    "wc",
    "env",
];

/// Units as files: `NAME.enabled`, `NAME.active`; every call is written down. A kubelet that finds a token asks for its
/// credential, and has it at once.
const SYSTEMCTL: &str = r#"#!/bin/sh
units=/run/test-units; mkdir -p $units
echo "$*" >>/var/log/systemctl.log
[ ! -f /etc/fail-systemctl ] || { echo "Job for $2 failed." >&2; exit 1; }
case $1 in
  is-enabled) [ -f "$units/$2.enabled" ] && echo enabled || { echo disabled; exit 1; } ;;
  is-active) [ -f "$units/$2.active" ] && echo active || { echo inactive; exit 3; } ;;
  enable) : >"$units/$2.enabled" ;;
  disable) rm -f "$units/$2.enabled" ;;
  stop) rm -f "$units/$2.active" ;;
  start|restart) : >"$units/$2.active"
    [ "$2" = kubelet.service ] && [ -f /etc/kubernetes/bootstrap-kubelet.conf ] && echo joined >/etc/kubernetes/kubelet.conf ;;
esac
exit 0
"#;

/// A host of which only the root folder is real.
pub struct TestHost {
    folder: TempDir,
}

fn template() -> &'static Path {
    static TEMPLATE: OnceLock<TempDir> = OnceLock::new();
    let made = TEMPLATE.get_or_init(|| {
        let folder = TempDir::new().expect("a folder");
        let mut libraries = BTreeSet::new();
        fs::create_dir_all(folder.path().join("usr/bin")).expect("a folder");
        for program in PROGRAMS {
            let found =
                ["/usr/bin", "/bin"].map(|at| Path::new(at).join(program)).into_iter().find(|at| at.exists());
            let found = found.unwrap_or_else(|| panic!("this machine has no {program}"));
            copy(&found, &folder.path().join("usr/bin").join(program));
            let linked = Command::new("ldd").arg(&found).output().expect("ldd");
            let text = String::from_utf8_lossy(&linked.stdout).into_owned();
            libraries.extend(text.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from));
        }
        for library in libraries {
            let to = folder.path().join(library.strip_prefix("/").expect("absolute"));
            fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
            copy(&library, &to);
        }
        folder
    });
    made.path()
}

fn copy(from: &Path, to: &Path) {
    fs::copy(from, to).unwrap_or_else(|error| panic!("{} -> {}: {error}", from.display(), to.display()));
}

impl Default for TestHost {
    fn default() -> Self {
        Self::new()
    }
}

impl TestHost {
    /// A host on which nothing lies.
    ///
    /// # Panics
    /// When this is not root, or a program is missing.
    pub fn new() -> Self {
        let id = Command::new("id").arg("-u").output().expect("id");
        assert_eq!(
            id.stdout.trim_ascii(),
            b"0",
            "a root folder is entered by root alone: run these tests as root"
        );
        let host = Self { folder: TempDir::new().expect("a folder") };
        // Links, not copies: a host is there at once.
        let copied = Command::new("cp")
            .args(["-al", &format!("{}/.", template().display())])
            .arg(host.root())
            .status()
            .expect("cp");
        assert!(copied.success());
        for folder in ["etc", "run", "var/log", "var/lib", "usr/local/bin", "tmp", "dev"] {
            fs::create_dir_all(host.path(folder)).expect("a folder");
        }
        for (link, to) in [("bin", "usr/bin"), ("sbin", "usr/bin")] {
            symlink(to, host.path(link)).expect("a link");
        }
        host.write("/dev/null", "");
        host.write("/etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n");
        host.write("/etc/resolv.conf", "nameserver 192.0.2.53\n");
        host.program("/usr/local/bin/systemctl", SYSTEMCTL);
        fs::set_permissions(host.root(), fs::Permissions::from_mode(0o755)).expect("a mode");
        host
    }

    /// Its root folder.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// A place on it.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root().join(path.trim_start_matches('/'))
    }

    /// Writes a file, 0644, and the folders it needs, 0755.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let at = self.path(path);
        fs::create_dir_all(at.parent().expect("a folder")).expect("folders");
        fs::write(&at, text).unwrap_or_else(|error| panic!("{}: {error}", at.display()));
        fs::set_permissions(&at, fs::Permissions::from_mode(0o644)).expect("a mode");
    }

    /// Writes a program.
    pub fn program(&self, path: &str, text: &str) {
        self.write(path, text);
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    /// Reads a file.
    pub fn read(&self, path: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}")))
            .into_owned()
    }

    /// Sets a mode.
    pub fn mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(mode)).expect("a mode");
    }

    /// What systemctl was asked to change since it was last looked at.
    pub fn units_changed(&self) -> Vec<String> {
        let log = fs::read_to_string(self.path("/var/log/systemctl.log")).unwrap_or_default();
        let _ = fs::remove_file(self.path("/var/log/systemctl.log"));
        log.lines().filter(|line| !line.starts_with("is-")).map(str::to_owned).collect()
    }

    /// Every file and folder that is not of the host itself, with mode and contents.
    pub fn everything(&self) -> Vec<String> {
        let mut found = Vec::new();
        walk(self.root(), self.root(), &mut found);
        found.sort();
        found
    }
}

fn walk(root: &Path, at: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(at).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = format!("/{}", path.strip_prefix(root).expect("below").display());
        let own =
            ["/usr", "/lib", "/lib64", "/bin", "/sbin", "/dev", "/run/test-units", "/var/log/systemctl.log"];
        if own.iter().any(|own| name == *own) {
            continue;
        }
        let meta = fs::symlink_metadata(&path).expect("there");
        let mode = meta.permissions().mode() & 0o7777;
        if meta.is_dir() {
            found.push(format!("{name}/ {mode:o}"));
            walk(root, &path, found);
        } else {
            let bytes = fs::read(&path).unwrap_or_default();
            found.push(format!("{name} {mode:o} {}", String::from_utf8_lossy(&bytes)));
        }
    }
}

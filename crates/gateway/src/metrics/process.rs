//! What the operating system tells of this process, under the names that Prometheus' libraries use.

use std::{
    fs,
    sync::LazyLock,
    time::{SystemTime, UNIX_EPOCH},
};

use super::exposition::Exposition;

/// Ticks per second in `/proc`; Linux shows 100 to programs, whatever its own clock.
const TICKS: f64 = 100.0;

/// When the first metric was asked for or the gateway made, whichever came first.
static STARTED: LazyLock<SystemTime> = LazyLock::new(SystemTime::now);

/// Takes down when the process started.
pub(super) fn note_start() {
    LazyLock::force(&STARTED);
}

/// What cannot be read is left out.
pub(super) fn render(text: &mut Exposition) {
    if let Some(seconds) = cpu_seconds(&read("/proc/self/stat")) {
        let help = "Total user and system CPU time spent in seconds.";
        text.counter("process_cpu_seconds_total", help, seconds);
    }
    let status = read("/proc/self/status");
    if let Some(kilobytes) = field(&status, "VmRSS:") {
        text.gauge("process_resident_memory_bytes", "Resident memory size in bytes.", kilobytes * 1024);
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        text.gauge("process_open_fds", "Number of open file descriptors.", open.count());
    }
    if let Ok(since) = STARTED.duration_since(UNIX_EPOCH) {
        let help = "Start time of the process since unix epoch in seconds.";
        text.gauge("process_start_time_seconds", help, since.as_secs());
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// User and system time: the 14th and 15th field, counted behind the name, which may hold anything.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let (user, system): (f64, f64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some((user + system) / TICKS)
}

fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_is_read_as_documented() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 4 0 100 1000 10";
        assert_eq!(cpu_seconds(stat), Some(3.0));
        assert_eq!(cpu_seconds("nonsense"), None);
        assert_eq!(field("Name:\tx\nVmRSS:\t  2048 kB\n", "VmRSS:"), Some(2048));
        assert_eq!(field("", "VmRSS:"), None);
    }

    #[test]
    fn this_process_has_memory_and_files() {
        let mut text = Exposition::default();
        render(&mut text);
        let text = text.finish();
        for name in ["process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds"] {
            assert!(text.contains(&format!("\n{name} ")), "{name} in {text}");
        }
    }
}

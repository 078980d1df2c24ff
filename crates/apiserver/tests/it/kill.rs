//! kill -9 at any point: a process that writes is killed, and what it has acknowledged is there.

use std::{
    env,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use apiserver::storage::{Embedded, Options, Revision, Store as _, Write};

use crate::support::{all, block_on, events, key, put};

const FILE: &str = "TRELLIS_TEST_STORE";
/// Names that the writers use.
const NAMES: u32 = 16;

/// What is killed: eight writers that say what was acknowledged to them.
fn write_for_ever(file: &Path) {
    block_on(async {
        let store = std::sync::Arc::new(Embedded::open(file, Options::default()).unwrap());
        let writers = (0..8u32).map(|writer| {
            let store = std::sync::Arc::clone(&store);
            tokio::spawn(async move {
                for number in 0u32.. {
                    let name = format!("w{writer}-{}", number % NAMES);
                    let revision = if number % 7 == 6 {
                        let Some(item) = store.get(&key(&name)).await.unwrap().content else { continue };
                        store.write(Write::delete(key(&name), item.revision)).await.unwrap()
                    } else {
                        put(&store, &name, &number.to_string()).await.unwrap()
                    };
                    say(&format!("acknowledged {revision} {name} ."));
                    if number % 50 == 49 && writer == 0 && revision.0 > 2000 {
                        store.compact(Revision(revision.0 - 2000)).await.unwrap();
                    }
                }
            })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
    });
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
    out.flush().unwrap();
}

#[test]
fn nothing_acknowledged_is_lost() {
    // The process that is killed is this test again.
    if let Some(file) = env::var_os(FILE) {
        return write_for_ever(Path::new(&file));
    }
    let kills = if env::var_os("TRELLIS_FULL").is_some() { 500 } else { 20 };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.db");
    let mut before = Revision(0);
    for kill in 0..kills {
        let acknowledged = write_until_killed(&file, 10 + kill * 37 % 150);
        let store = Embedded::open(&file, Options::default()).unwrap();
        block_on(async {
            let current = store.revision().await.unwrap();
            let last = acknowledged.iter().map(|(revision, _)| *revision).max().unwrap_or(before);
            assert!(current >= last, "kill {kill}: at {current}, acknowledged up to {last}");
            let from = match store.watch(&all(), before).await {
                Ok(_) => before,
                // The writer has forgotten what was long before.
                Err(apiserver::storage::Error::Compacted { oldest, .. }) => oldest,
                Err(other) => panic!("{other}"),
            };
            let seen = events(&store, from).await;
            assert_eq!(seen.len() as u64, current.0 - from.0, "kill {kill}: a gap");
            for (revision, name) in acknowledged.iter().filter(|(revision, _)| *revision > from) {
                let event = &seen[(revision.0 - from.0 - 1) as usize];
                assert_eq!((event.revision, event.key.name()), (*revision, name.as_str()), "kill {kill}");
            }
            for event in latest(&seen) {
                let item = store.get(&event.key).await.unwrap().content;
                let expected = event.value.clone().map(|value| (event.revision, value));
                assert_eq!(item.map(|item| (item.revision, item.value)), expected, "kill {kill}");
            }
            before = current;
        });
    }
    assert!(before > Revision(kills), "hardly anything was written: {before}");
}

/// The last event of each key.
fn latest(events: &[apiserver::storage::Event]) -> Vec<&apiserver::storage::Event> {
    let mut latest = std::collections::BTreeMap::new();
    for event in events {
        latest.insert(&event.key, event);
    }
    latest.into_values().collect()
}

/// Runs the writer, and kills it this long after its first word.
fn write_until_killed(file: &Path, milliseconds: u64) -> Vec<(Revision, String)> {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["kill::nothing_acknowledged_is_lost", "--exact", "--nocapture"])
        .env(FILE, file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut acknowledged = Vec::new();
    let mut note = |line: &str| {
        // The test harness writes the name of the test in front of the first line.
        let Some(at) = line.find("acknowledged ") else { return false };
        let mut words = line[at..].split(' ').skip(1);
        // The last line may be cut: the dot shows that it is whole.
        let (Some(revision), Some(name), Some(".")) = (words.next(), words.next(), words.next()) else {
            return false;
        };
        let Ok(revision) = revision.parse() else { return false };
        acknowledged.push((Revision(revision), name.to_owned()));
        true
    };
    for line in lines.by_ref() {
        if note(&line.unwrap()) {
            break;
        }
    }
    let reader = std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<_>>());
    std::thread::sleep(Duration::from_millis(milliseconds));
    child.kill().unwrap();
    child.wait().unwrap();
    for line in reader.join().unwrap() {
        note(&line);
    }
    acknowledged
}

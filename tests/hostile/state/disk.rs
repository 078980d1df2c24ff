//! No room below the state folder: on a small file system of its own, where this machine lets us mount
//! one.

use std::{path::Path, process::Command, sync::Arc, time::Duration};

use testkit::{FakeServer, Serving, TempPki};

use super::{registered, spec};
use crate::{
    door::{Starting, get_until},
    faults::things,
};

/// A file system of this size, gone with the value.
struct Small {
    folder: tempfile::TempDir,
}

impl Small {
    fn mount(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let options = format!("size={size},mode=0700");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder.path()).status();
        mounted.is_ok_and(|status| status.success()).then_some(Self { folder })
    }

    fn state(&self) -> std::path::PathBuf {
        self.folder.path().join("state")
    }

    /// Takes what room there is.
    fn fill(&self) {
        let mut filler = fs_err::File::create(self.filler()).unwrap();
        while std::io::Write::write_all(&mut filler, &[0; 1024]).is_ok() {}
    }

    fn free(&self) {
        fs_err::remove_file(self.filler()).unwrap();
    }

    fn filler(&self) -> std::path::PathBuf {
        self.folder.path().join("filler")
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.folder.path()).status();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_what_it_cannot_keep_and_loses_nothing() {
    let Some(disk) = Small::mount("4m") else {
        println!("left out: no file system can be mounted here");
        return;
    };
    let pki = Arc::new(TempPki::new());
    let start = Starting::new(&pki, &disk.state());
    let door = start.start().await;
    let server =
        FakeServer::builder().tls(&pki, Serving::Good).group(things("wardle.example.com")).start().await;
    door.register_server("wardle", &server).await;
    door.condition("wardle", "Available", "True", "Passed").await;
    for number in 0..5 {
        assert_eq!(door.register(&format!("before-{number}"), &spec(1000 + number)).await.status, 201);
    }
    disk.fill();
    let mut refused = 0;
    for number in 0..5 {
        let reply = door.register(&format!("during-{number}"), &spec(2000 + number)).await;
        if reply.status == 201 {
            // Freed room of a file that was replaced.
            continue;
        }
        refused += 1;
        let message = reply.json()["message"].as_str().unwrap_or_default().to_owned();
        assert_eq!(reply.status, 500, "{message}");
        let words = ["registrations/apiservers", "No space left on device", "free some space"];
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
    assert!(refused > 0, "the disk is not full");
    // A server may appear and change while nothing can be written.
    server.set_groups([things("wardle.example.com"), things("later.example.com")]);
    get_until(&mut door.alice().await, "/apis/later.example.com/v1/things", 200).await;
    let there = registered(&door).await;
    drop(door);
    let door = start.start().await;
    assert_eq!(there.keys().collect::<Vec<_>>(), registered(&door).await.keys().collect::<Vec<_>>());
    get_until(&mut door.alice().await, "/apis/wardle.example.com/v1/things", 200).await;
    disk.free();
    assert_eq!(door.register("after", &spec(3000)).await.status, 201);
    drop(door);
    assert!(registered(&start.start().await).await.contains_key("after"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_door_that_finds_no_room_at_its_start_says_so() {
    let Some(disk) = Small::mount("128k") else {
        println!("left out: no file system can be mounted here");
        return;
    };
    let pki = Arc::new(TempPki::new());
    disk.fill();
    let log = ends_with_a_sentence(&Starting::self_made(&pki, &disk.state())).await;
    assert!(log.contains("No space left on device"), "{log}");
    assert!(log.contains(&*disk.folder.path().to_string_lossy()), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_folder_that_cannot_be_one_is_named() {
    let pki = Arc::new(TempPki::new());
    for place in ["/proc/trellis", "/dev/null/trellis"] {
        let log = ends_with_a_sentence(&Starting::self_made(&pki, Path::new(place))).await;
        assert!(log.contains(place), "{log}");
    }
}

/// The log of a door that does not come up.
pub(super) async fn ends_with_a_sentence(start: &Starting) -> String {
    let (mut process, _) = start.spawn();
    let (status, log) = tokio::task::spawn_blocking(move || {
        let status = process.wait(Duration::from_secs(60));
        (status, process.log())
    })
    .await
    .unwrap();
    let code = status.and_then(|status| status.code());
    assert!(code.is_some_and(|code| code != 0 && code != 101), "{code:?}: {log}");
    assert!(!log.contains("panicked"), "{log}");
    log
}

use std::{path::Path, time::Duration};

use pki::{Contents, Error, Reloading};

const PATIENCE: Duration = Duration::from_secs(30);
/// So long that only notifications can be the reason of a reload.
const NEVER: Duration = Duration::from_secs(3600);

fn make(contents: &Contents) -> Result<String, Error> {
    let text = String::from_utf8_lossy(contents.get(0)).into_owned();
    // Empty is what a file is between being truncated and being written.
    match text.is_empty() || text.starts_with("bad") {
        true => Err(Error::Pem { object: "the file".to_owned(), problem: text }),
        false => Ok(text + &String::from_utf8_lossy(contents.get(1))),
    }
}

async fn becomes(reloading: &Reloading<String>, wanted: &str) {
    let mut values = reloading.subscribe();
    let waited = tokio::time::timeout(PATIENCE, values.wait_for(|value| ***value == *wanted)).await;
    assert!(waited.is_ok(), "never became {wanted:?}, is {:?}", reloading.current());
}

async fn problem_is(reloading: &Reloading<String>, wanted: Option<&str>) {
    let mut problems = reloading.problem();
    let told = problems.wait_for(|problem| match (problem, wanted) {
        (Some(problem), Some(wanted)) => problem.contains(wanted),
        (problem, wanted) => problem.is_none() && wanted.is_none(),
    });
    assert!(tokio::time::timeout(PATIENCE, told).await.is_ok(), "never {wanted:?}");
}

async fn follows_changes(dir: &Path, poll: Duration) {
    let (one, two) = (dir.join("one"), dir.join("two"));
    std::fs::write(&one, "a").unwrap();
    std::fs::write(&two, "1").unwrap();
    let reloading = Reloading::start_polling(vec![one.clone(), two.clone()], poll, make).unwrap();
    assert_eq!(*reloading.current(), "a1");
    std::fs::write(&two, "2").unwrap();
    becomes(&reloading, "a2").await;
    std::fs::write(&one, "bad b").unwrap();
    problem_is(&reloading, Some("bad b")).await;
    assert_eq!(*reloading.current(), "a2", "the last good one stays");
    pki::write_private(&one, b"c").unwrap();
    becomes(&reloading, "c2").await;
    problem_is(&reloading, None).await;
    std::fs::rename(&one, dir.join("gone")).unwrap();
    problem_is(&reloading, Some("cannot read")).await;
    assert_eq!(*reloading.current(), "c2");
    std::fs::rename(dir.join("gone"), &one).unwrap();
    problem_is(&reloading, None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn by_notification() {
    let dir = tempfile::tempdir().unwrap();
    follows_changes(dir.path(), NEVER).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn by_looking() {
    let dir = tempfile::tempdir().unwrap();
    follows_changes(dir.path(), Duration::from_millis(20)).await;
}

/// Kubernetes swaps the symlink `..data` to a new folder; the file's own entry never changes.
#[tokio::test(flavor = "multi_thread")]
async fn through_the_symlinks_of_a_secret_mount() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    for (version, content) in [("..1", "old"), ("..2", "new")] {
        std::fs::create_dir(dir.path().join(version)).unwrap();
        std::fs::write(dir.path().join(version).join("tls.crt"), content).unwrap();
    }
    symlink("..1", dir.path().join("..data")).unwrap();
    symlink("..data/tls.crt", dir.path().join("tls.crt")).unwrap();
    let reloading = Reloading::start_polling(vec![dir.path().join("tls.crt")], NEVER, make).unwrap();
    assert_eq!(*reloading.current(), "old");
    symlink("..2", dir.path().join("..data_tmp")).unwrap();
    std::fs::rename(dir.path().join("..data_tmp"), dir.path().join("..data")).unwrap();
    becomes(&reloading, "new").await;
}

#[tokio::test]
async fn what_is_bad_from_the_start_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("one");
    let start = || Reloading::start(vec![file.clone()], make).unwrap_err().to_string();
    assert!(start().contains("cannot read") && start().contains("one"));
    std::fs::write(&file, "bad").unwrap();
    assert_eq!(start(), "the file: bad");
}

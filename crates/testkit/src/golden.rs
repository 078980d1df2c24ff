//! Values kept in files beside the tests.

use std::path::Path;

/// Compares `actual` with the file; with `UPDATE_GOLDEN=1` in the environment writes it instead.
///
/// # Panics
/// When they differ, naming the first line that does, or the file is missing.
#[track_caller]
pub fn golden(path: impl AsRef<Path>, actual: &str) {
    let path = path.as_ref();
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        if let Some(dir) = path.parent() {
            fs_err::create_dir_all(dir).expect("folder of the golden file");
        }
        fs_err::write(path, actual).expect("golden file");
        return;
    }
    let expected = fs_err::read_to_string(path)
        .unwrap_or_else(|error| panic!("{error}; UPDATE_GOLDEN=1 makes it, then read it"));
    if expected == actual {
        return;
    }
    let differs = expected.lines().zip(actual.lines()).position(|(a, b)| a != b);
    let line = differs.unwrap_or_else(|| expected.lines().count().min(actual.lines().count()));
    panic!(
        "{}, line {}:\n  expected: {}\n  actual:   {}\nUPDATE_GOLDEN=1 accepts the new one",
        path.display(),
        line + 1,
        expected.lines().nth(line).unwrap_or("(end)"),
        actual.lines().nth(line).unwrap_or("(end)"),
    );
}

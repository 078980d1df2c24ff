//! Counting, and the closing line.

use std::process::ExitCode;

/// What one group of tests came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// Tests that passed.
    pub(crate) passed: usize,
    /// Tests that failed.
    pub(crate) failed: usize,
    /// Tests that were not run.
    pub(crate) skipped: usize,
    /// Why: `test: reason`, where the tests said so.
    pub(crate) reasons: Vec<String>,
    /// Measured values that the tests printed.
    pub(crate) figures: Vec<(String, String)>,
}

impl Count {
    /// Reads the output of test binaries: `test result:` lines, `skipped: NAME: REASON` and
    /// `figure: NAME = VALUE` lines. None when no test result is in it.
    pub(crate) fn parse(output: &str) -> Option<Self> {
        let mut count = Self::default();
        let mut any = false;
        for line in output.lines() {
            if let Some(result) = line.strip_prefix("test result: ") {
                any = true;
                count.passed += number(result, "passed");
                count.failed += number(result, "failed");
                count.skipped += number(result, "ignored");
            } else if let Some(reason) = line.strip_prefix("skipped: ") {
                count.reasons.push(reason.to_owned());
            } else if let Some((name, value)) =
                line.strip_prefix("figure: ").and_then(|l| l.split_once(" = "))
            {
                count.figures.push((name.to_owned(), value.to_owned()));
            }
        }
        any.then_some(count)
    }
}

/// The number that stands before `word`.
fn number(result: &str, word: &str) -> usize {
    result
        .split([';', '.'])
        .filter_map(|part| part.trim().strip_suffix(word))
        .find_map(|number| number.trim().parse().ok())
        .unwrap_or(0)
}

/// Everything so far.
#[derive(Default)]
pub(crate) struct Summary {
    passed: usize,
    failed: usize,
    skipped: usize,
    reasons: Vec<String>,
    failures: Vec<String>,
}

impl Summary {
    /// One thing that is as it should be.
    pub(crate) fn pass(&mut self) {
        self.passed += 1;
    }

    /// One thing that is not.
    pub(crate) fn fail(&mut self, name: &str, detail: &str) {
        println!("FAILED {name}\n{detail}");
        self.failed += 1;
        self.failures.push(name.to_owned());
    }

    /// One thing that could not be tried.
    pub(crate) fn skip(&mut self, name: &str, reason: &str) {
        self.skipped += 1;
        self.reasons.push(format!("{name}: {reason}"));
    }

    /// A group of tests, and how long it took.
    pub(crate) fn add(&mut self, name: &str, count: &Count, seconds: f64) {
        println!(
            "{name:40} {:5} passed {:3} failed {:3} skipped {seconds:7.1} s",
            count.passed, count.failed, count.skipped
        );
        self.passed += count.passed;
        self.failed += count.failed;
        self.skipped += count.skipped;
        self.reasons.extend(count.reasons.iter().map(|reason| format!("{name}: {reason}")));
        let unexplained = count.skipped.saturating_sub(count.reasons.len());
        if unexplained > 0 {
            self.reasons.push(format!("{name}: {unexplained} long tests, run by `cargo xtask test --full`"));
        }
        if count.failed > 0 {
            self.failures.push(name.to_owned());
        }
    }

    /// Says what was left out and what failed, then the closing line.
    pub(crate) fn close(self) -> ExitCode {
        for reason in &self.reasons {
            println!("skipped {reason}");
        }
        for failure in &self.failures {
            println!("failed  {failure}");
        }
        let skipped = if self.skipped > 0 { format!(", {} skipped", self.skipped) } else { String::new() };
        println!("{} passed, {} failed{skipped}", self.passed, self.failed);
        if self.failed == 0 && self.passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

#[cfg(test)]
mod tests {
    use super::Count;

    #[test]
    fn results_skips_and_figures_are_read() {
        let output = "\
running 3 tests
test a ... ok
skipped: kubectl 1.34.4: not built
figure: attempts = 10000
test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.01s

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
";
        let count = Count::parse(output).expect("results");
        assert_eq!((count.passed, count.failed, count.skipped), (13, 2, 1));
        assert_eq!(count.reasons, ["kubectl 1.34.4: not built"]);
        assert_eq!(count.figures, [("attempts".to_owned(), "10000".to_owned())]);
    }

    #[test]
    fn no_result_is_not_nothing_failed() {
        assert_eq!(Count::parse("Segmentation fault"), None);
    }
}

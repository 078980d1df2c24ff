//! What comes from a host. It may be anything: all of it is bounded.

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// The first line of the script.
pub(super) const GREETING: &str = "trellis-host 1";
/// What a shell may say before the script does, in bytes.
pub(super) const BANNER_LIMIT: usize = 64 << 10;
/// Longest line, in bytes.
const LINE_LIMIT: usize = 64 << 10;
/// Largest answer, in bytes.
const ANSWER_LIMIT: usize = 4 << 20;

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It was done; what there is to say.
    Done(Vec<String>),
    /// It was not done; why.
    Refused(String),
    /// The stream ended.
    Ended,
}

/// The stream of answers.
pub(super) struct Answers<R> {
    from: R,
}

impl<R: AsyncBufRead + Unpin> Answers<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from }
    }

    /// Skips what the shell says before the script does. False when the stream ends before.
    pub(super) async fn greeting(&mut self) -> Result<bool, String> {
        let mut skipped = 0;
        while let Some(line) = self.line().await? {
            if line == GREETING {
                return Ok(true);
            }
            skipped += line.len() + 1;
            if skipped > BANNER_LIMIT {
                return Err(format!("{BANNER_LIMIT} bytes came, and no greeting of the script"));
            }
        }
        Ok(false)
    }

    /// The next answer.
    pub(super) async fn next(&mut self) -> Result<Answer, String> {
        let mut lines = Vec::new();
        let mut size = 0;
        while let Some(line) = self.line().await? {
            match line.strip_prefix(". ") {
                Some("ok") => return Ok(Answer::Done(lines)),
                Some(end) => {
                    let why = end.strip_prefix("fail").ok_or_else(|| excerpt(&line))?;
                    let why = why.trim();
                    let why = if why.is_empty() { "it does not say why" } else { why };
                    return Ok(Answer::Refused(why.to_owned()));
                }
                None => {}
            }
            size += line.len() + 1;
            if size > ANSWER_LIMIT {
                return Err(format!("an answer of more than {ANSWER_LIMIT} bytes"));
            }
            lines.push(line);
        }
        Ok(Answer::Ended)
    }

    /// A line without its end; none when the stream ends, also in the middle of a line.
    async fn line(&mut self) -> Result<Option<String>, String> {
        let mut line = Vec::new();
        loop {
            // A stream that breaks ends.
            let Ok(found) = self.from.fill_buf().await else { return Ok(None) };
            if found.is_empty() {
                return Ok(None);
            }
            let end = found.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(found.len());
            if line.len() + taken > LINE_LIMIT {
                return Err(format!("a line of more than {LINE_LIMIT} bytes"));
            }
            line.extend_from_slice(&found[..taken]);
            self.from.consume(end.map_or(taken, |end| end + 1));
            if end.is_some() {
                return Ok(Some(super::printable(&line)));
            }
        }
    }
}

fn excerpt(line: &str) -> String {
    format!("{:?}", line.chars().take(80).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn check(stream: &[u8], expected: Result<Vec<Answer>, &str>) {
        let mut answers = Answers::new(stream);
        let mut found = Vec::new();
        let outcome = loop {
            match answers.next().await {
                Ok(Answer::Ended) => break Ok(found),
                Ok(answer) => found.push(answer),
                Err(problem) => break Err(problem),
            }
        };
        match (outcome, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn answers_end_by_a_line_of_their_own() {
        let done = Answer::Done(vec!["a b".to_owned(), String::new()]);
        let refused = Answer::Refused("no room".to_owned());
        check(b"a b\n\n. ok\n. fail no room\n", Ok(vec![done, refused])).await;
        check(b". fail\n", Ok(vec![Answer::Refused("it does not say why".to_owned())])).await;
        check(b"half of a", Ok(vec![])).await;
        check(b"a\n. no\n", Err("\". no\"")).await;
        check(b"\x1b[2J\xff\n. ok\n", Ok(vec![Answer::Done(vec![" [2J\u{fffd}".to_owned()])])).await;
    }

    #[tokio::test]
    async fn nothing_is_taken_without_bound() {
        check(&vec![b'x'; LINE_LIMIT + 1], Err("a line of more than")).await;
        check(&b"xxxxxxx\n".repeat(ANSWER_LIMIT / 8 + 1), Err("an answer of more than")).await;
        let banner = b"welcome\n".repeat(BANNER_LIMIT / 8 + 1);
        assert!(Answers::new(banner.as_slice()).greeting().await.is_err());
        assert_eq!(Answers::new(b"welcome\ntrellis-host 1\n".as_slice()).greeting().await, Ok(true));
        assert_eq!(Answers::new(b"welcome\n".as_slice()).greeting().await, Ok(false));
    }
}

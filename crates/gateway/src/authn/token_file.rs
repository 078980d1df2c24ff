//! The static token file: `token,user,uid,"group1,group2"`, one caller a line.

use std::{collections::HashMap, sync::Arc};

use kube_wire::identity::{IdentityError, UserInfo};
use subtle::ConstantTimeEq;

use super::{Key, token};
use crate::identity::Identity;

/// Static bearer tokens. The tokens themselves are not kept, only their SHA-256.
#[derive(Default)]
pub struct TokenFile {
    callers: HashMap<Key, Arc<Identity>>,
}

impl std::fmt::Debug for TokenFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenFile").field("tokens", &self.callers.len()).finish()
    }
}

/// A line that cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TokenFileError {
    /// The file is not UTF-8.
    #[error("line {line}: not UTF-8")]
    NotText {
        /// Counted from 1.
        line: usize,
    },
    /// A quoted field does not end, or is followed by something other than a comma.
    #[error("line {line}: a quoted field is not closed, or something follows its closing quote")]
    Quote {
        /// Counted from 1.
        line: usize,
    },
    /// Fewer than three fields, or an empty token.
    #[error("line {line}: expected token,user,uid and optionally \"group1,group2\"")]
    Fields {
        /// Counted from 1.
        line: usize,
    },
    /// Another line has the same token.
    #[error("line {line}: the same token stands on an earlier line")]
    Duplicate {
        /// Counted from 1.
        line: usize,
    },
    /// The user cannot be carried to a server.
    #[error("line {line}: {source}")]
    User {
        /// Counted from 1.
        line: usize,
        /// Why.
        source: IdentityError,
    },
}

impl TokenFile {
    /// Reads a token file. Empty lines and lines that begin with `#` are skipped.
    ///
    /// # Errors
    /// Names the first line that cannot be used; never the token.
    pub fn parse(file: &[u8]) -> Result<Self, TokenFileError> {
        let mut callers = HashMap::new();
        for (index, text) in file.split(|byte| *byte == b'\n').enumerate() {
            let line = index + 1;
            let text = std::str::from_utf8(text).map_err(|_| TokenFileError::NotText { line })?.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let (token, user) = caller(text, line)?;
            let identity =
                Identity::authenticated(user).map_err(|source| TokenFileError::User { line, source })?;
            if callers.insert(token::digest(token.as_bytes()), Arc::new(identity)).is_some() {
                return Err(TokenFileError::Duplicate { line });
            }
        }
        Ok(Self { callers })
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.callers.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.callers.is_empty()
    }

    /// Whose token this is. Time does not tell how much of a token was right: what is looked up and
    /// compared is its SHA-256, and that in constant time.
    pub(super) fn find(&self, token: &[u8]) -> Option<Arc<Identity>> {
        if self.callers.is_empty() {
            return None;
        }
        let digest = token::digest(token);
        let (key, identity) = self.callers.get_key_value(&digest)?;
        bool::from(key.ct_eq(&digest)).then(|| identity.clone())
    }
}

fn caller(text: &str, line: usize) -> Result<(String, UserInfo), TokenFileError> {
    let mut fields = fields(text).ok_or(TokenFileError::Quote { line })?.into_iter();
    let (Some(token), Some(name), Some(uid)) = (fields.next(), fields.next(), fields.next()) else {
        return Err(TokenFileError::Fields { line });
    };
    if token.is_empty() {
        return Err(TokenFileError::Fields { line });
    }
    let groups = fields.next().unwrap_or_default();
    let groups = groups.split(',').map(str::trim).filter(|group| !group.is_empty());
    let mut user = UserInfo::new(name, groups);
    user.uid = uid;
    Ok((token, user))
}

/// The comma-separated fields of a line; a quoted field may hold commas, and quotes written twice.
fn fields(line: &str) -> Option<Vec<String>> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let (field, after) = field(rest.trim_start())?;
        fields.push(field);
        match after {
            Some(after) => rest = after,
            None => return Some(fields),
        }
    }
}

/// One field, and what follows the comma after it.
fn field(text: &str) -> Option<(String, Option<&str>)> {
    let Some(mut rest) = text.strip_prefix('"') else {
        return Some(match text.split_once(',') {
            Some((field, after)) => (field.trim().to_owned(), Some(after)),
            None => (text.trim().to_owned(), None),
        });
    };
    let mut field = String::new();
    loop {
        let (part, after) = rest.split_once('"')?;
        field.push_str(part);
        match after.strip_prefix('"') {
            Some(quoted) => {
                field.push('"');
                rest = quoted;
            }
            None if after.trim().is_empty() => return Some((field, None)),
            None => return after.trim_start().strip_prefix(',').map(|after| (field, Some(after))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `token -> name|uid|groups` of the one token asked for.
    fn check(file: &str, token: &str, expected: Result<Option<&str>, TokenFileError>) {
        let found = TokenFile::parse(file.as_bytes()).map(|tokens| {
            tokens.find(token.as_bytes()).map(|identity| {
                format!("{}|{}|{}", identity.user.name, identity.user.uid, identity.user.groups.join(";"))
            })
        });
        assert_eq!(found.as_ref().map(Option::as_deref), expected.as_ref().copied(), "{file}");
    }

    #[test]
    fn lines_are_read_as_upstream_reads_them() {
        check("t1,ann,u1,\"dev,ops\"\n", "t1", Ok(Some("ann|u1|dev;ops;system:authenticated")));
        check("t1,ann,u1\r\nt2,bob,u2,dev", "t2", Ok(Some("bob|u2|dev;system:authenticated")));
        check("# who\n\n t1 , ann ,u1", "t1", Ok(Some("ann|u1|system:authenticated")));
        check("t1,\"a \"\"b\"\"\",u1", "t1", Ok(Some("a \"b\"|u1|system:authenticated")));
        check("t1,ann,,\"system:masters\"", "t1", Ok(Some("ann||system:masters;system:authenticated")));
        check("t1,ann,u1", "t", Ok(None));
        check("t1,ann,u1", "t1 ", Ok(None));
        check("", "t1", Ok(None));
    }

    #[test]
    fn a_bad_line_is_named() {
        check("t1,ann", "t1", Err(TokenFileError::Fields { line: 1 }));
        check("t1,ann,u1\n,bob,u2", "t1", Err(TokenFileError::Fields { line: 2 }));
        check("t1,\"ann,u1", "t1", Err(TokenFileError::Quote { line: 1 }));
        check("t1,\"ann\"x,u1", "t1", Err(TokenFileError::Quote { line: 1 }));
        check("t1,ann,u1\n\nt1,bob,u2", "t1", Err(TokenFileError::Duplicate { line: 3 }));
        check("t1,,u1", "t1", Err(TokenFileError::User { line: 1, source: IdentityError::NoName }));
    }

    #[test]
    fn errors_and_debug_output_hold_no_token() {
        let tokens = TokenFile::parse(b"s3cr3t,ann,u1").unwrap();
        assert_eq!(format!("{tokens:?}"), "TokenFile { tokens: 1 }");
        let error = TokenFile::parse(b"s3cr3t,\"ann").unwrap_err();
        assert!(!error.to_string().contains("s3cr3t"));
    }
}

//! Names of stored things: `configmaps/default/settings`, `flunders.wardle.example.com/default/a`,
//! `namespaces/default`.

use std::fmt;

/// Longest key in bytes.
const MAX_LEN: usize = 1024;

/// A resource, a namespace where the resource has them, and a name.
///
/// Keys are ordered by their bytes, as in etcd; this is the order in which a list shows objects.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Box<str>);

/// All keys of a resource, or those in one namespace.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix(Box<str>);

/// A name that cannot be part of a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{part:?} cannot be part of a storage key: {reason}")]
pub struct InvalidKey {
    /// The name, cut to a readable length.
    pub part: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl Key {
    /// The key of an object. `resource` is the plural name, followed by a dot and the group unless it is
    /// the core group, for example `configmaps` or `flunders.wardle.example.com`.
    ///
    /// # Errors
    /// When a part is empty, `.` or `..`, contains `/` or a control character, or all is too long.
    pub fn new(resource: &str, namespace: Option<&str>, name: &str) -> Result<Self, InvalidKey> {
        let mut text = Prefix::new(resource, namespace)?.0.into_string();
        text.push_str(checked(name)?);
        if text.len() > MAX_LEN {
            return Err(invalid(&text, "it is longer than 1024 bytes"));
        }
        Ok(Self(text.into_boxed_str()))
    }

    /// A key that was one before, as read from a file.
    pub(super) fn parse(text: &str) -> Result<Self, InvalidKey> {
        match *text.split('/').collect::<Vec<_>>() {
            [resource, name] => Self::new(resource, None, name),
            [resource, namespace, name] => Self::new(resource, Some(namespace), name),
            _ => Err(invalid(text, "it has not two or three parts")),
        }
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The resource it belongs to.
    pub fn resource(&self) -> &str {
        resource(&self.0)
    }

    /// The namespace, where the resource has them.
    pub fn namespace(&self) -> Option<&str> {
        let (first, _) = self.0.rsplit_once('/')?;
        first.split_once('/').map(|(_, namespace)| namespace)
    }

    /// The last part.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }
}

impl Prefix {
    /// The objects of a resource: all of them, or those in one namespace.
    ///
    /// # Errors
    /// As [`Key::new`].
    pub fn new(resource: &str, namespace: Option<&str>) -> Result<Self, InvalidKey> {
        let resource = checked(resource)?;
        let text = match namespace {
            Some(namespace) => format!("{resource}/{}/", checked(namespace)?),
            None => format!("{resource}/"),
        };
        Ok(Self(text.into_boxed_str()))
    }

    /// Its text, which ends with `/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The resource it belongs to.
    pub fn resource(&self) -> &str {
        resource(&self.0)
    }

    /// Whether the key is below it.
    pub fn contains(&self, key: &Key) -> bool {
        key.0.starts_with(&*self.0)
    }
}

fn resource(text: &str) -> &str {
    text.split('/').next().unwrap_or_default()
}

fn checked(part: &str) -> Result<&str, InvalidKey> {
    match part {
        "" => Err(invalid(part, "it is empty")),
        "." | ".." => Err(invalid(part, "it means a folder")),
        _ if part.contains('/') => Err(invalid(part, "it contains a slash")),
        _ if part.chars().any(char::is_control) => Err(invalid(part, "it contains a control character")),
        _ => Ok(part),
    }
}

fn invalid(part: &str, reason: &'static str) -> InvalidKey {
    InvalidKey { part: part.chars().take(80).collect(), reason }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

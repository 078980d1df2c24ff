//! To whom a path of a Swagger document belongs.

/// What a path is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim<'p> {
    /// Something in a group version: `/apis/G/V/…`, or `/api/V/…` with an empty group.
    Version(&'p str, &'p str),
    /// The group itself: `/apis/G/`.
    Group(&'p str),
    /// Anything else, such as `/version/`.
    Other,
}

impl<'p> Claim<'p> {
    /// Reads a path, with or without a trailing slash.
    pub fn of(path: &'p str) -> Self {
        let mut segments = path.strip_prefix('/').unwrap_or(path).split('/');
        let mut next = || segments.next().filter(|segment| !segment.is_empty());
        match (next(), next(), next()) {
            (Some("apis"), Some(group), Some(version)) => Self::Version(group, version),
            (Some("apis"), Some(group), None) => Self::Group(group),
            (Some("api"), Some(version), _) => Self::Version("", version),
            _ => Self::Other,
        }
    }
}

/// Says what a server owns.
pub trait Owner {
    /// Whether it answers for this claim.
    fn owns(&self, claim: Claim<'_>) -> bool;

    /// Whether it answers for what nobody else claims; such a server's document is taken whole, with
    /// the definitions that nothing refers to.
    fn is_core(&self) -> bool;
}

//! Which backend answers for a group version: looked up by every request, without an allocation.

use std::{collections::HashMap, sync::Arc};

use crate::Server;

/// The routing table.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    pub(crate) groups: HashMap<Box<str>, GroupRoute>,
    pub(crate) core: Option<Arc<Server>>,
}

/// Where the versions of a group go.
#[derive(Debug)]
pub(crate) enum GroupRoute {
    /// All to one backend, also those that it does not list (yet): it says what it does not have.
    Whole(Arc<Server>),
    /// Each to its own. A group has few versions, so they are searched one by one.
    Versions(Vec<(Box<str>, Arc<Server>)>),
}

impl GroupRoute {
    /// Every version that is named, with its owner; no name: all of them.
    fn owners(&self) -> impl Iterator<Item = (Option<&str>, &Arc<Server>)> {
        let (whole, versions) = match self {
            Self::Whole(owner) => (Some((None, owner)), [].as_slice()),
            Self::Versions(versions) => (None, versions.as_slice()),
        };
        whole.into_iter().chain(versions.iter().map(|(version, owner)| (Some(&**version), owner)))
    }
}

fn same_owners(a: Option<&GroupRoute>, b: Option<&GroupRoute>) -> bool {
    let owners = |route: Option<&'_ GroupRoute>| {
        let owners = route.into_iter().flat_map(GroupRoute::owners);
        owners.map(|(version, owner)| (version.map(str::to_owned), owner.name.clone())).collect::<Vec<_>>()
    };
    match (a, b) {
        (Some(GroupRoute::Whole(a)), Some(GroupRoute::Whole(b))) => a.name == b.name,
        _ => owners(a) == owners(b),
    }
}

/// The answer of the routing table.
#[derive(Clone, Copy, Debug)]
pub enum Route<'a> {
    /// A federated server owns it.
    Server(&'a Arc<Server>),
    /// The core owns it, or nobody registered it and there is a core.
    Core(&'a Arc<Server>),
    /// Nobody has it, and there is no core.
    None,
}

impl<'a> Route<'a> {
    /// The backend, whatever its role.
    pub fn server(self) -> Option<&'a Arc<Server>> {
        match self {
            Self::Server(server) | Self::Core(server) => Some(server),
            Self::None => None,
        }
    }
}

impl Routes {
    pub(crate) fn find(&self, group: &str, version: &str) -> Route<'_> {
        let owner = match self.groups.get(group) {
            Some(GroupRoute::Whole(server)) => Some(server),
            Some(GroupRoute::Versions(versions)) => {
                versions.iter().find(|(name, _)| &**name == version).map(|(_, server)| server)
            }
            None => None,
        };
        match (owner, &self.core) {
            (Some(owner), Some(core)) if Arc::ptr_eq(owner, core) => Route::Core(core),
            (Some(owner), _) => Route::Server(owner),
            (None, Some(core)) => Route::Core(core),
            (None, None) => Route::None,
        }
    }

    pub(crate) fn find_path(&self, path: &str) -> Route<'_> {
        let mut segments = path.strip_prefix('/').unwrap_or(path).split('/');
        let mut next = || segments.next().filter(|segment| !segment.is_empty());
        match (next(), next(), next()) {
            (Some("apis"), Some(group), version) => self.find(group, version.unwrap_or_default()),
            (Some("api"), Some(version), _) => self.find("", version),
            _ => self.core.as_ref().map_or(Route::None, Route::Core),
        }
    }

    /// Whether this backend answers for the group version.
    pub(crate) fn owns(&self, server: &Server, group: &str, version: &str) -> bool {
        self.find(group, version).server().is_some_and(|owner| owner.name == server.name)
    }

    /// Whether each backend that `counts` answers for exactly what it did `before`.
    pub(crate) fn agree_with(&self, before: &Self, counts: impl Fn(&Server) -> bool) -> bool {
        let core = |routes: &'_ Self| routes.core.as_ref().map(|core| core.name.clone());
        if core(self) != core(before) {
            return false;
        }
        // The core has what nobody else has.
        let all_count = self.core.as_deref().is_some_and(&counts);
        let concerned = |route: Option<&GroupRoute>| {
            route.is_some_and(|route| route.owners().any(|(_, owner)| counts(owner)))
        };
        self.groups.keys().chain(before.groups.keys()).all(|group| {
            let (now, then) = (self.groups.get(group), before.groups.get(group));
            same_owners(now, then) || !(all_count || concerned(now) || concerned(then))
        })
    }

    /// Whether this backend answers for all known versions of the group.
    pub(crate) fn owns_all(&self, server: &Server, group: &str) -> bool {
        match self.groups.get(group) {
            Some(GroupRoute::Versions(versions)) => {
                versions.iter().all(|(_, owner)| owner.name == server.name)
            }
            _ => self.owns(server, group, ""),
        }
    }
}

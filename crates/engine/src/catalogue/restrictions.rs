//! The access rules' effect on one view: the items and servers that its clients may not use. This module must not know
//! how lists are made.

use std::collections::HashMap;
use std::sync::Arc;

use config::Glob;
use smallvec::SmallVec;

use super::names::identity;
use super::{ListKind, UpstreamId};
use crate::access::{Annotations, Guard};

/// Items that the clients may not use, by public name, with the names of their servers.
#[derive(Debug, Default)]
pub(super) struct HiddenItems(HashMap<(ListKind, String), Arc<str>>);

impl HiddenItems {
    /// Adds an item of a server, which clients know by one of these names.
    pub(super) fn add(&mut self, kind: ListKind, names: impl IntoIterator<Item = String>, server: &Arc<str>) {
        self.0.extend(names.into_iter().map(|name| ((kind, name), server.clone())));
    }
}

/// The items and servers that the rules deny the clients of a view.
#[derive(Debug, Clone)]
pub(super) struct Restrictions {
    /// The rules; `None` if everything is allowed.
    guard: Option<Guard>,
    /// The items that the clients may not use.
    hidden: Arc<HiddenItems>,
    /// The servers that list items. The value is true if the clients may use none of the server's items.
    barred: HashMap<UpstreamId, bool>,
    /// The servers from which the clients may use nothing. All other code treats these servers as absent.
    denied: Vec<UpstreamId>,
}

impl Restrictions {
    /// Creates the restrictions from the result of applying the rules to all lists.
    pub(super) fn new(
        guard: Option<Guard>,
        hidden: HiddenItems,
        barred: HashMap<UpstreamId, bool>,
        denied: Vec<UpstreamId>,
    ) -> Self {
        Self { guard, hidden: hidden.into(), barred, denied }
    }

    /// Returns true if no rules apply.
    pub(super) fn are_none(&self) -> bool {
        self.guard.is_none()
    }

    /// Returns true if the rules allow a resource of a server to be used.
    pub(super) fn admits(&self, server: &str, kind: ListKind, name: &str) -> bool {
        let Some(guard) = &self.guard else { return true };
        guard.admits(&guard.target(server, kind, name).called(None))
    }

    /// Returns true if the rules allow a tool or prompt of a server to be used in the requested way. Rules can refer to the
    /// item by its identity, or by the texts that `also` returns.
    pub(super) fn admits_named(
        &self,
        (server, kind, identity): (&str, ListKind, &str),
        also: impl FnOnce() -> SmallVec<[String; 2]>,
        what: (Annotations, Option<&[u8]>),
    ) -> bool {
        let Some(guard) = &self.guard else { return true };
        let also = also();
        let target = guard.target(server, kind, identity).also_known_as(&also);
        guard.admits(&target.annotated(what.0).called(what.1))
    }

    /// Returns true if rules have conditions on the arguments of calls.
    pub(super) fn look_at_arguments(&self) -> bool {
        self.guard.as_ref().is_some_and(|guard| guard.rules.look_at_arguments())
    }

    /// Returns true if, according to the current lists, the clients may use nothing from a server.
    pub(super) fn deny_server(&self, upstream: UpstreamId) -> bool {
        self.denied.contains(&upstream)
    }

    /// Returns true if the clients may use this method to request unlisted items from a server.
    pub(super) fn open_method(&self, upstream: UpstreamId, server: &str, method: &str) -> bool {
        match self.barred.get(&upstream) {
            Some(barred) => !barred,
            None => self.admits(server, ListKind::Resources, method),
        }
    }

    /// Returns true if the rules may allow a tool or prompt of a server. Rules can refer to the item by its identity or, if
    /// `by_own_name`, by the server's own name for the item.
    pub(super) fn open_names(&self, server: &str, by_own_name: bool) -> bool {
        let Some(guard) = &self.guard else { return true };
        let identities = Glob::parse(&identity(server, "*")).unwrap_or_else(|_| Glob::any());
        let like = if by_own_name { vec![identities, Glob::any()] } else { vec![identities] };
        guard.opens(server, &like)
    }

    /// Returns true if a rule can deny the clients a resource of a server. With `like`, only resources whose URIs
    /// match it are considered.
    pub(super) fn bound_resources(&self, server: &str, like: Option<&Glob>) -> bool {
        self.guard.as_ref().is_some_and(|guard| guard.bounds_resources(server, like.unwrap_or(&Glob::any())))
    }

    /// Returns the server of an item of this kind that the rules withhold, and for whose public name `is_it` is true.
    pub(super) fn hide(&self, kind: ListKind, is_it: impl Fn(&str) -> bool) -> Option<&str> {
        let mut all = self.hidden.0.iter();
        all.find(|((of, own), _)| *of == kind && is_it(own)).map(|(_, server)| &**server)
    }
}

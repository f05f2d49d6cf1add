//! Whose resource a URI is, how sure that is, and if clients may use it. It must not know how lists are made.

use std::collections::HashSet;

use super::entry::present;
use super::part::Part;
use super::template::{covers, pattern};
use super::{ListKind, UpstreamId, View, declares};
use crate::access::Annotations;
use crate::config::Glob;

/// A resource as it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceEntry {
    /// Whose it is.
    pub upstream: UpstreamId,
    /// True if nobody but the server knows if it is there, and rules may keep others like it from the clients: if the
    /// server refuses it, clients must hear what they hear of those.
    pub veiled: bool,
}

/// How a resource was found.
enum Found<'v> {
    /// It is listed, or is a template that is.
    Listed,
    /// This template covers it.
    Like(&'v str),
    /// There is only one server that can have it.
    Nowhere,
}

/// A resource template of a server, listed or not: rules can admit URIs of a template that they leave out of the list.
#[derive(Debug)]
pub(super) struct TemplateOwner {
    template: String,
    upstream: UpstreamId,
    is_listed: bool,
}

impl TemplateOwner {
    /// All templates of these servers; `listed` are those in the list.
    pub(super) fn all(parts: &[&Part<'_>], listed: &[(String, UpstreamId)]) -> Vec<Self> {
        let listed: HashSet<(&str, UpstreamId)> = listed.iter().map(|(key, id)| (&**key, *id)).collect();
        let of_part = |part: &&Part<'_>| {
            let upstream = part.upstream.id;
            let keys = part.items(ListKind::Templates).map(|(_, item)| item.key.clone());
            let is_listed = |key: &str| listed.contains(&(key, upstream));
            let own = keys.map(|key| Self { is_listed: is_listed(&key), template: key, upstream });
            own.collect::<Vec<_>>()
        };
        parts.iter().flat_map(of_part).collect()
    }
}

impl View {
    /// Whose resource a URI is, where clients may know: by the lists, and where rules cannot keep any like it from the
    /// clients also by the templates, or because there is only one server with resources.
    pub fn resource_owner(&self, uri: &str) -> Option<UpstreamId> {
        self.resource(uri).filter(|found| !found.veiled).map(|found| found.upstream)
    }

    /// The same as it is read: also where a template covers it of which some may be kept from the clients.
    pub fn resource(&self, uri: &str) -> Option<ResourceEntry> {
        let (upstream, found) = self.found(uri)?;
        let veiled = match found {
            Found::Like(template) => self.bounds(upstream, pattern(template).as_ref()),
            // What is nowhere listed must look like what may not be read.
            Found::Nowhere if self.bounds(upstream, None) => return None,
            Found::Listed | Found::Nowhere => false,
        };
        Some(ResourceEntry { upstream, veiled })
    }

    /// Returns true if this resource, or a template that covers it, is listed and the profile's own rules leave it in.
    pub(super) fn is_listed(&self, uri: &str) -> bool {
        let covered = |owner: &TemplateOwner| owner.is_listed && covers(&owner.template, uri);
        self.uri_rules.admits(uri) && (self.listed(uri).is_some() || self.templates.iter().any(covered))
    }

    fn found(&self, uri: &str) -> Option<(UpstreamId, Found<'_>)> {
        if !self.uri_rules.admits(uri) {
            return None;
        }
        let may = |upstream| self.admits(upstream, ListKind::Resources, uri, (Annotations::default(), None));
        let listed = self.listed(uri).map(|upstream| (upstream, Found::Listed));
        let covered = || {
            let mut owners = self.templates.iter();
            let owner = owners.find(|owner| covers(&owner.template, uri) && may(owner.upstream))?;
            Some((owner.upstream, Found::Like(&owner.template)))
        };
        let nowhere = || Some((self.sole_with("resources")?, Found::Nowhere));
        listed.or_else(covered).or_else(nowhere).filter(|(upstream, _)| may(*upstream))
    }

    /// The server that lists this resource, or a template with this text.
    fn listed(&self, uri: &str) -> Option<UpstreamId> {
        let template = || self.templates.iter().find(|owner| owner.is_listed && owner.template == uri);
        self.resources.get(uri).copied().or_else(|| template().map(|owner| owner.upstream))
    }

    /// The only present upstream that declares a capability.
    fn sole_with(&self, capability: &str) -> Option<UpstreamId> {
        let mut having =
            present(self.upstreams()).filter(|(_, o)| declares(&o.hello.capabilities, capability, None));
        let first = having.next()?;
        having.next().is_none().then_some(first.0.id)
    }

    /// Returns true if a server's resource can be kept from the clients whose URI is like this, or is any.
    fn bounds(&self, upstream: UpstreamId, like: Option<&Glob>) -> bool {
        self.guard.as_ref().is_some_and(|guard| {
            let any = Glob::any();
            guard.bounds_resources(self.server(upstream), like.unwrap_or(&any))
        })
    }
}

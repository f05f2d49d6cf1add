//! Whose resource a URI is, and how sure that is. It must not know how lists are made.

use super::template::{covers, pattern};
use super::view::present;
use super::{ListKind, UpstreamId, View, declares};
use crate::access::Annotations;
use crate::config::Glob;

/// A resource as it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceEntry {
    /// Whose it is.
    pub upstream: UpstreamId,
    /// Whether nobody but the server knows if it is there, and rules may keep others like it from the clients: if the server
    /// refuses it, clients must hear what they hear of those.
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

impl View {
    /// Whose resource a URI is, where clients may know: by the lists, and where rules cannot keep any like it from the
    /// clients also by the templates, or because there is only one server with resources.
    pub fn resource_owner(&self, uri: &str) -> Option<UpstreamId> {
        self.resource(uri).filter(|found| !found.veiled).map(|found| found.upstream)
    }

    /// The same as it is read: also where a template covers it of which some may be kept from the clients.
    pub fn resource(&self, uri: &str) -> Option<ResourceEntry> {
        let (upstream, found) = self.found(uri)?;
        if !self.admits(upstream, ListKind::Resources, uri, (Annotations::default(), None)) {
            return None;
        }
        let veiled = match found {
            Found::Like(template) => self.bounds(upstream, pattern(template).as_ref()),
            // What is nowhere listed must look like what may not be read.
            Found::Nowhere if self.bounds(upstream, None) => return None,
            Found::Listed | Found::Nowhere => false,
        };
        Some(ResourceEntry { upstream, veiled })
    }

    /// The server that lists a resource, or a template that covers it.
    pub(super) fn listed_owner(&self, uri: &str) -> Option<UpstreamId> {
        self.listed(uri).map(|(owner, _)| owner)
    }

    fn found(&self, uri: &str) -> Option<(UpstreamId, Found<'_>)> {
        self.listed(uri).or_else(|| Some((self.sole_with("resources")?, Found::Nowhere)))
    }

    fn listed(&self, uri: &str) -> Option<(UpstreamId, Found<'_>)> {
        if let Some(owner) = self.resources.get(uri) {
            return Some((*owner, Found::Listed));
        }
        self.templates.iter().find_map(|(template, owner)| {
            let found = if template == uri { Found::Listed } else { Found::Like(template) };
            (template == uri || covers(template, uri)).then_some((*owner, found))
        })
    }

    /// The only present upstream that declares a capability.
    fn sole_with(&self, capability: &str) -> Option<UpstreamId> {
        let mut having =
            present(self.upstreams()).filter(|(_, o)| declares(&o.hello.capabilities, capability, None));
        let first = having.next()?;
        having.next().is_none().then_some(first.0.id)
    }

    /// Whether a server's resource can be kept from the clients whose URI is like this, or is any.
    fn bounds(&self, upstream: UpstreamId, like: Option<&Glob>) -> bool {
        self.guard.as_ref().is_some_and(|guard| {
            let any = Glob::any();
            guard.bounds_resources(self.server(upstream), like.unwrap_or(&any))
        })
    }
}

//! Finds the server that owns a URI, and determines how certain this is and if clients may use the URI. This module
//! must not know how lists are built.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::entry::present;
use super::part::Part;
use super::template::{covers, pattern};
use super::{ListKind, UpstreamId, View, declares};
use crate::config::{Glob, UriRules};

/// A resource that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceEntry {
    /// The upstream that has the resource.
    pub upstream: UpstreamId,
    /// True if only the server knows if the resource exists, and rules may deny the clients similar resources. A
    /// rejection by the server must then look the same as a denial.
    pub masked: bool,
}

/// The way in which a resource was found.
enum ResourceMatch<'v> {
    /// The resource itself is listed, as a resource or as a template.
    Listed,
    /// This template matches the resource.
    Like(&'v str),
    /// The resource is not listed, and only one server can have it.
    Nowhere,
}

/// A resource template of a server, listed or not: rules can hide a template and still allow some of its URIs.
#[derive(Debug)]
pub(super) struct TemplateOwner {
    template: String,
    upstream: UpstreamId,
    is_listed: bool,
}

impl TemplateOwner {
    /// All templates of these servers; `listed` contains the listed ones.
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

/// The listed resources and templates of a view, by URI.
#[derive(Debug, Clone)]
pub(super) struct ResourceTable {
    // The server of each resource. The map is shared with the copy of the view that has no pages.
    resources: Arc<HashMap<String, UpstreamId>>,
    templates: Arc<[TemplateOwner]>,
    /// The profile's own rules for URIs.
    rules: UriRules,
}

impl ResourceTable {
    /// The table of these resources and templates, of which the profile's rules admit some.
    pub(super) fn new(
        resources: Vec<(String, UpstreamId)>,
        templates: Vec<TemplateOwner>,
        rules: UriRules,
    ) -> Self {
        Self { resources: Arc::new(resources.into_iter().collect()), templates: templates.into(), rules }
    }

    /// The number of resources and templates.
    pub(super) fn len(&self) -> usize {
        self.resources.len() + self.templates.len()
    }

    /// Checks if the profile's own rules admit a URI.
    pub(super) fn admits(&self, uri: &str) -> bool {
        self.rules.admits(uri)
    }

    /// Returns true if this resource, or a template that matches it, is listed and not excluded by the profile's own
    /// rules.
    pub(super) fn is_listed(&self, uri: &str) -> bool {
        let covered = |owner: &TemplateOwner| owner.is_listed && covers(&owner.template, uri);
        self.admits(uri) && (self.listed(uri).is_some() || self.templates.iter().any(covered))
    }

    /// The server that lists this resource, or a template with this text.
    fn listed(&self, uri: &str) -> Option<UpstreamId> {
        let template = || self.templates.iter().find(|owner| owner.is_listed && owner.template == uri);
        self.resources.get(uri).copied().or_else(|| template().map(|owner| owner.upstream))
    }
}

impl View {
    /// The server that owns a URI, as far as clients may know it. The lists determine the owner. If no rule can deny
    /// the clients a similar resource, the templates also count, and so does the only server that has resources.
    pub fn resource_owner(&self, uri: &str) -> Option<UpstreamId> {
        self.resource(uri).filter(|found| !found.masked).map(|found| found.upstream)
    }

    /// The resource to read. A match of a template counts even if some resources of that template may be
    /// denied.
    pub fn resource(&self, uri: &str) -> Option<ResourceEntry> {
        let (upstream, found) = self.found(uri)?;
        let masked = match found {
            ResourceMatch::Like(template) => self.bounds(upstream, pattern(template).as_ref()),
            // An unlisted resource must look the same as a denied one.
            ResourceMatch::Nowhere if self.bounds(upstream, None) => return None,
            ResourceMatch::Listed | ResourceMatch::Nowhere => false,
        };
        Some(ResourceEntry { upstream, masked })
    }

    fn found(&self, uri: &str) -> Option<(UpstreamId, ResourceMatch<'_>)> {
        if !self.resources.admits(uri) {
            return None;
        }
        let may = |upstream| self.admits_resource(upstream, uri);
        let listed = self.resources.listed(uri).map(|upstream| (upstream, ResourceMatch::Listed));
        let covered = || {
            let mut owners = self.resources.templates.iter();
            let owner = owners.find(|owner| covers(&owner.template, uri) && may(owner.upstream))?;
            Some((owner.upstream, ResourceMatch::Like(&owner.template)))
        };
        let nowhere = || Some((self.sole_with("resources")?, ResourceMatch::Nowhere));
        listed.or_else(covered).or_else(nowhere).filter(|(upstream, _)| may(*upstream))
    }

    /// The only present upstream that declares a capability.
    fn sole_with(&self, capability: &str) -> Option<UpstreamId> {
        let mut having =
            present(self.upstreams()).filter(|(_, o)| declares(&o.hello.capabilities, capability, None));
        let first = having.next()?;
        having.next().is_none().then_some(first.0.id)
    }

    /// Returns true if a rule can deny the clients a resource of a server whose URI matches `like`, or, without
    /// `like`, any resource.
    fn bounds(&self, upstream: UpstreamId, like: Option<&Glob>) -> bool {
        self.restrictions.bound_resources(self.server(upstream), like)
    }
}

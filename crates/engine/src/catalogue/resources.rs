//! Finds the server that owns a URI, and determines how certain this is and whether clients may use the URI. This module
//! must not know how lists are built.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use config::{Glob, UriRules};
use proto::rpc::Frame;

use super::entry::present;
use super::part::Part;
use super::template::pattern;
use super::template_index::{BudgetExhausted, ComparisonBudget, HasTemplate, TemplateIndex};
use super::uri_mark::{marked, unmarked};
use super::uris::{PublicUri, PublicUris, published};
use super::{ListKind, UpstreamId, View, declares};

/// A resource that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceEntry {
    /// The upstream that has the resource.
    pub upstream: UpstreamId,
    /// The upstream's own URI for the resource; `None` if the resource was found by this URI.
    pub own: Option<String>,
    /// True if only the server can tell whether the resource exists, and rules may deny the clients similar
    /// resources. A rejection by the server must then look the same as a denial.
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
    /// The template as its server wrote it.
    template: String,
    /// The template that clients see, if it differs.
    public: Option<String>,
    upstream: UpstreamId,
    is_listed: bool,
}

impl TemplateOwner {
    /// All templates of these servers; `listed` contains the listed ones as clients see them.
    pub(super) fn all(parts: &[&Part<'_>], uris: &PublicUris, listed: &[(String, UpstreamId)]) -> Vec<Self> {
        let listed: HashSet<(&str, UpstreamId)> = listed.iter().map(|(key, id)| (&**key, *id)).collect();
        let of_part = |part: &&Part<'_>| {
            let upstream = part.upstream.id;
            let own = part.items(ListKind::Templates).filter_map(|(_, item)| {
                let public = match uris.shown(ListKind::Templates, upstream, &item.key) {
                    PublicUri::Own => None,
                    PublicUri::Marked(marked) => Some(marked.to_owned()),
                    PublicUri::Taken => return None,
                };
                let is_listed = listed.contains(&(public.as_ref().unwrap_or(&item.key), upstream));
                Some(Self { template: item.key.clone(), public, upstream, is_listed })
            });
            own.collect::<Vec<_>>()
        };
        parts.iter().flat_map(of_part).collect()
    }

    /// Returns true if clients see the template as its server wrote it.
    fn is_plain(&self) -> bool {
        self.public.is_none()
    }
}

impl HasTemplate for Arc<TemplateOwner> {
    fn template(&self) -> &str {
        &self.template
    }
}

/// The templates of a view's servers.
#[derive(Debug)]
struct TemplateTable {
    all: TemplateIndex<Arc<TemplateOwner>>,
    by_server: HashMap<UpstreamId, TemplateIndex<Arc<TemplateOwner>>>,
}

impl TemplateTable {
    fn new(templates: Vec<TemplateOwner>) -> Self {
        let all: Vec<Arc<TemplateOwner>> = templates.into_iter().map(Arc::new).collect();
        let mut by_server: HashMap<UpstreamId, Vec<Arc<TemplateOwner>>> = HashMap::new();
        for one in &all {
            by_server.entry(one.upstream).or_default().push(one.clone());
        }
        let by_server = by_server.into_iter().map(|(server, own)| (server, TemplateIndex::new(own)));
        Self { by_server: by_server.collect(), all: TemplateIndex::new(all) }
    }

    /// The first template of a server that matches the server's own URI, among those for which `is_candidate` is true.
    fn of_server(
        &self,
        (upstream, own): (UpstreamId, &str),
        budget: &mut ComparisonBudget,
        is_candidate: impl FnMut(&Arc<TemplateOwner>) -> bool,
    ) -> Result<Option<&TemplateOwner>, BudgetExhausted> {
        let Some(templates) = self.by_server.get(&upstream) else { return Ok(None) };
        Ok(templates.find(own, budget, is_candidate)?.map(|owner| &**owner))
    }

    /// The first template of any server that matches a URI as clients see it, among those for which `is_candidate` is true.
    fn of_any(
        &self,
        uri: &str,
        budget: &mut ComparisonBudget,
        mut is_candidate: impl FnMut(&TemplateOwner) -> bool,
    ) -> Result<Option<&TemplateOwner>, BudgetExhausted> {
        let found = self.all.find(uri, budget, |owner| owner.is_plain() && is_candidate(owner))?;
        Ok(found.map(|owner| &**owner))
    }
}

/// The listed resources and templates of a view, by the URIs that clients see.
#[derive(Debug, Clone)]
pub(super) struct ResourceTable {
    // The server of each resource. The map is shared with the copy of the view that has no pages.
    resources: Arc<HashMap<String, UpstreamId>>,
    templates: Arc<TemplateTable>,
    /// The profile's own rules for URIs.
    rules: UriRules,
    /// The servers that have URIs with the server's name in them. Absent servers are included.
    marking: Arc<[(Arc<str>, UpstreamId)]>,
    /// The URIs of absent servers that other servers list as well.
    withheld: Arc<HashSet<String>>,
}

impl ResourceTable {
    /// Creates the table of these resources and templates. `rules` are the profile's own rules for URIs.
    pub(super) fn new(
        resources: Vec<(String, UpstreamId)>,
        templates: Vec<TemplateOwner>,
        rules: UriRules,
        uris: PublicUris,
    ) -> Self {
        let mut table = HashMap::with_capacity(resources.len());
        for (uri, upstream) in resources {
            table.entry(uri).or_insert(upstream);
        }
        Self {
            resources: Arc::new(table),
            templates: Arc::new(TemplateTable::new(templates)),
            rules,
            marking: uris.marking().into(),
            withheld: Arc::new(uris.into_withheld()),
        }
    }

    /// The number of resources and templates.
    pub(super) fn len(&self) -> usize {
        self.resources.len() + self.templates.all.len()
    }

    /// Returns true if the profile's own rules admit a server's URI.
    pub(super) fn admits(&self, uri: &str) -> bool {
        self.rules.admits(uri)
    }

    /// The server whose name a URI carries, and the server's own URI.
    fn marked_by(&self, uri: &str) -> Option<(UpstreamId, String)> {
        if self.marking.is_empty() {
            return None;
        }
        let (server, own) = unmarked(uri)?;
        self.marking.iter().find(|(name, _)| **name == *server).map(|(_, upstream)| (*upstream, own))
    }

    /// Returns true if a server has URIs that carry its name.
    fn is_marking(&self, upstream: UpstreamId) -> bool {
        self.marking.iter().any(|(_, one)| *one == upstream)
    }

    /// Returns true if this resource, or a template that matches it, is listed and not excluded by the profile's own
    /// rules.
    pub(super) fn is_listed(&self, uri: &str) -> bool {
        let marked = self.marked_by(uri);
        let own = marked.as_ref().map_or(uri, |(_, own)| own);
        let is_covered = || {
            let budget = &mut ComparisonBudget::of_message();
            let covering = match &marked {
                Some((upstream, own)) => {
                    self.templates.of_server((*upstream, own), budget, |one| one.is_listed)
                }
                None => self.templates.of_any(uri, budget, |one| one.is_listed),
            };
            covering.is_ok_and(|owner| owner.is_some())
        };
        self.admits(own) && (self.listed(uri).is_some() || is_covered())
    }

    /// The server that lists this resource, or a template with this text.
    fn listed(&self, uri: &str) -> Option<UpstreamId> {
        let is_it = |owner: &&TemplateOwner| {
            owner.is_listed && owner.public.as_ref().unwrap_or(&owner.template) == uri
        };
        let template = || self.templates.all.iter().map(|owner| &**owner).find(is_it);
        self.resources.get(uri).copied().or_else(|| template().map(|owner| owner.upstream))
    }

    /// The public form of a URI in a message of a server; `None` if the URI stays unchanged. If clients know the
    /// URI as another server's, the public form carries the name of this server. The same applies if the budget for
    /// comparisons runs out, because clients can use this form as well.
    fn public(
        &self,
        (upstream, server): (UpstreamId, &str),
        own: &str,
        budget: &mut ComparisonBudget,
    ) -> Option<String> {
        let marked = marked(server, own)?;
        if self.resources.get(&marked) == Some(&upstream) || self.marked_by(own).is_some() {
            return Some(marked);
        }
        if let Some(owner) = self.resources.get(own) {
            return (*owner != upstream).then_some(marked);
        }
        let is_own = self.is_own((upstream, own), budget).unwrap_or_default();
        (!is_own).then_some(marked)
    }

    /// Returns true if an unlisted URI in a message of a server stays unchanged.
    fn is_own(
        &self,
        (upstream, own): (UpstreamId, &str),
        budget: &mut ComparisonBudget,
    ) -> Result<bool, BudgetExhausted> {
        let templates = &self.templates;
        if templates.of_server((upstream, own), budget, |owner| owner.is_plain())?.is_some() {
            return Ok(true);
        }
        let is_marked = templates.of_server((upstream, own), budget, |owner| !owner.is_plain())?.is_some();
        if is_marked || self.withheld.contains(own) {
            return Ok(false);
        }
        Ok(templates.of_any(own, budget, |owner| owner.upstream != upstream)?.is_none())
    }
}

/// The URIs of one server as clients know them.
#[derive(Debug, Clone)]
pub struct ServerUris {
    table: ResourceTable,
    upstream: UpstreamId,
    server: Arc<str>,
    /// The server's own URI in the request, and the URI that the client wrote.
    asked: Option<(String, String)>,
}

impl ServerUris {
    /// Returns these URIs, prepared for the answer to a request in which the client wrote `public` instead of the
    /// server's URI `own`.
    #[must_use]
    pub(crate) fn asked(self, own: String, public: String) -> Self {
        Self { asked: Some((own, public)), ..self }
    }

    /// The public form of one of the server's URIs; `None` if the URI stays unchanged.
    pub fn public(&self, own: &str) -> Option<String> {
        self.public_within(own, &mut ComparisonBudget::of_message())
    }

    fn public_within(&self, own: &str, budget: &mut ComparisonBudget) -> Option<String> {
        match &self.asked {
            Some((asked, public)) if *asked == *own => Some(public.clone()),
            _ => self.table.public((self.upstream, &self.server), own, budget),
        }
    }

    /// Replaces the URIs in a message of the server with public ones.
    pub fn published(&self, frame: Frame) -> Frame {
        let mut budget = ComparisonBudget::of_message();
        published(frame, &mut |own| self.public_within(own, &mut budget))
    }
}

impl View {
    /// The server that owns a URI, if clients may learn which one it is. This is the server that lists the
    /// resource. If no rule can deny the clients a similar resource, it can also be a server with a matching
    /// template, or the only server with resources.
    pub fn resource_owner(&self, uri: &str) -> Option<UpstreamId> {
        self.located(uri).map(|(upstream, _)| upstream)
    }

    /// The server that owns a URI, as [`Self::resource_owner`] returns it, and the server's own URI.
    pub fn located<'u>(&self, uri: &'u str) -> Option<(UpstreamId, Cow<'u, str>)> {
        let found = self.resource(uri).filter(|found| !found.masked)?;
        Some((found.upstream, found.own.map_or(Cow::Borrowed(uri), Cow::Owned)))
    }

    /// Finds the resource to read. A URI that matches a template counts as found, even if the rules might deny some resources
    /// of that template.
    pub fn resource(&self, uri: &str) -> Option<ResourceEntry> {
        let carried = self.resources.marked_by(uri);
        let (upstream, found) = match &carried {
            Some((upstream, own)) => (*upstream, self.found_at(*upstream, uri, own)?),
            None => self.found(uri)?,
        };
        let masked = match found {
            ResourceMatch::Like(template) => self.bounds(upstream, pattern(template).as_ref()),
            // An unlisted resource must look the same as a denied one.
            ResourceMatch::Nowhere if self.bounds(upstream, None) => return None,
            ResourceMatch::Listed | ResourceMatch::Nowhere => false,
        };
        Some(ResourceEntry { upstream, own: carried.map(|(_, own)| own), masked })
    }

    /// Finds a resource by a URI that carries the name of its server. No other server can have it.
    fn found_at(&self, upstream: UpstreamId, uri: &str, own: &str) -> Option<ResourceMatch<'_>> {
        if !self.admits_resource(upstream, own) {
            return None;
        }
        if self.resources.listed(uri) == Some(upstream) {
            return Some(ResourceMatch::Listed);
        }
        let budget = &mut ComparisonBudget::of_message();
        if let Some(owner) = self.resources.templates.of_server((upstream, own), budget, |_| true).ok()? {
            return Some(ResourceMatch::Like(&owner.template));
        }
        self.upstream_declares(upstream, "resources", None).then_some(ResourceMatch::Nowhere)
    }

    fn found(&self, uri: &str) -> Option<(UpstreamId, ResourceMatch<'_>)> {
        if !self.resources.admits(uri) {
            return None;
        }
        let may = |upstream| self.admits_resource(upstream, uri);
        let listed = self.resources.listed(uri).map(|upstream| (upstream, ResourceMatch::Listed));
        if listed.is_none() && self.resources.withheld.contains(uri) {
            return None;
        }
        let covered = || {
            let mut admitted: HashMap<UpstreamId, bool> = HashMap::new();
            let mut may = |server: UpstreamId| *admitted.entry(server).or_insert_with(|| may(server));
            let budget = &mut ComparisonBudget::of_message();
            let owner = self.resources.templates.of_any(uri, budget, |owner| may(owner.upstream)).ok()??;
            Some((owner.upstream, ResourceMatch::Like(&owner.template)))
        };
        let nowhere = || Some((self.sole_with("resources")?, ResourceMatch::Nowhere));
        listed.or_else(covered).or_else(nowhere).filter(|(upstream, _)| may(*upstream))
    }

    /// The URIs of an upstream as clients know them; `None` if all URIs stay unchanged.
    pub fn uris_of(&self, upstream: UpstreamId) -> Option<Box<ServerUris>> {
        let server = || self.server(upstream).into();
        let uris = || ServerUris { table: self.resources.clone(), upstream, server: server(), asked: None };
        self.resources.is_marking(upstream).then(|| Box::new(uris()))
    }

    /// The only present upstream that declares a capability; `None` if the request might belong to another server.
    fn sole_with(&self, capability: &str) -> Option<UpstreamId> {
        if !self.resources.withheld.is_empty() {
            return None;
        }
        let mut having =
            present(self.upstreams()).filter(|(_, o)| declares(&o.hello.capabilities, capability, None));
        let first = having.next()?;
        having.next().is_none().then_some(first.0.id)
    }

    /// Returns true if a rule can deny the clients a resource of a server. With `like`, only resources whose URIs
    /// match it are considered.
    fn bounds(&self, upstream: UpstreamId, like: Option<&Glob>) -> bool {
        self.restrictions.bound_resources(self.server(upstream), like)
    }
}

//! Decides which URIs of a profile's servers are public as they are, and which ones carry their server's name. The
//! first server that has a URI keeps it. A URI that looks as if it carried a server's name always gets the name of
//! its own server. Otherwise, a server could take over a URI of another server. This module must not know who sees
//! what.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use smallvec::SmallVec;

use super::claims::{Claims, UriClaim};
use super::links::{PAGE_SCHEME, links_of};
use crate::catalogue::entry::present;
use crate::catalogue::names::{NameBook, PlainRule, Provisional, opened};
use crate::catalogue::template_index::{ComparisonBudget, TemplateIndex};
use crate::catalogue::uri_mark::{marked, shape, unmarked};
use crate::catalogue::{ListKind, UpstreamCatalogue, UpstreamId, ViewSource, ViewSpec};

/// The public form of a server's URI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::catalogue) enum PublicUri<'u> {
    /// The URI as its server wrote it.
    Own,
    /// Another URI, which carries the server's name.
    Marked(&'u str),
    /// No public form: another server has the URI, and no server's name can be added to it.
    Taken,
}

/// The links of one tool to pages: the server's own URI, and the public one.
pub(in crate::catalogue) type ToolLinks = SmallVec<[(String, String); 1]>;

/// The public URIs of a profile's servers.
#[derive(Debug, Default)]
pub(in crate::catalogue) struct PublicUris {
    /// The servers that have public URIs with the server's name in them. Absent servers are included.
    marking: Vec<(Arc<str>, UpstreamId)>,
    /// The URIs and templates whose public form differs from the server's own, with the public form; `None` if
    /// there is no public form.
    changed: HashMap<(ListKind, UpstreamId), HashMap<String, Option<String>>>,
    /// The links of tools to pages.
    links: HashMap<UpstreamId, HashMap<String, ToolLinks>>,
    /// The URIs of absent servers that other servers list as well.
    withheld: HashSet<String>,
}

/// A server whose URIs are being decided.
pub(super) struct Competitor<'a> {
    pub(super) source: &'a ViewSource,
    pub(super) catalogue: &'a UpstreamCatalogue,
    /// True while a server before this one in the profile is still starting.
    is_provisional: bool,
}

/// The context for decisions about URIs.
struct UriDecision<'a> {
    upstreams: &'a [ViewSource],
    book: &'a mut NameBook,
    provisional: Provisional,
    claims: Claims<'a>,
    /// The budget for the current list. Each list has its own, so long lists do not use up the budget of other
    /// servers.
    budget: ComparisonBudget,
}

/// The lists of a server besides its tools.
struct OwnLists<'a> {
    resources: HashSet<&'a str>,
    templates: TemplateIndex<&'a str>,
}

impl<'a> OwnLists<'a> {
    fn of(catalogue: &'a UpstreamCatalogue) -> Self {
        let keys = |kind| catalogue.list(kind).iter().map(|item| &*item.key);
        Self {
            resources: keys(ListKind::Resources).collect(),
            templates: TemplateIndex::new(keys(ListKind::Templates).collect()),
        }
    }
}

impl PublicUris {
    /// Decides about the URIs of all present servers, in the order of the profile. Clients of a dialect, or of a profile with a
    /// single server, see all URIs as the servers wrote them.
    pub(in crate::catalogue) fn new(spec: &ViewSpec<'_>, upstreams: &[ViewSource]) -> Self {
        let mut all = Self::default();
        if upstreams.len() < 2 || !spec.limit.is_flexible() {
            return all;
        }
        let (mut fresh, mut kept) = (NameBook::default(), spec.names.map(opened));
        let book = kept.as_deref_mut().unwrap_or(&mut fresh);
        let servers = competitors(upstreams, book.is_settled());
        let (claims, budget) = (Claims::new(&servers, book), ComparisonBudget::of_list());
        let mut deciding = UriDecision { upstreams, book, provisional: Provisional::new(), claims, budget };
        for kind in [ListKind::Resources, ListKind::Templates] {
            for server in &servers {
                deciding.budget = ComparisonBudget::of_list();
                for item in server.catalogue.list(kind) {
                    all.decide(kind, server, &item.key, &mut deciding);
                }
            }
        }
        // By now, all templates of the servers are known.
        deciding.claims = Claims::new(&servers, deciding.book);
        for server in &servers {
            deciding.budget = ComparisonBudget::of_list();
            all.decide_links(server, &mut deciding);
        }
        let is_present = |server: &str| servers.iter().any(|one| *one.source.name == *server);
        let (marking, withheld) = deciding.book.contested_uris(is_present);
        all.withheld = withheld;
        let is_marking = |source: &&ViewSource| {
            marking.contains(&source.name) || all.changed.keys().any(|(_, upstream)| *upstream == source.id)
        };
        all.marking = upstreams.iter().filter(is_marking).map(|one| (one.name.clone(), one.id)).collect();
        all
    }

    /// Decides about one URI of a server.
    fn decide(&mut self, kind: ListKind, server: &Competitor<'_>, own: &str, deciding: &mut UriDecision<'_>) {
        let source = server.source;
        let is_name = |name: &str| deciding.upstreams.iter().any(|one| *one.name == *name);
        let is_reserved = unmarked(own).is_some_and(|(name, _)| is_name(name));
        let rule = if is_reserved {
            PlainRule::Never
        } else if kind == ListKind::Resources {
            match deciding.claims.on(server, own, deciding.book, &mut deciding.budget) {
                UriClaim::None => PlainRule::UnlessHeld { claimant: None },
                UriClaim::By(claimant) => PlainRule::UnlessHeld { claimant: Some(claimant) },
                UriClaim::Unchecked => PlainRule::Never,
            }
        } else {
            PlainRule::UnlessHeld { claimant: None }
        };
        let key = if kind == ListKind::Templates { shape(own) } else { own.into() };
        let provisional = (&mut deciding.provisional, server.is_provisional);
        if !deciding.book.gives_plain(kind, (&source.name, &key), rule, provisional) {
            self.change(kind, source, own);
        }
    }

    /// Adds the server's name to a URI.
    fn change(&mut self, kind: ListKind, source: &ViewSource, own: &str) {
        let changed = self.changed.entry((kind, source.id)).or_default();
        changed.insert(own.to_owned(), marked(&source.name, own));
    }

    /// Decides, once for each page, about the pages to which a server's tools link. Servers need not list these pages.
    fn decide_links(&mut self, server: &Competitor<'_>, deciding: &mut UriDecision<'_>) {
        let Competitor { source, catalogue, .. } = server;
        let mut lists: Option<OwnLists<'_>> = None;
        let mut decided: HashMap<String, String> = HashMap::new();
        for tool in catalogue.list(ListKind::Tools) {
            let mut links = ToolLinks::new();
            for (_, own) in links_of(&tool.text) {
                if !own.starts_with(PAGE_SCHEME) || links.iter().any(|(known, _)| *known == own) {
                    continue;
                }
                let public = if let Some(public) = decided.get(&own) {
                    public.clone()
                } else {
                    let lists = lists.get_or_insert_with(|| OwnLists::of(catalogue));
                    let public = self.page(server, &own, lists, deciding);
                    decided.insert(own.clone(), public.clone());
                    public
                };
                links.push((own, public));
            }
            if !links.is_empty() {
                self.links.entry(source.id).or_default().insert(tool.key.clone(), links);
            }
        }
    }

    /// The public form of a link to a page.
    fn page(
        &mut self,
        server: &Competitor<'_>,
        own: &str,
        lists: &OwnLists<'_>,
        deciding: &mut UriDecision<'_>,
    ) -> String {
        if !lists.resources.contains(own) {
            self.decide_page(server, own, &lists.templates, deciding);
        }
        match self.shown(ListKind::Resources, server.source.id, own) {
            PublicUri::Marked(public) => public.to_owned(),
            PublicUri::Own | PublicUri::Taken => own.to_owned(),
        }
    }

    /// Decides about a page that is not listed. If all templates that match the page carry their server's name, so does the page.
    /// It also carries the name if there are too many templates to compare it with.
    fn decide_page(
        &mut self,
        server: &Competitor<'_>,
        own: &str,
        templates: &TemplateIndex<&str>,
        deciding: &mut UriDecision<'_>,
    ) {
        let (source, budget) = (server.source, &mut deciding.budget);
        let is_plain =
            |template: &&str| self.shown(ListKind::Templates, source.id, template) == PublicUri::Own;
        let is_marked = match templates.find(own, budget, is_plain) {
            Ok(Some(_)) => false,
            Ok(None) => templates.find(own, budget, |template| !is_plain(template)) != Ok(None),
            Err(_) => true,
        };
        if is_marked {
            return self.change(ListKind::Resources, source, own);
        }
        self.decide(ListKind::Resources, server, own, deciding);
    }

    /// The public form of a server's URI or template.
    pub(in crate::catalogue) fn shown(
        &self,
        kind: ListKind,
        upstream: UpstreamId,
        own: &str,
    ) -> PublicUri<'_> {
        match self.changed.get(&(kind, upstream)).and_then(|changed| changed.get(own)) {
            None => PublicUri::Own,
            Some(Some(marked)) => PublicUri::Marked(marked),
            Some(None) => PublicUri::Taken,
        }
    }

    /// The links of a server's tool to pages.
    pub(in crate::catalogue) fn links(&self, upstream: UpstreamId, tool: &str) -> &[(String, String)] {
        self.links.get(&upstream).and_then(|tools| tools.get(tool)).map_or(&[], |links| links)
    }

    /// Returns true if at least one link of a server's tools has a different public form.
    pub(in crate::catalogue) fn changes_links(&self, upstream: UpstreamId) -> bool {
        let links = self.links.get(&upstream);
        links.is_some_and(|tools| tools.values().flatten().any(|(own, public)| own != public))
    }

    /// The servers that have public URIs with the server's name in them. Absent servers are included.
    pub(in crate::catalogue) fn marking(&self) -> &[(Arc<str>, UpstreamId)] {
        &self.marking
    }

    /// The URIs of absent servers that other servers list as well.
    pub(in crate::catalogue) fn into_withheld(self) -> HashSet<String> {
        self.withheld
    }
}

/// The present servers, in the order of the profile. `is_settled` is false for a short time after the profile's first view.
fn competitors(upstreams: &[ViewSource], is_settled: bool) -> Vec<Competitor<'_>> {
    let is_awaited = |source: &ViewSource| source.catalogue.as_ref().is_err_and(|absence| absence.retry);
    let awaited = upstreams.iter().position(is_awaited).filter(|_| !is_settled);
    let is_provisional = |id| awaited.is_some_and(|first| upstreams[..first].iter().all(|one| one.id != id));
    let one = |(source, catalogue): (_, _)| {
        let source: &ViewSource = source;
        Competitor { source, catalogue, is_provisional: is_provisional(source.id) }
    };
    present(upstreams).map(one).collect()
}

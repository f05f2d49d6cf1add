//! The view of one profile for one kind of client: the catalogues of all its upstreams, presented as that of
//! one server.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use config::Naming;
use proto::era::{CacheHint, CacheScope, CacheableResult, Era};
use proto::json::unquote;

use super::assemble::{AssembledTools, Assembly, ToolTable, is_awaited};
use super::capabilities::{declares, names_extension};
use super::entry::{PromptEntry, ToolEntry, UpstreamAbsence, UpstreamId, ViewSource, ViewSpec, present};
use super::names::{FormerNames, NameLimit, SEPARATOR, meant, opened};
use super::pages::Shown;
use super::part::Part;
use super::resources::{ResourceTable, TemplateOwner};
use super::restrictions::{HiddenItems, Restrictions};
use super::server_description::ServerDescription;
use super::template::covers;
use super::tool_search::ToolSearch;
use super::unused_rules::unused_rules;
use super::uris::PublicUris;
use super::{ListKind, Pages, UpstreamCatalogue};
use crate::access::{AccessTarget, Annotations};

/// The merged catalogue of a profile for the clients of one era with the same capabilities.
#[derive(Debug, Clone)]
pub struct View {
    era: &'static Era,
    // Shared with the same view without its pages.
    pub(super) tools: Arc<ToolTable>,
    pub(super) search: Option<ToolSearch>,
    pub(super) prompts: Arc<HashMap<Arc<str>, PromptEntry>>,
    /// The withheld tools by public name, with their servers.
    pub(super) held: Arc<HashMap<String, Arc<str>>>,
    pub(super) resources: ResourceTable,
    pages: [Pages; 4],
    description: ServerDescription,
    /// True while the lists must not be cached: some are outdated, or a server may still join.
    is_provisional: bool,
    /// The upstreams that the clients may use at all.
    upstreams: Vec<ViewSource>,
    notes: Vec<String>,
    pub(super) restrictions: Restrictions,
    naming: Naming,
    pub(super) limit: NameLimit,
    /// The names that tools and prompts had before.
    pub(super) former: Arc<FormerNames>,
    /// The names of items that are not present; they must not lead to other items.
    pub(super) reserved: Arc<HashSet<(ListKind, Arc<str>)>>,
    separate: bool,
}

/// Returns true while the lists must not be cached: some are outdated, or a server may still join.
fn is_provisional(open: &[&Part<'_>], seen: &[ViewSource]) -> bool {
    let is_stale =
        |part: &&Part<'_>| !part.catalogue.is_confirmed || part.catalogue.failures().next().is_some();
    is_awaited(seen) || open.iter().any(is_stale)
}

/// The time for which the lists may be cached, and the clients to whom a cache may serve them. The time is the shortest of
/// the servers' times; it is zero while some lists are outdated, or a server may still join.
fn cache_hint(spec: &ViewSpec<'_>, open: &[&Part<'_>], is_provisional: bool) -> CacheHint {
    let cache = open.iter().map(|part| part.catalogue.cache).reduce(CacheHint::and);
    let cache = cache.unwrap_or(CacheHint::NONE);
    let is_personal = spec.personal || spec.guard.is_some();
    CacheHint {
        ttl_ms: if is_provisional { 0 } else { cache.ttl_ms },
        scope: if is_personal { CacheScope::Private } else { cache.scope },
    }
}

/// The pages of tools, prompts, resources and templates.
fn paged(spec: &ViewSpec<'_>, cache: CacheHint, items: [&[Shown<'_>]; 4]) -> [Pages; 4] {
    let [tools, prompts, resources, templates] = items;
    let pages = |lists: &[(ListKind, &[Shown<'_>])]| Pages::lay_out(lists, spec.era, cache, spec.server_info);
    let alone = |kind, items: &[Shown<'_>]| pages(&[(kind, items)]);
    let resource_pages = if spec.era.shapes.templates_in_resources {
        pages(&[(ListKind::Resources, resources), (ListKind::Templates, templates)])
    } else {
        alone(ListKind::Resources, resources)
    };
    [
        alone(ListKind::Tools, tools),
        alone(ListKind::Prompts, prompts),
        resource_pages,
        alone(ListKind::Templates, templates),
    ]
}

impl View {
    /// Merges catalogues, in the order of the profile's servers, and translates them to the clients' era.
    pub fn build(spec: ViewSpec<'_>, upstreams: Vec<ViewSource>) -> Self {
        Self::build_beside(spec, upstreams, None)
    }

    /// Like [`View::build`], but shares equal parts, such as compiled schemas, with another view of the profile.
    pub fn build_beside(spec: ViewSpec<'_>, upstreams: Vec<ViewSource>, beside: Option<&Self>) -> Self {
        let mut notes = Vec::new();
        let uris = PublicUris::new(&spec, &upstreams);
        let parts = Part::all(&upstreams, (spec.era, spec.profile, &uris), &mut notes);
        let (hidden, barred) = (HiddenItems::default(), HashMap::new());
        let mut all = Assembly { spec, parts: &parts, uris: &uris, notes, hidden, barred };
        let AssembledTools { table, own, listed, search, pages: linked } =
            all.tools(beside.map(|view| &*view.tools));
        let held = all.held(&table);
        let (prompts, prompt_items) = all.prompts();
        let (mut resources, resource_items) = all.uris(ListKind::Resources);
        resources.extend(linked);
        let (templates, template_items) = all.uris(ListKind::Templates);
        let denied = all.denied(&upstreams);
        let is_open = |id: UpstreamId| !denied.contains(&id);
        let open: Vec<&Part<'_>> = parts.iter().filter(|part| is_open(part.upstream.id)).collect();
        let seen: Vec<ViewSource> = upstreams.iter().filter(|u| is_open(u.id)).cloned().collect();
        let (mut notes, hidden, barred) = (all.notes, all.hidden, all.barred);
        notes.extend(unused_rules(spec.profile, &parts));
        let is_provisional = is_provisional(&open, &seen);
        let cache = cache_hint(&spec, &open, is_provisional);
        let tool_items: Vec<Shown<'_>> = own.iter().map(|own| (own, None)).chain(listed).collect();
        let pages = paged(&spec, cache, [&tool_items, &prompt_items, &resource_items, &template_items]);
        let description = ServerDescription::new(&spec, &open, &seen, cache);
        let templates = TemplateOwner::all(&open, &uris, &templates);
        drop(parts);
        let resources = ResourceTable::new(resources, templates, spec.profile.resources.clone(), uris);
        let is_shown = |kind: ListKind, name: &str| match kind {
            ListKind::Prompts => prompts.contains_key(name),
            _ => table.contains_key(name),
        };
        let reserved = spec.names.map(|book| opened(book).reserved(is_shown)).unwrap_or_default();
        Self {
            era: spec.era,
            pages,
            resources,
            tools: table.into(),
            search,
            prompts: prompts.into(),
            held: held.into(),
            description,
            is_provisional,
            notes,
            upstreams: upstreams.into_iter().filter(|u| !denied.contains(&u.id)).collect(),
            restrictions: Restrictions::new(spec.guard.cloned(), hidden, barred, denied),
            naming: spec.profile.names,
            limit: spec.limit,
            former: spec.names.map(|book| opened(book).former()).unwrap_or_default(),
            reserved: reserved.into(),
            separate: spec.separate,
        }
    }

    /// Returns true if several callers may share the view, each with tasks of its own.
    pub fn is_separate(&self) -> bool {
        self.separate
    }

    /// The era of the view's clients.
    pub fn era(&self) -> &'static Era {
        self.era
    }

    /// Returns true if the clients may call a tool with these arguments.
    pub fn admits_call(&self, tool: &ToolEntry, arguments: Option<&[u8]>) -> bool {
        let server = self.server(tool.upstream);
        let also = || meant(self.naming, server, &tool.own_name());
        let what = (tool.annotations, arguments);
        self.restrictions.admits_named((server, ListKind::Tools, tool.identity()), also, what)
    }

    /// Passes a call of a tool to `judge`, in the form in which access rules check it. `arguments` is `None` if the
    /// call's arguments are unknown. The view's own rules are not considered.
    pub fn judge_call<R>(
        &self,
        (profile, tool): (&str, &ToolEntry),
        arguments: Option<Option<&str>>,
        judge: impl FnOnce(&AccessTarget<'_>) -> R,
    ) -> R {
        let server = self.server(tool.upstream);
        let also = meant(self.naming, server, &tool.own_name());
        let target = AccessTarget::listed(profile, server, ListKind::Tools, tool.identity());
        let target = target.also_known_as(&also).annotated(tool.annotations);
        judge(&match arguments {
            Some(arguments) => target.called(arguments.map(str::as_bytes)),
            None => target,
        })
    }

    /// Returns true if the clients may use a prompt with these arguments. A denied prompt appears not to exist.
    pub fn admits_prompt(&self, prompt: &PromptEntry, arguments: Option<&[u8]>) -> bool {
        let server = self.server(prompt.upstream);
        let own = prompt.identity.strip_prefix(server).and_then(|rest| rest.strip_prefix(SEPARATOR));
        let also = || meant(self.naming, server, own.unwrap_or_default());
        let what = (Annotations::default(), arguments);
        self.restrictions.admits_named((server, ListKind::Prompts, &prompt.identity), also, what)
    }

    /// The server of a tool that is withheld until somebody approves its definition.
    pub fn held_by(&self, name: &str) -> Option<&str> {
        self.held.get(name).map(|server| &**server)
    }

    /// The servers of withheld tools, one for each tool.
    pub fn holders(&self) -> impl Iterator<Item = &str> {
        self.held.values().map(|server| &**server)
    }

    /// The search over the tools; `None` if all tools are listed.
    pub fn search(&self) -> Option<&ToolSearch> {
        self.search.as_ref()
    }

    /// Returns true if the clients may use a resource. A denied resource appears not to exist.
    pub(super) fn admits_resource(&self, upstream: UpstreamId, uri: &str) -> bool {
        self.resources.admits(uri)
            && self.restrictions.admits(self.server(upstream), ListKind::Resources, uri)
    }

    pub(crate) fn server(&self, upstream: UpstreamId) -> &str {
        self.upstreams.iter().find(|one| one.id == upstream).map_or("", |one| &*one.name)
    }

    /// The forms, as JSON text, in which the tool's server may interpret a call's arguments; none if no rule has
    /// conditions on arguments. The rules must allow each of these forms as well.
    pub fn readings(&self, tool: &ToolEntry, arguments: Option<&[u8]>) -> Vec<String> {
        if !self.restrictions.look_at_arguments() {
            return Vec::new();
        }
        let catalogue = present(&self.upstreams).find(|(upstream, _)| upstream.id == tool.upstream);
        let Some(reader) = catalogue.and_then(|(_, catalogue)| catalogue.reader.as_ref()) else {
            return Vec::new();
        };
        let real = tool.real_name.as_deref();
        let real = real.and_then(|name| unquote(name.strip_prefix(b"\"")?.strip_suffix(b"\"")?));
        reader.readings(real.as_deref().unwrap_or(&tool.name), arguments.unwrap_or(b"{}"))
    }

    /// Returns true if, according to the current lists, the clients may use nothing from a server. Then neither
    /// side learns anything about the other.
    pub fn denies_server(&self, upstream: UpstreamId) -> bool {
        self.restrictions.deny_server(upstream)
    }

    /// Returns true if the clients may use this method to request unlisted items from a server. If the clients may use none of
    /// the server's listed items, they may not request unlisted items either. If the server lists nothing, the rules decide
    /// about the method.
    pub fn reaches(&self, upstream: UpstreamId, method: &str) -> bool {
        self.restrictions.open_method(upstream, self.server(upstream), method)
    }

    /// The server of an item that exists, but that the rules withhold from these clients, or at least deny in the current
    /// request; empty if the server of a resource is not known here. Only the audit log distinguishes such an item from a
    /// missing one.
    pub fn withheld_by(&self, kind: ListKind, name: &str) -> Option<&str> {
        // Without rules, nothing is withheld.
        if self.restrictions.are_none() {
            return None;
        }
        let listed = match kind {
            ListKind::Tools => self.tools.get(name).map(|tool| self.server(tool.upstream)),
            ListKind::Prompts => self.prompts.get(name).map(|prompt| self.server(prompt.upstream)),
            ListKind::Resources | ListKind::Templates => {
                let is_listed = self.resources.is_listed(name).then_some("");
                is_listed.or_else(|| self.restrictions.hide(ListKind::Templates, |own| covers(own, name)))
            }
        };
        listed.or_else(|| self.restrictions.hide(kind, |own| own == name))
    }

    /// The possible owners of a method outside the core protocol: upstreams that declare an extension, experiment or tasks; if
    /// there are several, those whose declaration names the method's first segment. An upstream from which the
    /// clients may use nothing owns no method.
    pub fn extension_owners(&self, method: &str) -> Vec<(UpstreamId, &str)> {
        const PLACES: [&str; 3] = ["extensions", "experimental", "tasks"];
        let declaring: Vec<(&ViewSource, &UpstreamCatalogue)> = present(&self.upstreams)
            .filter(|(_, o)| PLACES.iter().any(|place| declares(&o.hello.capabilities, place, None)))
            .filter(|(upstream, _)| self.reaches(upstream.id, method))
            .collect();
        let family = method.split('/').next().unwrap_or(method);
        let naming: Vec<&(&ViewSource, &UpstreamCatalogue)> =
            declaring.iter().filter(|(_, o)| names_extension(&o.hello.capabilities, family)).collect();
        let owners =
            if declaring.len() > 1 && !naming.is_empty() { naming } else { declaring.iter().collect() };
        owners.into_iter().map(|(u, _)| (u.id, &*u.name)).collect()
    }

    /// Returns true if the pages of the view's lists are ready, and so is the index of its tools, if it has one.
    pub fn has_pages(&self) -> bool {
        self.pages.iter().all(Pages::is_ready) && self.search.as_ref().is_none_or(ToolSearch::is_ready)
    }

    /// The size of the ready pages and of the index, in bytes.
    pub fn page_bytes(&self) -> usize {
        self.pages.iter().map(Pages::bytes).sum::<usize>() + self.search.as_ref().map_or(0, ToolSearch::bytes)
    }

    /// The number of items in the view's lists.
    pub fn items(&self) -> usize {
        self.tools.len() + self.prompts.len() + self.resources.len()
    }

    /// The same view without ready pages and without index: look-ups by name still work, but lists and searches cannot be
    /// answered from it.
    #[must_use]
    pub fn without_pages(&self) -> Self {
        let pages = [0, 1, 2, 3].map(|list: usize| self.pages[list].without_text());
        let search = self.search.as_ref().map(|_| ToolSearch::without_index());
        Self { search, pages, ..self.clone() }
    }

    /// The same view with these former names of its items.
    #[must_use]
    pub fn with_former(&self, former: Arc<FormerNames>) -> Self {
        Self { former, ..self.clone() }
    }

    /// The ready pages of a list.
    pub fn pages(&self, kind: ListKind) -> &Pages {
        &self.pages[kind.index()]
    }

    /// The merged server capabilities, a JSON object.
    pub fn capabilities(&self) -> &str {
        self.description.capabilities()
    }

    /// Returns true if a capability, or a flag of it, is declared, or may be supported without a declaration.
    pub fn declares(&self, name: &str, flag: Option<&str>) -> bool {
        self.description.declares(name, flag)
    }

    /// The merged instructions.
    pub fn instructions(&self) -> Option<&str> {
        self.description.instructions()
    }

    /// Returns true while the lists must not be cached: some are outdated, or a server may still join.
    pub fn is_provisional(&self) -> bool {
        self.is_provisional
    }

    /// The prepared result of `server/discover`.
    pub fn discover(&self) -> &CacheableResult {
        self.description.discover()
    }

    /// The era of an available upstream.
    pub fn upstream_era(&self, upstream: UpstreamId) -> Option<&'static Era> {
        present(&self.upstreams).find(|(u, _)| u.id == upstream).map(|(_, catalogue)| catalogue.hello.era)
    }

    /// All upstreams of the profile that the clients may use at all, with their catalogues or the reasons for their
    /// absence.
    pub fn upstreams(&self) -> &[ViewSource] {
        &self.upstreams
    }

    /// Returns true if an available upstream declares a capability, or a flag of it.
    pub fn upstream_declares(&self, id: UpstreamId, name: &str, flag: Option<&str>) -> bool {
        let mut own = present(&self.upstreams).filter(|(upstream, _)| upstream.id == id);
        own.any(|(_, catalogue)| declares(&catalogue.hello.capabilities, name, flag))
    }

    /// Returns true if any upstream is available.
    pub fn is_served(&self) -> bool {
        present(&self.upstreams).next().is_some()
    }

    /// Irregularities, for people to read.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns true if a tool or prompt with this name may belong to this server. If names start with the name of
    /// their server, the prefix decides, unless no server has that prefix.
    pub fn may_be_of(&self, name: &str, server: &str) -> bool {
        let is_prefix =
            |server: &str| name.strip_prefix(server).is_some_and(|rest| rest.starts_with(SEPARATOR));
        self.naming != Naming::Prefix
            || is_prefix(server)
            || !self.upstreams.iter().any(|one| is_prefix(&one.name))
    }

    /// The possible reason why the name of a tool or prompt is missing: an absent upstream, if the name starts with
    /// its prefix, or the first absent upstream, if no upstream is available. Servers from which the clients may
    /// use nothing are never mentioned. For a server from which the clients may use some items, the reason is the
    /// same for any name, because the gateway does not know the items of an absent server.
    pub fn absence_behind(&self, name: &str) -> Option<(&str, &UpstreamAbsence)> {
        let may = |server: &str| self.restrictions.open_names(server, self.naming != Naming::Prefix);
        let all = self.upstreams.iter().filter_map(|u| Some((&*u.name, u.catalogue.as_ref().err()?)));
        let mut absent = all.filter(|(server, _)| may(server));
        let prefix = |server: &str| name.strip_prefix(server).is_some_and(|rest| rest.starts_with(SEPARATOR));
        let owner = absent.clone().find(|(server, _)| prefix(server));
        owner.or_else(|| absent.next().filter(|_| !self.is_served()))
    }
}

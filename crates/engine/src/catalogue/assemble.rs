//! Builds a view from parts: the public name and the owner of each item, and the data about all servers together.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use config::{Glob, ListedNames, Naming, Profile, ToolMode, ToolSetting};
use proto::bridge::tasks::without_list;
use smallvec::SmallVec;

use super::capabilities::merge;
use super::entry::{ToolChanges, renames_among};
use super::fixed_arguments::FixedArguments;
use super::mirrored::{MirroredParam, annotated};
use super::names::{NameBook, PublicNames, identity, meant, opened};
use super::pages::Shown;
use super::part::Part;
use super::restrictions::HiddenItems;
use super::tool_limits::ToolLimits;
use super::tool_search::{SearchedItem, ToolSearch, is_for_apps_only, own_tools};
use super::uris::{PublicUri, PublicUris};
use super::validator::{KnownNames, LazyValidator};
use super::{Item, ListKind, PromptEntry, ToolEntry, UpstreamId, ViewSource, ViewSpec};
use crate::access::Annotations;
use crate::meters::ToolMeter;
use crate::search::OWN_TOOLS;

/// Tools by their public names. Views for other protocol versions share the entries, including their compiled schemas.
pub(super) type ToolTable = HashMap<Arc<str>, Arc<ToolEntry>>;

/// An item under its public name.
struct NamedItem<'p, 'a> {
    part: &'p Part<'a>,
    /// The item as its server wrote it.
    own: &'a Item,
    /// The item as clients see it.
    shown: &'p Item,
    name: String,
    identity: String,
    /// False for a tool that clients find only by searching.
    is_listed: bool,
}

/// The tools of a view.
pub(super) struct AssembledTools<'p> {
    pub(super) table: ToolTable,
    /// The gateway's own tools, which are listed first.
    pub(super) own: Vec<Item>,
    /// The tools that are listed.
    pub(super) listed: Vec<Shown<'p>>,
    /// The search over the tools, if the profile has one.
    pub(super) search: Option<ToolSearch>,
    /// The pages of MCP Apps to which the tools link, by their public URIs.
    pub(super) pages: Vec<(String, UpstreamId)>,
}

pub(super) struct Assembly<'p, 'a> {
    pub(super) spec: ViewSpec<'p>,
    pub(super) parts: &'p [Part<'a>],
    pub(super) uris: &'p PublicUris,
    pub(super) notes: Vec<String>,
    /// The items that the clients may not use, by public name.
    pub(super) hidden: HiddenItems,
    /// The servers that list items; the flag is true if the clients may use none of the server's items.
    pub(super) barred: HashMap<UpstreamId, bool>,
}

impl<'p, 'a> Assembly<'p, 'a> {
    /// The items of a list with their public names, according to the rules of the profile.
    fn named(&mut self, kind: ListKind, rules: ListedNames<'_>) -> Vec<NamedItem<'p, 'a>> {
        let parts = self.parts;
        let all: Vec<(&'p Part<'a>, &'a Item, &'p Item)> = parts
            .iter()
            .flat_map(|part| part.items(kind).map(move |(own, shown)| (part, own, shown)))
            .collect();
        let each = all.iter().map(|(part, own, _)| (&*part.upstream.name, own.key.as_str()));
        let naming = self.spec.profile.names;
        let public = PublicNames::new(kind, (naming, self.spec.limit), &self.spec.profile.servers, each);
        let mut taken: HashMap<String, Arc<str>> = HashMap::new();
        if kind == ListKind::Tools && self.searches() {
            taken.extend(OWN_TOOLS.map(|name| (name.to_owned(), "the gateway itself".into())));
        }
        let mut named = Vec::with_capacity(all.len());
        let (mut fresh, mut kept) = (NameBook::default(), self.spec.names.map(opened));
        let book = kept.as_deref_mut().unwrap_or(&mut fresh);
        if kind == ListKind::Tools {
            taken.extend(self.withheld_names(book));
        }
        for (part, own, shown) in all {
            let upstream = part.upstream;
            let Some(given) = public.shown(&upstream.name, &own.key, rules, book) else { continue };
            let setting = self.setting(kind, &upstream.name, own);
            let name = setting.and_then(|setting| setting.name.clone()).unwrap_or(given);
            let identity = identity(&upstream.name, &own.key);
            let is_usual = naming == Naming::Prefix && name == identity;
            self.note_displaced(kind, (&upstream.name, own, &identity), &name, book);
            if !taken.contains_key(&name) {
                book.note(kind, (&upstream.name, &own.key), &name, is_usual);
            }
            if !self.admits(kind, upstream, &identity, own) {
                self.hidden.add(kind, [name, identity], &upstream.name);
                continue;
            }
            if let Some(other) = taken.get(&name) {
                self.notes.push(format!(
                    "{}: {:?} of {} is hidden: {other} already uses the name {name:?}; rename one of them",
                    kind.member(),
                    own.key,
                    upstream.name
                ));
                continue;
            }
            taken.insert(name.clone(), upstream.name.clone());
            let is_listed = kind != ListKind::Tools
                || self.lists(own, || public.given(&upstream.name, &own.key, book).into_owned());
            named.push(NamedItem { part, own, shown, name, identity, is_listed });
        }
        if kind == ListKind::Tools {
            self.notes.extend(covered_names(&named));
        }
        named
    }

    /// Adds a note if another item was renamed to this item's identity.
    fn note_displaced(
        &mut self,
        kind: ListKind,
        (server, own, identity): (&str, &Item, &str),
        name: &str,
        book: &NameBook,
    ) {
        if self.spec.profile.names != Naming::Prefix || name == identity {
            return;
        }
        if let Some((other_server, other)) =
            book.holder(kind, identity).filter(|holder| *holder != (server, &own.key))
        {
            self.notes.push(format!(
                "{}: {:?} of {server} is shown as {name:?}, because {other:?} of {other_server} is called {identity:?}; rename \
                 one of them",
                kind.member(),
                own.key
            ));
        }
    }

    /// Returns true if clients find the tools by searching.
    fn searches(&self) -> bool {
        self.spec.profile.tools.is_searched()
    }

    /// Returns true if a tool is listed, and not only found by searching. Tools for apps are listed, because apps need them and
    /// searches do not find them. `given` returns the name to which the profile's patterns refer.
    fn lists(&self, own: &Item, given: impl FnOnce() -> String) -> bool {
        let rules = &self.spec.profile.tools;
        match rules.mode {
            ToolMode::Direct => true,
            _ if is_for_apps_only(&own.text) => true,
            ToolMode::Search => false,
            ToolMode::Hybrid => {
                let given = given();
                rules.direct.iter().any(|glob| glob.matches(&given))
            }
        }
    }

    /// The profile's setting for an item; only tools have settings.
    pub(super) fn setting(&self, kind: ListKind, server: &str, own: &Item) -> Option<&'p ToolSetting> {
        let profile: &'p Profile = self.spec.profile;
        if kind == ListKind::Tools { profile.tool_settings.of(server, &own.key) } else { None }
    }

    /// Returns true if the rules allow an item, or a call to it with some arguments. `name` is the item's identity
    /// or URI.
    pub(super) fn allows(&self, kind: ListKind, upstream: &ViewSource, name: &str, own: &Item) -> bool {
        let naming = self.spec.profile.names;
        self.spec.guard.is_none_or(|guard| {
            let is_named = matches!(kind, ListKind::Tools | ListKind::Prompts);
            let also = if is_named { meant(naming, &upstream.name, &own.key) } else { SmallVec::new() };
            let target = guard.target(&upstream.name, kind, name).also_known_as(&also);
            let said = if kind == ListKind::Tools {
                Annotations::of_tool(&own.text)
            } else {
                Annotations::default()
            };
            guard.admits(&target.annotated(said))
        })
    }

    /// Returns true if the clients may use an item. Also records whether the clients may use none of the server's items.
    fn admits(&mut self, kind: ListKind, upstream: &ViewSource, name: &str, own: &Item) -> bool {
        let is_admitted = self.allows(kind, upstream, name, own);
        *self.barred.entry(upstream.id).or_insert(true) &= !is_admitted;
        is_admitted
    }

    /// The tools. An entry that equals its counterpart in the table `before` is taken from that table.
    pub(super) fn tools(&mut self, before: Option<&ToolTable>) -> AssembledTools<'p> {
        let (mut table, mut listed, mut searched) = (HashMap::new(), Vec::new(), Vec::new());
        let mut pages = Vec::new();
        let profile = self.spec.profile;
        for NamedItem { part, own, shown: item, name, identity, is_listed } in
            self.named(ListKind::Tools, profile.tools.names())
        {
            let links = self.uris.links(part.upstream.id, &own.key).iter();
            let links = links.filter(|(link, _)| profile.resources.admits(link));
            pages.extend(links.map(|(_, public)| (public.clone(), part.upstream.id)));
            // The server's own schema; the schema that clients see may be shorter.
            let schema = own.member("inputSchema");
            let Some(mirrored) = self.mirrored(part, own, schema.as_deref()) else { continue };
            let (real_name, key) = renamed(own, item, &name);
            let setting = profile.tool_settings.of(&part.upstream.name, &own.key);
            let set = setting.and_then(|set| set.input_schema.clone());
            let names = part.catalogue.reader.as_ref().filter(|_| set.is_none());
            let names =
                names.map(|reader| KnownNames { reader: reader.clone(), tool: own.key.as_str().into() });
            // A catalogue that may be outdated must not reject arguments that may be valid by now.
            let is_current = part.catalogue.is_confirmed && part.catalogue.failure(ListKind::Tools).is_none();
            let (schema, names) = if is_current { (schema, names) } else { (None, None) };
            let name: Arc<str> = name.into();
            let identity = (identity != *name).then(|| identity.into());
            let annotations = Annotations::of_tool(&own.text);
            let limits = setting.and_then(|setting| {
                let (limits, note) = ToolLimits::of(setting, own, annotations);
                self.notes
                    .extend(note.map(|note| format!("tool {:?} of {}: {note}", own.key, part.upstream.name)));
                limits
            });
            let changes = ToolChanges::of(identity, setting.and_then(FixedArguments::of), limits);
            let entry = ToolEntry {
                upstream: part.upstream.id,
                name: name.clone(),
                real_name,
                mirrored: mirrored.into(),
                tasks: part.task_support(own),
                annotations,
                has_output_schema: own.member("outputSchema").is_some(),
                meter: ToolMeter::default(),
                changes,
                validator: LazyValidator::new(set.or(schema), self.spec.schema_bytes, names),
            };
            let known = before.and_then(|before| before.get(&name)).filter(|known| known.is_like(&entry));
            let entry = known.cloned().unwrap_or_else(|| Arc::new(entry));
            if is_listed {
                listed.push((item, key));
            }
            if self.searches() && !is_for_apps_only(&own.text) {
                let (server, own_name, entry) = (&*part.upstream.name, own.key.as_str(), entry.clone());
                searched.push(SearchedItem { server, own_name, shown: item, entry });
            }
            table.insert(entry.name.clone(), entry);
        }
        let own = if self.searches() { own_tools(&searched, self.spec.era) } else { Vec::new() };
        let search = self.searches().then(|| ToolSearch::new(&searched));
        AssembledTools { table, own, listed, search, pages }
    }

    /// The arguments that headers mirror, for the client or for the server; `None` for a tool that must not be called
    /// over HTTP.
    fn mirrored(&mut self, part: &Part<'_>, own: &Item, schema: Option<&[u8]>) -> Option<Vec<MirroredParam>> {
        let sent = part.catalogue.hello.era.mirrored_headers;
        if !sent && !self.spec.era.mirrored_headers {
            return Some(Vec::new());
        }
        match annotated(schema.unwrap_or_default()) {
            Ok(mirrored) => Some(mirrored),
            // Only HTTP has headers, so the tool can be used over a pipe, or if the server's era has no such headers.
            Err(_) if !sent || !part.upstream.over_http => Some(Vec::new()),
            Err(why) => {
                self.notes.push(format!("tool {:?} of {} is left out: {why}", own.key, part.upstream.name));
                None
            }
        }
    }

    pub(super) fn prompts(&mut self) -> (HashMap<Arc<str>, PromptEntry>, Vec<Shown<'p>>) {
        let (mut entries, mut shown) = (HashMap::new(), Vec::new());
        let profile = self.spec.profile;
        for NamedItem { part, own, shown: item, name, identity, .. } in
            self.named(ListKind::Prompts, profile.prompts.names())
        {
            let (real_name, key) = renamed(own, item, &name);
            let name: Arc<str> = name.into();
            let (upstream, identity) = (part.upstream.id, identity.into());
            entries.insert(name.clone(), PromptEntry { upstream, name, identity, real_name });
            shown.push((item, key));
        }
        (entries, shown)
    }

    /// The resources or templates, with their public URIs. If another server has the same public URI, the item is left out.
    pub(super) fn uris(&mut self, kind: ListKind) -> (Vec<(String, UpstreamId)>, Vec<Shown<'p>>) {
        let mut taken: HashMap<&str, &str> = HashMap::new();
        let (mut owners, mut shown) = (Vec::new(), Vec::new());
        let uris = self.uris;
        for part in self.parts {
            let upstream = part.upstream;
            for (own, item) in part.items(kind) {
                if !self.spec.profile.resources.admits(&own.key) {
                    continue;
                }
                let found = uris.shown(kind, upstream.id, &item.key);
                let public = if let PublicUri::Marked(public) = found { public } else { &item.key };
                if !self.admits(kind, upstream, &item.key, own) {
                    self.hidden.add(kind, [public.to_owned()], &upstream.name);
                    continue;
                }
                if let Some(other) =
                    taken.get(public).copied().or((found == PublicUri::Taken).then_some("another server"))
                {
                    let (key, name) = (&item.key, &upstream.name);
                    self.notes.push(format!("{key} of {name} is hidden: {other} has the same URI"));
                    continue;
                }
                taken.insert(public, &upstream.name);
                owners.push((public.to_owned(), upstream.id));
                shown.push((item, (found != PublicUri::Own).then(|| public.to_owned())));
            }
        }
        (owners, shown)
    }

    /// The servers from which the clients may use nothing. If a server lists items, this means that all of them are
    /// denied; if it lists nothing, it means that the rules allow nothing from it.
    pub(super) fn denied(&self, upstreams: &[ViewSource]) -> Vec<UpstreamId> {
        let opens = |server: &str| self.spec.guard.is_none_or(|guard| guard.opens(server, &[Glob::any()]));
        let is_shut = |u: &&ViewSource| self.barred.get(&u.id).copied().unwrap_or_else(|| !opens(&u.name));
        upstreams.iter().filter(is_shut).map(|u| u.id).collect()
    }
}

/// Returns true while a missing server may still join, so lists must not be cached.
pub(super) fn is_awaited(upstreams: &[ViewSource]) -> bool {
    upstreams.iter().any(|u| u.catalogue.as_ref().is_err_and(|absence| absence.retry))
}

/// The merged capabilities. The gateway's lists can change whenever a server joins or leaves, regardless of what the server
/// declares.
pub(super) fn capabilities(spec: &ViewSpec<'_>, parts: &[&Part<'_>], upstreams: &[ViewSource]) -> String {
    let awaited = is_awaited(upstreams);
    let declared = |name: &str| awaited || parts.iter().any(|part| part.declares(name));
    let changing: Vec<String> = ["tools", "prompts", "resources"]
        .into_iter()
        .filter(|name| declared(name))
        .map(|name| format!("\"{name}\":{{\"listChanged\":true}}"))
        .collect();
    let changing = format!("{{{}}}", changing.join(","));
    let own = parts.iter().map(|part| &*part.capabilities);
    // Clients read the rest of a shortened result as a resource.
    let rests: &[u8] = if spec.profile.has_rests { b"{\"resources\":{}}" } else { b"{}" };
    let merged = merge(std::iter::once(changing.as_bytes()).chain(own).chain([rests]));
    let unlisted = || without_list(&merged).filter(|_| renames_among(spec.era, upstreams, spec.separate));
    unlisted().unwrap_or(merged)
}

/// At most eight notes on tools whose new names are the own names of other tools. Pages of MCP Apps that call one
/// of the other tools would reach the renamed tool.
fn covered_names(named: &[NamedItem<'_, '_>]) -> Vec<String> {
    let is_new = |one: &&NamedItem<'_, '_>| one.name != one.own.key && one.name != one.identity;
    let new: HashMap<&str, &NamedItem<'_, '_>> =
        named.iter().filter(is_new).map(|one| (&*one.name, one)).collect();
    let covered = named.iter().filter_map(|other| Some((new.get(&*other.own.key)?, other)));
    let notes = covered.filter(|(one, other)| one.identity != other.identity).map(|(one, other)| {
        let (own, server, name) = (&one.own.key, &one.part.upstream.name, &one.name);
        let (other, shown) = (&other.part.upstream.name, &other.name);
        format!(
            "tools: {own:?} of {server} is shown as {name:?}, which is also the original name of a tool of {other} (shown as \
             {shown:?}). A call to {name:?} from a page of an MCP App reaches {own:?} of {server}; choose another name"
        )
    });
    notes.take(8).collect()
}

/// The name for the upstream and the key for the list, if the public name differs. The name is a slice of the
/// catalogue, because a slice of the text for clients would keep the whole translated item in memory.
fn renamed(own: &Item, shown: &Item, public: &str) -> (Option<Bytes>, Option<String>) {
    let real = (own.key != public).then(|| own.key_span.share(&own.text));
    let key = (shown.key != public).then(|| public.to_owned());
    (real, key)
}

/// The instructions of the profile and its servers.
pub(super) fn instructions(profile: &Profile, parts: &[&Part<'_>], upstreams: usize) -> Option<String> {
    let own = profile.instructions.as_ref().map(|text| text.expose().to_owned());
    let said: Vec<(&str, &str)> = parts
        .iter()
        .filter_map(|part| Some((&*part.upstream.name, part.catalogue.hello.instructions.as_deref()?)))
        .collect();
    let theirs = match said.as_slice() {
        [] => None,
        [(_, only)] if upstreams == 1 => Some((*only).to_owned()),
        many => {
            Some(many.iter().map(|(name, text)| format!("# {name}\n{text}")).collect::<Vec<_>>().join("\n\n"))
        }
    };
    match (own, theirs) {
        (Some(own), Some(theirs)) => Some(format!("{own}\n\n{theirs}")),
        (own, theirs) => own.or(theirs),
    }
}

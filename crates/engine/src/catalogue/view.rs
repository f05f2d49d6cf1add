//! What one kind of client sees at one profile: all upstreams' offers as one server's.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use proto::era::{CacheHint, CacheScope, Era, discover_result};

use super::capabilities::{declares, merge, names, names_extension};
use super::mirrored::{MirroredParam, annotated};
use super::names::{SEPARATOR, clashes, prefixed};
use super::template::covers;
use super::validator::LazyValidator;
use super::{Item, ListKind, Offer, Pages};
use crate::config::{NameRules, Naming, Profile};

/// An upstream's place in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UpstreamId(pub u32);

/// Why an upstream has nothing to offer to this kind of client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absence {
    /// In words, for the one who misses it.
    pub reason: String,
    /// Whether it may be there when it is tried again.
    pub retry: bool,
    /// The era that it speaks instead, when that is why.
    pub speaks: Option<&'static Era>,
}

/// One upstream's part in a view.
#[derive(Debug, Clone)]
pub struct UpstreamOffer {
    /// Its place in the configuration.
    pub id: UpstreamId,
    /// Its name there.
    pub name: Arc<str>,
    /// Whether requests to it mirror arguments in headers.
    pub over_http: bool,
    /// What it offers, or why nothing.
    pub offer: Result<Arc<Offer>, Absence>,
}

/// What a view is made for.
#[derive(Debug, Clone, Copy)]
pub struct ViewSpec<'a> {
    /// The clients' era.
    pub era: &'static Era,
    /// The profile.
    pub profile: &'a Profile,
    /// The gateway's name and version, a JSON object.
    pub server_info: &'a str,
    /// The longest input schema that is compiled, in bytes.
    pub schema_bytes: usize,
}

/// A tool as it is called.
#[derive(Debug)]
pub struct ToolEntry {
    /// Whose it is.
    pub upstream: UpstreamId,
    /// Its name there, a JSON string; `None` when it is the public one.
    pub real_name: Option<Bytes>,
    /// Arguments that requests mirror in headers.
    pub mirrored: Vec<MirroredParam>,
    validator: LazyValidator,
}

impl ToolEntry {
    /// Checks arguments, JSON text, against the input schema.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self, arguments: Option<&[u8]>) -> Result<(), super::Invalid> {
        self.validator.check(arguments)
    }
}

/// A prompt as it is asked for.
#[derive(Debug)]
pub struct PromptEntry {
    /// Whose it is.
    pub upstream: UpstreamId,
    /// Its name there, a JSON string; `None` when it is the public one.
    pub real_name: Option<Bytes>,
}

/// The merged catalogue of a profile for the clients of one era with the same capabilities.
#[derive(Debug)]
pub struct View {
    era: &'static Era,
    tools: HashMap<String, ToolEntry>,
    prompts: HashMap<String, PromptEntry>,
    resources: HashMap<String, UpstreamId>,
    templates: Vec<(String, UpstreamId)>,
    pages: [Pages; 4],
    capabilities: String,
    /// The names of what is declared, since every request asks for one.
    declared: Vec<String>,
    instructions: Option<String>,
    discover: Bytes,
    upstreams: Vec<UpstreamOffer>,
    notes: Vec<String>,
}

impl View {
    /// Merges offers, in the order of the profile's servers.
    pub fn build(spec: ViewSpec<'_>, upstreams: Vec<UpstreamOffer>) -> Self {
        let mut b = Builder { spec, upstreams: &upstreams, notes: Vec::new() };
        let (tools, tool_items) = b.tools();
        let (prompts, prompt_items) = b.prompts();
        let (resources, resource_items) = b.uris(ListKind::Resources);
        let (templates, template_items) = b.uris(ListKind::Templates);
        let notes = b.notes;
        let cache = present(&upstreams)
            .map(|(_, offer)| offer.cache)
            .reduce(CacheHint::and)
            .unwrap_or(CacheHint { ttl_ms: 0, scope: CacheScope::Private });
        let pages = |kind, items: &[_]| Pages::lay_out(kind, items, spec.era, cache, spec.server_info);
        let capabilities = capabilities(&upstreams);
        let instructions = instructions(spec.profile, &upstreams);
        let discover =
            discover_result(spec.era, &capabilities, spec.server_info, instructions.as_deref(), cache);
        Self {
            era: spec.era,
            pages: [
                pages(ListKind::Tools, &tool_items),
                pages(ListKind::Prompts, &prompt_items),
                pages(ListKind::Resources, &resource_items),
                pages(ListKind::Templates, &template_items),
            ],
            resources: resources.into_iter().collect(),
            tools,
            prompts,
            templates,
            declared: names(&capabilities),
            capabilities,
            instructions,
            discover,
            notes,
            upstreams,
        }
    }

    /// The era that it is laid out for.
    pub fn era(&self) -> &'static Era {
        self.era
    }

    /// The tool with this public name.
    pub fn tool(&self, name: &str) -> Option<&ToolEntry> {
        self.tools.get(name)
    }

    /// The prompt with this public name.
    pub fn prompt(&self, name: &str) -> Option<&PromptEntry> {
        self.prompts.get(name)
    }

    /// Whose resource a URI is: by the lists, by the templates, or because there is only one server with resources.
    pub fn resource_owner(&self, uri: &str) -> Option<UpstreamId> {
        if let Some(owner) = self.resources.get(uri) {
            return Some(*owner);
        }
        if let Some((_, owner)) =
            self.templates.iter().find(|(template, _)| template == uri || covers(template, uri))
        {
            return Some(*owner);
        }
        self.sole_with("resources")
    }

    /// The only present upstream that declares a capability.
    pub fn sole_with(&self, capability: &str) -> Option<UpstreamId> {
        let mut having =
            present(&self.upstreams).filter(|(_, o)| declares(&o.hello.capabilities, capability, None));
        let first = having.next()?;
        having.next().is_none().then_some(first.0.id)
    }

    /// The only present upstream.
    pub fn sole(&self) -> Option<UpstreamId> {
        let mut all = present(&self.upstreams);
        let first = all.next()?;
        all.next().is_none().then_some(first.0.id)
    }

    /// Who may own a method outside the core: those that declare an extension, experiment or tasks; if several do, those
    /// that name the method's first segment there.
    pub fn extension_owners(&self, method: &str) -> Vec<(UpstreamId, &str)> {
        const PLACES: [&str; 3] = ["extensions", "experimental", "tasks"];
        let declaring: Vec<(&UpstreamOffer, &Offer)> = present(&self.upstreams)
            .filter(|(_, o)| PLACES.iter().any(|place| declares(&o.hello.capabilities, place, None)))
            .collect();
        let family = method.split('/').next().unwrap_or(method);
        let naming: Vec<&(&UpstreamOffer, &Offer)> =
            declaring.iter().filter(|(_, o)| names_extension(&o.hello.capabilities, family)).collect();
        let owners =
            if declaring.len() > 1 && !naming.is_empty() { naming } else { declaring.iter().collect() };
        owners.into_iter().map(|(u, _)| (u.id, &*u.name)).collect()
    }

    /// The ready pages of a list.
    pub fn pages(&self, kind: ListKind) -> &Pages {
        &self.pages[kind.index()]
    }

    /// The merged server capabilities, a JSON object.
    pub fn capabilities(&self) -> &str {
        &self.capabilities
    }

    /// Whether a capability, or a flag of it, is declared.
    pub fn declares(&self, name: &str, flag: Option<&str>) -> bool {
        self.declared.iter().any(|declared| declared == name)
            && (flag.is_none() || declares(self.capabilities.as_bytes(), name, flag))
    }

    /// The merged instructions.
    pub fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// The ready result of `server/discover`.
    pub fn discover(&self) -> &Bytes {
        &self.discover
    }

    /// All upstreams of the profile, with what they offer or why not.
    pub fn upstreams(&self) -> &[UpstreamOffer] {
        &self.upstreams
    }

    /// Whether any upstream is there.
    pub fn is_served(&self) -> bool {
        present(&self.upstreams).next().is_some()
    }

    /// What was odd, for people to read.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Why a name may be missing: the absent upstream whose prefix it carries, or the only absent ones.
    pub fn absence_behind(&self, name: &str) -> Option<(&str, &Absence)> {
        let mut absent = self.upstreams.iter().filter_map(|u| Some((&*u.name, u.offer.as_ref().err()?)));
        let prefix = |server: &str| name.strip_prefix(server).is_some_and(|rest| rest.starts_with(SEPARATOR));
        let owner = absent.clone().find(|(server, _)| prefix(server));
        owner.or_else(|| absent.next().filter(|_| !self.is_served()))
    }
}

fn present(upstreams: &[UpstreamOffer]) -> impl Iterator<Item = (&UpstreamOffer, &Offer)> + Clone {
    upstreams.iter().filter_map(|u| Some((u, u.offer.as_deref().ok()?)))
}

/// The merged capabilities. Lists of the gateway can change whenever a server comes or goes, whatever it says itself.
fn capabilities(upstreams: &[UpstreamOffer]) -> String {
    let own = present(upstreams).map(|(_, offer)| offer.hello.capabilities.as_ref());
    let awaited = upstreams.iter().any(|u| u.offer.as_ref().is_err_and(|absence| absence.retry));
    let declared = |name: &str| awaited || own.clone().any(|text| declares(text, name, None));
    let changing: Vec<String> = ["tools", "prompts", "resources"]
        .into_iter()
        .filter(|name| declared(name))
        .map(|name| format!("\"{name}\":{{\"listChanged\":true}}"))
        .collect();
    let changing = format!("{{{}}}", changing.join(","));
    merge(std::iter::once(changing.as_bytes()).chain(own.clone()))
}

fn instructions(profile: &Profile, upstreams: &[UpstreamOffer]) -> Option<String> {
    let own = profile.instructions.as_ref().map(|text| text.expose().to_owned());
    let said: Vec<(&str, &str)> =
        present(upstreams).filter_map(|(u, o)| Some((&*u.name, o.hello.instructions.as_deref()?))).collect();
    let theirs = match said.as_slice() {
        [] => None,
        [(_, only)] if upstreams.len() == 1 => Some((*only).to_owned()),
        many => {
            Some(many.iter().map(|(name, text)| format!("# {name}\n{text}")).collect::<Vec<_>>().join("\n\n"))
        }
    };
    match (own, theirs) {
        (Some(own), Some(theirs)) => Some(format!("{own}\n\n{theirs}")),
        (own, theirs) => own.or(theirs),
    }
}

/// Items as they are laid out: with the text that stands in the place of their key.
type Shown<'a> = Vec<(&'a Item, Option<String>)>;

struct Builder<'a> {
    spec: ViewSpec<'a>,
    upstreams: &'a [UpstreamOffer],
    notes: Vec<String>,
}

impl<'a> Builder<'a> {
    /// The items of a list with their public names, by the rules of the profile.
    fn named(&mut self, kind: ListKind, rules: &NameRules) -> Vec<(&'a UpstreamOffer, &'a Item, String)> {
        let all: Vec<(&UpstreamOffer, &Item)> = present(self.upstreams)
            .flat_map(|(u, o)| o.list(kind).iter().map(move |item| (u, item)))
            .collect();
        let clashing = clashes(all.iter().map(|(u, item)| (&*u.name, item.key.as_str())));
        let mut taken: HashMap<String, Arc<str>> = HashMap::new();
        let mut named = Vec::with_capacity(all.len());
        for (upstream, item) in all {
            let plain = self.spec.profile.names == Naming::Plain && !clashing.contains(item.key.as_str());
            let name = if plain { item.key.clone() } else { prefixed(&upstream.name, &item.key) };
            if !rules.admits(&name) {
                continue;
            }
            let shown = rules.shown_name(&name).to_owned();
            if let Some(other) = taken.get(&shown) {
                self.notes.push(format!(
                    "{}: {:?} of {} is left out, its name {shown:?} belongs to {other}; rename one of them",
                    kind.member(),
                    item.key,
                    upstream.name
                ));
                continue;
            }
            taken.insert(shown.clone(), upstream.name.clone());
            named.push((upstream, item, shown));
        }
        named
    }

    fn tools(&mut self) -> (HashMap<String, ToolEntry>, Shown<'a>) {
        let (mut entries, mut shown) = (HashMap::new(), Vec::new());
        for (upstream, item, name) in self.named(ListKind::Tools, &self.spec.profile.tools) {
            let schema = item.member("inputSchema");
            let checked = self.spec.era.mirrored_headers;
            let mirrored = match annotated(schema.as_deref().filter(|_| checked).unwrap_or_default()) {
                Ok(mirrored) => mirrored,
                // Only HTTP has headers: over a pipe the tool is as good as any.
                Err(_) if !upstream.over_http => Vec::new(),
                Err(why) => {
                    self.notes.push(format!("tool {:?} of {} is left out: {why}", item.key, upstream.name));
                    continue;
                }
            };
            let (real_name, key) = renamed(item, &name);
            let validator = LazyValidator::new(schema, self.spec.schema_bytes);
            entries.insert(name, ToolEntry { upstream: upstream.id, real_name, mirrored, validator });
            shown.push((item, key));
        }
        (entries, shown)
    }

    fn prompts(&mut self) -> (HashMap<String, PromptEntry>, Shown<'a>) {
        let (mut entries, mut shown) = (HashMap::new(), Vec::new());
        for (upstream, item, name) in self.named(ListKind::Prompts, &self.spec.profile.prompts) {
            let (real_name, key) = renamed(item, &name);
            entries.insert(name, PromptEntry { upstream: upstream.id, real_name });
            shown.push((item, key));
        }
        (entries, shown)
    }

    /// Resources or templates: URIs stay as they are, and of two alike the first server's counts.
    fn uris(&mut self, kind: ListKind) -> (Vec<(String, UpstreamId)>, Shown<'a>) {
        let mut taken: HashMap<&str, &str> = HashMap::new();
        let (mut owners, mut shown) = (Vec::new(), Vec::new());
        for (upstream, offer) in present(self.upstreams) {
            for item in offer.list(kind).iter().filter(|item| self.spec.profile.resources.admits(&item.key)) {
                if let Some(other) = taken.get(item.key.as_str()) {
                    let (key, name) = (&item.key, &upstream.name);
                    self.notes.push(format!("{key} of {name} is left out: {other} has the same URI"));
                    continue;
                }
                taken.insert(&item.key, &upstream.name);
                owners.push((item.key.clone(), upstream.id));
                shown.push((item, None));
            }
        }
        (owners, shown)
    }
}

/// The name for the upstream and the key for the list, where the public name is another one.
fn renamed(item: &Item, public: &str) -> (Option<Bytes>, Option<String>) {
    if item.key == public {
        return (None, None);
    }
    (Some(item.key_span.share(&item.text)), Some(public.to_owned()))
}

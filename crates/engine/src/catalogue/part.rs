//! An upstream's catalogue as the clients of a view see it: unchanged, or translated to their era.

use std::borrow::Cow;

use proto::bridge::handshake::server_capabilities;
use proto::bridge::shape::item;
use proto::bridge::tasks::{TaskSupport, offers_tasks, supporting_tasks};
use proto::era::{Era, Tasks};

use super::capabilities::declares;
use super::item::listed;
use super::overridden::overridden;
use super::suited::suited;
use super::uris::{PublicUris, linked};
use super::{Item, ListKind, UpstreamCatalogue, ViewSource};
use crate::config::Profile;
use crate::schema_family::SchemaFamily;

/// The catalogue of an available upstream, as seen from an era.
pub(super) struct Part<'a> {
    pub(super) upstream: &'a ViewSource,
    pub(super) catalogue: &'a UpstreamCatalogue,
    /// The upstream's capabilities in the form of the clients' era, a JSON object.
    pub(super) capabilities: Cow<'a, [u8]>,
    /// The upstream's items after translation, in the order of the original ones; `None` if the originals can be shown.
    translated: Option<[Vec<Option<Item>>; 4]>,
}

impl<'a> Part<'a> {
    /// Creates the parts of all available upstreams.
    pub(super) fn all(
        upstreams: &'a [ViewSource],
        clients: (&'static Era, &Profile, &PublicUris),
        notes: &mut Vec<String>,
    ) -> Vec<Self> {
        let here = upstreams.iter().filter_map(|u| Some((u, u.catalogue.as_deref().ok()?)));
        here.map(|(upstream, catalogue)| Self::of(upstream, catalogue, clients, notes)).collect()
    }

    fn of(
        upstream: &'a ViewSource,
        catalogue: &'a UpstreamCatalogue,
        (era, profile, uris): (&'static Era, &Profile, &PublicUris),
        notes: &mut Vec<String>,
    ) -> Self {
        let (from, speaks) = (catalogue.listed_in, catalogue.hello.era);
        let (server, settings) = (&*upstream.name, &profile.tool_settings);
        let family = SchemaFamily::of(profile.tools.schemas);
        let shown_tool = |tool: Item, own: &Item, notes: &mut Vec<String>| {
            let tool = linked(tool, uris.links(upstream.id, &own.key));
            let setting = settings.of(server, &own.key);
            let tool = overridden(ListKind::Tools, tool, setting, era.shapes.described)?;
            Some(match family {
                Some(family) => suited(tool, family, (era, server), notes),
                None => tool,
            })
        };
        let shown_prompt = |prompt: Item, own: &Item| {
            let setting = profile.prompt_settings.of(server, &own.key);
            overridden(ListKind::Prompts, prompt, setting, era.shapes.described)
        };
        let capabilities = if speaks == era {
            Cow::Borrowed(catalogue.hello.capabilities.as_ref())
        } else {
            Cow::Owned(server_capabilities(&catalogue.hello.capabilities, speaks, era).into())
        };
        let changes_tools = settings.concern(server) || family.is_some() || uris.changes_links(upstream.id);
        if from == era && (changes_tools || profile.prompt_settings.concern(server)) {
            let mut one = |kind: ListKind, own: &Item| match kind {
                ListKind::Tools => shown_tool(own.clone(), own, notes),
                ListKind::Prompts => shown_prompt(own.clone(), own),
                _ => Some(own.clone()),
            };
            let shown =
                ListKind::ALL.map(|kind| catalogue.list(kind).iter().map(|own| one(kind, own)).collect());
            return Self { upstream, catalogue, capabilities, translated: Some(shown) };
        }
        if from == era {
            return Self { upstream, catalogue, capabilities, translated: None };
        }
        // A server with the extension decides by itself which call becomes a task, so any call may become one.
        let any_task = speaks.shapes.tasks == Tasks::Extension
            && era.shapes.tasks == Tasks::Experiment
            && offers_tasks(speaks, &catalogue.hello.capabilities);
        let one = |kind: ListKind, own: &Item, notes: &mut Vec<String>| {
            let text = item(listed(kind), &own.text, from, era);
            let text = match kind {
                ListKind::Tools if any_task => text.and_then(|text| supporting_tasks(&text)),
                _ => text,
            };
            let shown = text.and_then(|text| Item::read(kind, text));
            if shown.is_none() {
                let list = kind.member();
                notes.push(format!(
                    "{list}: {:?} of {server} is hidden: protocol version {era} cannot represent it",
                    own.key
                ));
            }
            match kind {
                ListKind::Tools => shown_tool(shown?, own, notes),
                ListKind::Prompts => shown_prompt(shown?, own),
                _ => shown,
            }
        };
        let translated =
            ListKind::ALL.map(|kind| catalogue.list(kind).iter().map(|own| one(kind, own, notes)).collect());
        Self { upstream, catalogue, capabilities, translated: Some(translated) }
    }

    /// The items of a list, each as the upstream wrote it and as clients see it.
    pub(super) fn items(&self, kind: ListKind) -> impl Iterator<Item = (&'a Item, &Item)> + '_ {
        let catalogue: &'a UpstreamCatalogue = self.catalogue;
        catalogue.list(kind).iter().enumerate().filter_map(move |(at, own)| match &self.translated {
            None => Some((own, own)),
            Some(lists) => Some((own, lists[kind.index()][at].as_ref()?)),
        })
    }

    /// Determines if calls to a tool can run as tasks; the tool is in its server's form.
    pub(super) fn task_support(&self, tool: &Item) -> TaskSupport {
        let hello = &self.catalogue.hello;
        match hello.era.shapes.tasks {
            _ if !offers_tasks(hello.era, &hello.capabilities) => TaskSupport::Forbidden,
            Tasks::Extension => TaskSupport::Optional,
            Tasks::None | Tasks::Experiment => TaskSupport::of_tool(&tool.text),
        }
    }

    /// Returns true if a capability is declared.
    pub(super) fn declares(&self, name: &str) -> bool {
        declares(&self.capabilities, name, None)
    }

    /// Returns true if arguments can be completed, as far as this is known: some eras cannot declare it.
    pub(super) fn may_complete(&self) -> bool {
        let own = |name| declares(&self.catalogue.hello.capabilities, name, None);
        if self.catalogue.hello.era.shapes.completions_declared {
            own("completions")
        } else {
            own("prompts") || own("resources")
        }
    }
}

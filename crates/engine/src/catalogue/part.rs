//! An upstream's catalogue as the clients of a view see it: unchanged, or translated to their era.

use std::borrow::Cow;

use config::Profile;
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

/// The changes that a profile makes to the items of one server.
struct ItemChanges<'c> {
    upstream: &'c ViewSource,
    era: &'static Era,
    profile: &'c Profile,
    uris: &'c PublicUris,
    family: Option<&'static SchemaFamily>,
}

impl<'c> ItemChanges<'c> {
    fn of(
        upstream: &'c ViewSource,
        (era, profile, uris): (&'static Era, &'c Profile, &'c PublicUris),
    ) -> Self {
        Self { upstream, era, profile, uris, family: SchemaFamily::of(profile.tools.schemas) }
    }

    /// Returns true if any of the server's items may need changes.
    fn are_any(&self) -> bool {
        let (server, profile) = (&*self.upstream.name, self.profile);
        self.family.is_some()
            || profile.tool_settings.concern(server)
            || profile.prompt_settings.concern(server)
            || self.uris.changes_links(self.upstream.id)
    }

    /// An item with its changes; `None` if it is not shown. `own` is the item as its server wrote it.
    fn applied(&self, kind: ListKind, item: Item, own: &Item, notes: &mut Vec<String>) -> Option<Item> {
        let (server, has_icons) = (&*self.upstream.name, self.era.shapes.described);
        match kind {
            ListKind::Tools => {
                let tool = linked(item, self.uris.links(self.upstream.id, &own.key));
                let setting = self.profile.tool_settings.of(server, &own.key);
                let tool = overridden(kind, tool, setting, has_icons)?;
                Some(match self.family {
                    Some(family) => suited(tool, family, (self.era, server), notes),
                    None => tool,
                })
            }
            ListKind::Prompts => {
                overridden(kind, item, self.profile.prompt_settings.of(server, &own.key), has_icons)
            }
            ListKind::Resources | ListKind::Templates => Some(item),
        }
    }
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
        let server = &*upstream.name;
        let changes = ItemChanges::of(upstream, (era, profile, uris));
        let capabilities = if speaks == era {
            Cow::Borrowed(catalogue.hello.capabilities.as_ref())
        } else {
            Cow::Owned(server_capabilities(&catalogue.hello.capabilities, speaks, era).into())
        };
        if from == era && !changes.are_any() {
            return Self { upstream, catalogue, capabilities, translated: None };
        }
        if from == era {
            let mut one = |kind: ListKind, own: &Item| changes.applied(kind, own.clone(), own, notes);
            let shown =
                ListKind::ALL.map(|kind| catalogue.list(kind).iter().map(|own| one(kind, own)).collect());
            return Self { upstream, catalogue, capabilities, translated: Some(shown) };
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
            changes.applied(kind, shown?, own, notes)
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

    /// Determines whether calls to a tool can run as tasks. `tool` is the tool as its server wrote it.
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

    /// Returns true if the server may be able to complete arguments: in some eras, servers cannot declare this.
    pub(super) fn may_complete(&self) -> bool {
        let own = |name| declares(&self.catalogue.hello.capabilities, name, None);
        if self.catalogue.hello.era.shapes.completions_declared {
            own("completions")
        } else {
            own("prompts") || own("resources")
        }
    }
}

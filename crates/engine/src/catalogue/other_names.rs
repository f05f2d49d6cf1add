//! Finds tools and prompts by names other than the listed ones: names that they had before, their identities, and, if only one
//! server has such an item, the server's own names. The pages of MCP Apps call the tools of their server by the server's own
//! names (ext-apps 2026-01-26). This module must not know how names are formed.

use std::sync::Arc;

use super::names::SEPARATOR;
use super::{ListKind, PromptEntry, ToolEntry, UpstreamId, View};
use crate::search::OWN_TOOLS;

impl View {
    /// The tool with this name. Listed names take precedence.
    pub fn tool(&self, name: &str) -> Option<&ToolEntry> {
        self.tools.get(name).map(|tool| &**tool).or_else(|| {
            let all = self.tools.values().map(|tool| (tool.upstream, &**tool.identity(), &**tool));
            self.otherwise_named(ListKind::Tools, name, all)
        })
    }

    /// The tool that its server calls by this name.
    pub fn tool_of(&self, upstream: UpstreamId, own_name: &str) -> Option<&ToolEntry> {
        let is_it = |tool: &&ToolEntry| tool.upstream == upstream && tool.own_name() == own_name;
        self.tools.values().map(|tool| &**tool).find(is_it)
    }

    /// The identity of the tool with this name; for one of the gateway's own tools, the name itself.
    pub fn identity_of(&self, tool: &str) -> Option<Arc<str>> {
        if self.is_own_tool(tool) {
            return Some(tool.into());
        }
        self.tool(tool).map(|tool| tool.identity().clone())
    }

    /// Returns true if clients can call a tool by this name, either a server's tool or one of the gateway's own.
    pub fn has_tool(&self, name: &str) -> bool {
        self.is_own_tool(name) || self.tool(name).is_some()
    }

    /// Returns true if clients find tools by searching, so not all tools are listed.
    pub fn is_searched(&self) -> bool {
        self.search.is_some()
    }

    /// Returns true if this is the name of one of the gateway's own tools.
    fn is_own_tool(&self, name: &str) -> bool {
        self.is_searched() && OWN_TOOLS.contains(&name)
    }

    /// The prompt with this name. Listed names take precedence.
    pub fn prompt(&self, name: &str) -> Option<&PromptEntry> {
        self.prompts.get(name).or_else(|| {
            let all = self.prompts.values().map(|prompt| (prompt.upstream, &*prompt.identity, prompt));
            self.otherwise_named(ListKind::Prompts, name, all)
        })
    }

    /// The item that has this name in addition to its listed name. An item that the clients may not use is not listed, so it is
    /// not found here either.
    #[cold]
    fn otherwise_named<'v, T>(
        &'v self,
        kind: ListKind,
        name: &str,
        all: impl Iterator<Item = (UpstreamId, &'v str, T)> + Clone,
    ) -> Option<T> {
        // No server gets the calls to the gateway's own tools.
        if !self.limit.is_flexible() || (kind == ListKind::Tools && self.is_own_tool(name)) {
            return None;
        }
        if let Some((server, own)) = self.former.get(&(kind, name.into())) {
            let is_it = |upstream: UpstreamId, identity: &str| {
                self.own_part(upstream, identity) == Some((&**server, &**own))
            };
            if let Some((_, _, found)) =
                all.clone().find(|(upstream, identity, _)| is_it(*upstream, identity))
            {
                return Some(found);
            }
        }
        let has_identity = |identity: &str| identity == name || self.limit.was_called(identity, name);
        if let Some((_, _, found)) = all.clone().find(|(_, identity, _)| has_identity(identity)) {
            return Some(found);
        }
        if self.means_another(kind, name) {
            return None;
        }
        let mut own = all.filter(|(upstream, identity, _)| {
            self.own_part(*upstream, identity).is_some_and(|(_, own)| own == name)
        });
        let found = own.next().map(|(_, _, found)| found);
        found.filter(|_| own.next().is_none())
    }

    /// Returns true if a name may refer to another item: it belongs, or recently belonged, to an item that is
    /// absent or withheld, or it starts with a server's prefix (`server__`). Otherwise, a server could give its own
    /// tool such a name, and receive the calls to another server's tool.
    fn means_another(&self, kind: ListKind, name: &str) -> bool {
        let is_prefix =
            |server: &str| name.strip_prefix(server).is_some_and(|rest| rest.starts_with(SEPARATOR));
        let key = (kind, name.into());
        self.reserved.contains(&key)
            || self.former.contains_key(&key)
            || (kind == ListKind::Tools && self.is_withheld(name))
            || self.upstreams().iter().any(|one| is_prefix(&one.name))
    }

    /// Returns true if a withheld tool has this name at its server.
    fn is_withheld(&self, own: &str) -> bool {
        let is_it = |(name, server): (&String, &Arc<str>)| {
            name.strip_prefix(&**server).and_then(|rest| rest.strip_prefix(SEPARATOR)) == Some(own)
        };
        self.held.iter().any(is_it)
    }

    /// The two parts of an identity: the server's name and the server's own name for the item.
    fn own_part<'v>(&'v self, upstream: UpstreamId, identity: &'v str) -> Option<(&'v str, &'v str)> {
        let server = self.server(upstream);
        Some((server, identity.strip_prefix(server)?.strip_prefix(SEPARATOR)?))
    }
}

//! Withheld tools: their names, which no other tool gets until the tools are approved, and the answer to calls. This module
//! must not know why a tool is withheld.

use std::collections::HashMap;
use std::sync::Arc;

use super::ListKind;
use super::assemble::{Assembly, ToolTable};
use super::names::{NameBook, PublicNames, identity, opened};

impl<'p, 'a> Assembly<'p, 'a> {
    /// The withheld tools that the clients could otherwise use, by public name and by identity, with their servers. If another
    /// tool has the public name of a withheld tool, the other tool keeps the name.
    pub(super) fn held(&self, tools: &ToolTable) -> HashMap<String, Arc<str>> {
        let (kind, profile) = (ListKind::Tools, self.spec.profile);
        let all =
            || self.parts.iter().flat_map(|part| part.catalogue.held().iter().map(move |own| (part, own)));
        let mut held = HashMap::new();
        if all().next().is_none() {
            return held;
        }
        let each = all().map(|(part, own)| (&*part.upstream.name, own.key.as_str()));
        let public = PublicNames::new(kind, (profile.names, self.spec.limit), &profile.servers, each);
        let (fresh, kept) = (NameBook::default(), self.spec.names.map(opened));
        let book = kept.as_deref().unwrap_or(&fresh);
        for (part, own) in all() {
            let server = &part.upstream.name;
            let setting = self.setting(kind, server, own);
            let given = public.shown(server, &own.key, profile.tools.names(), book);
            let Some(name) = setting.and_then(|setting| setting.name.clone()).or(given) else { continue };
            let is_shown = !setting.is_some_and(|setting| setting.disabled);
            let identity = identity(server, &own.key);
            if is_shown && self.allows(kind, part.upstream, &identity, own) {
                let names = [name, identity].into_iter().filter(|name| !tools.contains_key(&**name));
                held.extend(names.map(|name| (name, server.clone())));
            }
        }
        held
    }

    /// The names that withheld tools had before, with their servers: no other server gets the calls to these tools.
    pub(super) fn withheld_names<'b>(
        &self,
        book: &'b NameBook,
    ) -> impl Iterator<Item = (String, Arc<str>)> + use<'b, 'p, 'a> {
        let held =
            self.parts.iter().flat_map(|part| part.catalogue.held().iter().map(move |own| (part, own)));
        held.filter_map(|(part, own)| {
            let server = &part.upstream.name;
            Some((book.name(ListKind::Tools, server, &own.key)?.to_string(), server.clone()))
        })
    }
}

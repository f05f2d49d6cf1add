//! The URIs that servers claim by their templates: a server that lists a URI later must not take over the reads that belong to
//! another server's template. This module must not know what happens to a claimed URI.

use std::sync::Arc;

use super::public::Competitor;
use crate::catalogue::ListKind;
use crate::catalogue::names::NameBook;
use crate::catalogue::template_index::{BudgetExhausted, ComparisonBudget, HasTemplate, TemplateIndex};
use crate::catalogue::uri_mark::shape;

/// The result of looking up which server claims a URI.
#[derive(Clone, Copy)]
pub(super) enum UriClaim<'a> {
    None,
    /// This server had a template that matches the URI before another server had the URI.
    By(&'a Arc<str>),
    /// The budget for comparisons is exhausted.
    Unchecked,
}

/// A template of a present server.
struct Claim<'a> {
    server: &'a Arc<str>,
    template: &'a str,
}

impl HasTemplate for Claim<'_> {
    fn template(&self) -> &str {
        self.template
    }
}

/// The templates that present servers had before. A template without a fixed scheme claims nothing, because it would claim
/// everything.
pub(super) struct Claims<'a>(TemplateIndex<Claim<'a>>);

impl<'a> Claims<'a> {
    /// Collects the templates of these servers that are known from earlier views.
    pub(super) fn new(servers: &[Competitor<'a>], book: &NameBook) -> Self {
        let mut all = Vec::new();
        for Competitor { source, catalogue, .. } in servers {
            for item in catalogue.list(ListKind::Templates) {
                let claim = Claim { server: &source.name, template: &item.key };
                let has_scheme = claim.template.split('{').next().is_some_and(|head| head.contains(':'));
                if has_scheme && claim.is_known(book) {
                    all.push(claim);
                }
            }
        }
        Self(TemplateIndex::new(all))
    }

    /// Returns the claim of another server's template on the URI `own` of `server`, or none if `server` already had
    /// the URI.
    pub(super) fn on(
        &self,
        server: &Competitor<'_>,
        own: &str,
        book: &NameBook,
        budget: &mut ComparisonBudget,
    ) -> UriClaim<'a> {
        let name = &server.source.name;
        if self.0.is_empty() || book.knows_uri(ListKind::Resources, name, own) {
            return UriClaim::None;
        }
        match self.0.find(own, budget, |claim| claim.server != name) {
            Ok(claim) => claim.map_or(UriClaim::None, |claim| UriClaim::By(claim.server)),
            Err(BudgetExhausted) => UriClaim::Unchecked,
        }
    }
}

impl Claim<'_> {
    /// Returns true if the server had the template before. A template whose public form carries the server's name
    /// claims nothing: clients use it only for URIs with that name.
    fn is_known(&self, book: &NameBook) -> bool {
        let (kind, shape) = (ListKind::Templates, shape(self.template));
        let is_plain = book.name(kind, self.server, &shape).is_none_or(|public| **public == *shape);
        is_plain && book.knows_uri(kind, self.server, &shape)
    }
}

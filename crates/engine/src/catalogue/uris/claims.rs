//! The URIs that servers claim by their templates: a server that lists a URI later must not take over the reads that belong to
//! another server's template. This module must not know what happens to a claimed URI.

use std::collections::HashMap;
use std::sync::Arc;

use super::public::Competitor;
use crate::catalogue::ListKind;
use crate::catalogue::names::NameBook;
use crate::catalogue::template::covers;
use crate::catalogue::uri_mark::shape;

/// The maximum number of comparisons for one view. URIs beyond this number carry their server's name.
const MOST: usize = 1 << 22;

/// The answer to the question which server claims a URI.
#[derive(Clone, Copy)]
pub(super) enum UriClaim<'a> {
    None,
    /// This server had a template that matches the URI before another server had the URI.
    By(&'a Arc<str>),
    /// The maximum number of comparisons is reached.
    Unchecked,
}

/// A template of a present server.
struct Claim<'a> {
    server: &'a Arc<str>,
    template: &'a str,
    /// The text before the first expression.
    head: &'a str,
}

/// The templates of the present servers, by the scheme of their URIs. A template without a fixed scheme claims nothing, because
/// it would claim everything.
pub(super) struct Claims<'a> {
    by_scheme: HashMap<&'a str, Vec<Claim<'a>>>,
    left: usize,
}

impl<'a> Claims<'a> {
    /// Collects the templates of these servers.
    pub(super) fn new(servers: &[Competitor<'a>]) -> Self {
        let mut by_scheme: HashMap<&str, Vec<Claim<'_>>> = HashMap::new();
        for Competitor { source, catalogue, .. } in servers {
            for item in catalogue.list(ListKind::Templates) {
                let (template, server) = (&*item.key, &source.name);
                let head = template.split('{').next().unwrap_or_default();
                if let Some((scheme, _)) = head.split_once(':') {
                    by_scheme.entry(scheme).or_default().push(Claim { server, template, head });
                }
            }
        }
        Self { by_scheme, left: MOST }
    }

    /// The server that claims a URI of another server, if that server has not had the URI before.
    pub(super) fn on(&mut self, server: &Competitor<'_>, own: &str, book: &NameBook) -> UriClaim<'a> {
        let scheme = own.split_once(':').map_or("", |(scheme, _)| scheme);
        let Some(claims) = self.by_scheme.get(scheme) else { return UriClaim::None };
        let name = &server.source.name;
        if book.knows_uri(ListKind::Resources, name, own) {
            return UriClaim::None;
        }
        let Some(left) = self.left.checked_sub(claims.len()) else { return UriClaim::Unchecked };
        self.left = left;
        let is_first = |claim: &Claim<'_>| {
            let (kind, shape) = (ListKind::Templates, shape(claim.template));
            // A template that carries its server's name matches no other URI.
            let is_plain = book.name(kind, claim.server, &shape).is_none_or(|public| **public == *shape);
            is_plain && book.knows_uri(kind, claim.server, &shape)
        };
        let mut others = claims.iter().filter(|claim| claim.server != name && own.starts_with(claim.head));
        let claimant = others.find(|claim| covers(claim.template, own) && is_first(claim));
        claimant.map_or(UriClaim::None, |claim| UriClaim::By(claim.server))
    }
}

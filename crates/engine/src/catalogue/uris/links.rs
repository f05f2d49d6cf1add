//! The links of MCP Apps in `_meta`, which lead to the page of a tool (`ui.resourceUri`, and `ui/resourceUri` in older SDKs).
//! This module must not know which URIs are public.

use memchr::memmem;
use proto::json::{Members, Span, Splice, quote, unquote};
use smallvec::SmallVec;

use crate::catalogue::{Item, ListKind};

/// The scheme of the pages of MCP Apps.
pub(in crate::catalogue) const PAGE_SCHEME: &str = "ui://";

/// The last part of the name of each member that contains a link.
const LINK: &[u8] = b"resourceUri";

/// The value of a JSON string with its span.
pub(super) type Written = (Span, String);

/// The links in the `_meta` of an object.
pub(super) fn links_in(text: &[u8], object: &Members) -> SmallVec<[Written; 2]> {
    let Some(meta) = object.get(text, "_meta").and_then(|span| Members::of_value(text, span)) else {
        return SmallVec::new();
    };
    let nested = meta.get(text, "ui").and_then(|span| Members::of_value(text, span));
    let nested = nested.and_then(|ui| ui.get(text, "resourceUri"));
    [nested, meta.get(text, "ui/resourceUri")]
        .into_iter()
        .flatten()
        .filter_map(|span| written(text, span))
        .collect()
}

/// The links of a tool.
pub(super) fn links_of(tool: &[u8]) -> SmallVec<[Written; 2]> {
    if memmem::find(tool, LINK).is_none() {
        return SmallVec::new();
    }
    let members = Members::of_value(tool, Span::new(0, tool.len()));
    members.map_or_else(SmallVec::new, |members| links_in(tool, &members))
}

/// A tool with public links; `links` contains pairs of the server's own link and the public link.
pub(in crate::catalogue) fn linked(tool: Item, links: &[(String, String)]) -> Item {
    if links.iter().all(|(own, public)| own == public) {
        return tool;
    }
    let replaced: SmallVec<[(Span, String); 2]> = links_of(&tool.text)
        .into_iter()
        .filter_map(|(span, own)| Some((span, quote(&links.iter().find(|(known, _)| *known == own)?.1))))
        .collect();
    let mut splice = Splice::new(&tool.text);
    for (span, public) in &replaced {
        splice.replace(*span, public.as_bytes());
    }
    Item::read(ListKind::Tools, splice.finish()).unwrap_or(tool)
}

/// A JSON string at this span.
pub(super) fn written(text: &[u8], span: Span) -> Option<Written> {
    let inner = span.of(text).strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    Some((span, unquote(inner)?.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_are_found() {
        let tool = br#"{"name":"a","_meta":{"ui":{"resourceUri":"ui://a/x","visibility":["app"]},"ui/resourceUri":"ui:\/\/a/y"}}"#;
        let links: Vec<String> = links_of(tool).into_iter().map(|(_, link)| link).collect();
        assert_eq!(links, ["ui://a/x", "ui://a/y"]);
        for none in
            [&br#"{"name":"resourceUri"}"#[..], br#"{"_meta":{"ui":{"resourceUri":1}}}"#, br#"{"_meta":[]}"#]
        {
            assert!(links_of(none).is_empty());
        }
    }
}

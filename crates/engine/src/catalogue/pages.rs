//! A merged list as ready bytes: what is sent, but for the request's id.

use bytes::Bytes;
use proto::era::{CacheHint, Era, complete};
use proto::json::{Span, quote};

use super::{Item, ListKind};

/// How many items a page holds.
const PAGE: usize = 2000;

/// One list of a view, cut into pages.
#[derive(Debug, Clone)]
pub struct Pages {
    /// A hash over the items, to tell whether a list has changed.
    pub digest: u64,
    pages: Vec<Bytes>,
}

impl Pages {
    /// Lays out `items` (each with the text that stands in the place of its key) for clients of `era`.
    pub fn lay_out(
        kind: ListKind,
        items: &[(&Item, Option<String>)],
        era: &Era,
        cache: CacheHint,
        server_info: &str,
    ) -> Self {
        let mut digest = std::hash::DefaultHasher::new();
        let count = items.len().div_ceil(PAGE).max(1);
        let pages = (0..count)
            .map(|page| {
                let end = items.len().min((page + 1) * PAGE);
                let members = members(kind, &items[page * PAGE..end], page + 1 < count, page + 1);
                std::hash::Hash::hash(&members, &mut digest);
                complete(era, &members, Some(cache), server_info)
            })
            .collect();
        Self { digest: std::hash::Hasher::finish(&digest), pages }
    }

    /// The result with the page that `cursor` (a JSON string without its quotes) stands for; the first without one.
    /// `None` for a cursor that is not ours.
    pub fn page(&self, cursor: Option<&str>) -> Option<&Bytes> {
        match cursor {
            None => self.pages.first(),
            Some(cursor) => {
                self.pages.get(cursor.strip_prefix('p')?.parse::<usize>().ok().filter(|&n| n > 0)?)
            }
        }
    }
}

fn members(kind: ListKind, items: &[(&Item, Option<String>)], more: bool, next: usize) -> Vec<u8> {
    let size: usize = items.iter().map(|(item, _)| item.text.len() + 40).sum();
    let mut out = Vec::with_capacity(size + 64);
    out.extend_from_slice(format!("\"{}\":[", kind.member()).as_bytes());
    for (at, (item, key)) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        match key {
            None => out.extend_from_slice(&item.text),
            Some(key) => rename(&mut out, &item.text, item.key_span, key),
        }
    }
    out.push(b']');
    if more {
        out.extend_from_slice(format!(",\"nextCursor\":\"p{next}\"").as_bytes());
    }
    out
}

fn rename(out: &mut Vec<u8>, text: &[u8], span: Span, key: &str) {
    out.extend_from_slice(&text[..span.start()]);
    out.extend_from_slice(quote(key).as_bytes());
    out.extend_from_slice(&text[span.end()..]);
}

//! A merged list as prepared bytes, complete except for the id of the request.

use proto::era::{CacheHint, CacheableResult, Era};
use proto::json::{Span, quote};

use super::{Item, ListKind};

/// The number of items on a page.
const PAGE: usize = 2000;

/// An item and the text that replaces its key.
pub(super) type Shown<'p> = (&'p Item, Option<String>);

/// One list of a view, cut into pages.
#[derive(Debug, Clone)]
pub struct Pages {
    /// A hash of the items, which shows whether a list has changed.
    pub digest: u64,
    /// The pages; none if they were dropped. A list always has at least one page.
    pages: Vec<CacheableResult>,
}

impl Pages {
    /// Creates the pages of `lists` for clients of `era`. The items of all lists but the first appear in full
    /// on the first page.
    pub fn lay_out(
        lists: &[(ListKind, &[Shown<'_>])],
        era: &Era,
        cache: CacheHint,
        server_info: &str,
    ) -> Self {
        let Some(((kind, items), others)) = lists.split_first() else {
            return Self { digest: 0, pages: Vec::new() };
        };
        let page_size = if era.shapes.pages { PAGE } else { items.len().max(1) };
        let mut digest = std::hash::DefaultHasher::new();
        let count = items.len().div_ceil(page_size).max(1);
        let pages = (0..count)
            .map(|page| {
                let end = items.len().min((page + 1) * page_size);
                let mut members = Vec::new();
                add_list(&mut members, *kind, &items[page * page_size..end]);
                for (kind, items) in others.iter().filter(|_| page == 0) {
                    members.push(b',');
                    add_list(&mut members, *kind, items);
                }
                if page + 1 < count {
                    members.extend_from_slice(format!(",\"nextCursor\":\"p{}\"", page + 1).as_bytes());
                }
                std::hash::Hash::hash(&members, &mut digest);
                CacheableResult::new(era, &members, cache, server_info)
            })
            .collect();
        Self { digest: std::hash::Hasher::finish(&digest), pages }
    }

    /// Returns true if the pages exist.
    pub(super) fn is_ready(&self) -> bool {
        !self.pages.is_empty()
    }

    /// The total size of all pages, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.pages.iter().map(|page| page.text().len()).sum()
    }

    /// A copy that contains only the digest.
    pub(super) fn without_text(&self) -> Self {
        Self { digest: self.digest, pages: Vec::new() }
    }

    /// The result with the page for `cursor` (a JSON string without its quotes), or with the first page if there is
    /// no cursor. `None` for a cursor that this gateway did not issue.
    pub fn page(&self, cursor: Option<&str>) -> Option<&CacheableResult> {
        match cursor {
            None => self.pages.first(),
            Some(cursor) => {
                self.pages.get(cursor.strip_prefix('p')?.parse::<usize>().ok().filter(|&n| n > 0)?)
            }
        }
    }
}

fn add_list(out: &mut Vec<u8>, kind: ListKind, items: &[Shown<'_>]) {
    out.reserve(items.iter().map(|(item, _)| item.text.len() + 40).sum::<usize>() + 64);
    out.extend_from_slice(format!("\"{}\":[", kind.member()).as_bytes());
    for (at, (item, key)) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        match key {
            None => out.extend_from_slice(&item.text),
            Some(key) => rename(out, &item.text, item.key_span, key),
        }
    }
    out.push(b']');
}

fn rename(out: &mut Vec<u8>, text: &[u8], span: Span, key: &str) {
    out.extend_from_slice(&text[..span.start()]);
    out.extend_from_slice(quote(key).as_bytes());
    out.extend_from_slice(&text[span.end()..]);
}

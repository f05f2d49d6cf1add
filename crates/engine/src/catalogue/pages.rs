//! A merged list as prepared bytes, complete except for the id of the request.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

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
    /// A hash of the items; it shows whether a list has changed.
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
        let digest = digest_of(lists);
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
                    let next = format!(",\"nextCursor\":\"{}\"", cursor(page + 1, digest));
                    members.extend_from_slice(next.as_bytes());
                }
                CacheableResult::new(era, &members, cache, server_info)
            })
            .collect();
        Self { digest, pages }
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

    /// The results with all pages, in their order; none if they were dropped.
    pub fn all(&self) -> impl Iterator<Item = &CacheableResult> {
        self.pages.iter()
    }

    /// The result with the page for `cursor` (a JSON string without its quotes), or with the first page if there is
    /// no cursor.
    ///
    /// # Errors
    /// Refuses a cursor that this gateway did not issue, and a cursor of another list or of an earlier version of
    /// this list. After a change to the list, the page with the same number could omit items that the client has
    /// not seen yet, or repeat items that it has seen.
    pub fn page(&self, at: Option<&str>) -> Result<&CacheableResult, NoPage> {
        let Some(at) = at else { return self.pages.first().ok_or(NoPage::Unknown) };
        let parts = at.strip_prefix('p').and_then(|parts| parts.split_once('-'));
        let number = parts.and_then(|(number, _)| number.parse().ok()).filter(|number| *number > 0);
        let (Some((_, digest)), Some(number)) = (parts, number) else { return Err(NoPage::Unknown) };
        if cursor(number, self.digest) == at {
            return self.pages.get(number).ok_or(NoPage::Unknown);
        }
        Err(if u64::from_str_radix(digest, 16).is_ok() { NoPage::Changed } else { NoPage::Unknown })
    }
}

/// The reason why a cursor does not lead to a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoPage {
    /// The gateway never issued such a cursor.
    Unknown,
    /// The cursor belongs to another list, usually to an earlier version of this list.
    Changed,
}

impl fmt::Display for NoPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "is invalid; start again without it",
            Self::Changed => "belongs to a list that has changed since; start again without it",
        })
    }
}

/// The cursor of a page: its number, and the digest of the list that it belongs to.
fn cursor(page: usize, digest: u64) -> String {
    format!("p{page}-{digest:016x}")
}

/// A hash of all items as they are shown, in their order.
fn digest_of(lists: &[(ListKind, &[Shown<'_>])]) -> u64 {
    let mut digest = DefaultHasher::new();
    for (kind, items) in lists {
        kind.member().hash(&mut digest);
        for (item, key) in *items {
            key.hash(&mut digest);
            item.text.hash(&mut digest);
        }
    }
    digest.finish()
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

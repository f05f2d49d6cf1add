//! Parts of long lists. This module must not know what a list contains.

use pages::model::{Paging, ROWS};

use super::super::page_request::PageRequest;
use super::count;

/// Returns the part of a list that a page shows, with its position. The query parameter `at` is the number of skipped rows.
pub(super) fn part<T>(request: &PageRequest, all: Vec<T>) -> (Vec<T>, Paging) {
    let total = all.len();
    let at =
        request.query.text("at").parse::<usize>().unwrap_or(0).min(total.saturating_sub(1)) / ROWS * ROWS;
    let rows: Vec<T> = all.into_iter().skip(at).take(ROWS).collect();
    let paging = Paging {
        first: if rows.is_empty() { 0 } else { count(at) + 1 },
        total: Some(count(total)),
        previous: (at > 0).then(|| (at - ROWS).to_string()),
        next: (at + ROWS < total).then(|| (at + ROWS).to_string()),
    };
    (rows, paging)
}

/// Returns true if the texts contain the words of a filter; case is ignored.
pub(super) fn contains(texts: &[&str], filter: &str) -> bool {
    let filter = filter.to_lowercase();
    filter.is_empty() || texts.iter().any(|text| text.to_lowercase().contains(&filter))
}

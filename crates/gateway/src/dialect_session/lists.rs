//! Cached lists of tools in the form that dialects use. This module must not know who asks.

use std::sync::Arc;

use bytes::Bytes;
use engine::catalogue::View;
use engine::dialect::{Dialect, tools};
use parking_lot::Mutex;

use crate::view::ViewCell;

/// The maximum number of cached lists.
const MAX_LISTS: usize = 64;

/// The lists of tools that were built for dialects. Each is kept for reuse until its view changes.
#[derive(Default)]
pub(crate) struct Lists(Mutex<Vec<CachedList>>);

struct CachedList {
    row: Arc<Dialect>,
    cell: std::sync::Weak<ViewCell>,
    view: Arc<View>,
    list: Bytes,
}

impl Lists {
    pub(crate) fn tools(&self, row: &Arc<Dialect>, cell: &Arc<ViewCell>, view: &Arc<View>) -> Bytes {
        let is_it = |kept: &CachedList| {
            Arc::ptr_eq(&kept.row, row) && std::ptr::eq(kept.cell.as_ptr(), Arc::as_ptr(cell))
        };
        let mut lists = self.0.lock();
        if let Some(kept) = lists.iter().find(|kept| is_it(kept) && Arc::ptr_eq(&kept.view, view)) {
            return kept.list.clone();
        }
        let list = tools(row, view);
        lists.retain(|kept| !is_it(kept) && kept.cell.strong_count() > 0);
        if lists.len() >= MAX_LISTS {
            lists.remove(0);
        }
        lists.push(CachedList {
            row: row.clone(),
            cell: Arc::downgrade(cell),
            view: view.clone(),
            list: list.clone(),
        });
        list
    }
}

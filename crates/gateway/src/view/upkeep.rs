//! Periodic work on all views: counts their bytes, and removes ready pages that nobody lists and former names that have expired.
//! This module must not know how views are found or built.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use engine::catalogue::View;

use super::names::NameBooks;
use super::views::Views;

impl Views {
    /// Adds the sizes of ready pages and catalogues, in bytes, to the total size of all kept data.
    pub(super) fn count_kept(&self, catalogues: usize) {
        let shown: Vec<Arc<View>> = self.cells.lock().values().map(|cell| cell.view()).collect();
        let mut seen = HashSet::new();
        let distinct = shown.iter().filter(|view| seen.insert(Arc::as_ptr(view)));
        let pages: usize = distinct.map(|view| view.page_bytes()).sum();
        self.kept.lock().set(pages + self.whole.bytes() + catalogues);
    }

    /// Drops ready pages until `is_enough` is true: first those of operators, then the least recently listed ones. Pages that
    /// clients listed a moment ago are kept.
    pub(crate) fn drop_pages_until(&self, is_enough: impl Fn() -> bool) {
        if is_enough() {
            return;
        }
        self.whole.clear();
        let mut cells: Vec<_> = self.cells.lock().values().cloned().collect();
        cells.retain(|cell| cell.view().has_pages() && !cell.page_use.is_recent());
        cells.sort_by_key(|cell| Reverse(cell.page_use.unused_for()));
        for cell in cells {
            if is_enough() {
                return;
            }
            cell.drop_pages();
        }
    }

    /// Removes expired former names from the views. A view without changes is never rebuilt, so this is called periodically.
    pub(crate) fn expire_names(&self, names: &NameBooks) {
        for (names, former) in names.expire() {
            self.whole.clear();
            let cells: Vec<_> = self.cells.lock().values().cloned().collect();
            for cell in cells.iter().filter(|cell| cell.basis.load().has_names(&names)) {
                cell.set_former_names(former.clone());
            }
        }
    }

    /// Drops the ready pages of views that no client has listed for ten minutes.
    pub(crate) fn drop_unused_pages(&self) {
        self.whole.drop_unused();
        let cells: Vec<_> = self.cells.lock().values().cloned().collect();
        for cell in cells.iter().filter(|cell| cell.page_use.look()) {
            cell.drop_pages();
        }
    }
}

//! Pages of lists that a service does not divide itself. This module must not know what the entries are.

use serde_json::Value;

use super::shape::Totals;
use super::step::Paging;
use crate::tools::Values;

/// The arguments with the number of the page, and with the number of entries on a page.
pub(super) const ARGUMENTS: [&str; 2] = ["page", "per_page"];

/// The page of this answer that the call asks for, and the totals of the list. The answer stays as it is if the service has
/// divided the list itself.
pub(super) fn paged(answer: Value, paging: Paging, values: &Values, totals: Totals) -> (Value, Totals) {
    let [page, size] = ARGUMENTS.map(|name| values.int(name));
    let size = size.and_then(|size| usize::try_from(size).ok()).filter(|size| *size > 0);
    let (Value::Array(all), Some(size), None) = (&answer, size, totals.entries) else {
        return (answer, totals);
    };
    let is_whole = match paging {
        Paging::ByService => false,
        Paging::Never => true,
        Paging::Doubtful => all.len() > size,
    };
    if !is_whole {
        return (answer, totals);
    }
    let page = page.and_then(|page| usize::try_from(page).ok()).unwrap_or(1).max(1);
    let totals = Totals {
        entries: u64::try_from(all.len()).ok(),
        pages: u64::try_from(all.len().div_ceil(size)).ok(),
    };
    let entries = all.chunks(size).nth(page - 1).unwrap_or_default().to_vec();
    (Value::Array(entries), totals)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NONE: Totals = Totals { entries: None, pages: None };

    fn shown(paging: Paging, page: i64, totals: Totals) -> (Value, Totals) {
        let mut values = Values::default();
        values.set("per_page", json!(2));
        values.set("page", json!(page));
        paged(json!([1, 2, 3]), paging, &values, totals)
    }

    #[test]
    fn a_whole_list_is_divided_into_pages() {
        let three = Totals { entries: Some(3), pages: Some(2) };
        for paging in [Paging::Never, Paging::Doubtful] {
            assert_eq!(shown(paging, 1, NONE), (json!([1, 2]), three));
            assert_eq!(shown(paging, 2, NONE), (json!([3]), three));
            assert_eq!(shown(paging, 3, NONE), (json!([]), three));
        }
    }

    #[test]
    fn a_page_of_the_service_stays() {
        let all = json!([1, 2, 3]);
        assert_eq!(shown(Paging::ByService, 2, NONE), (all.clone(), NONE));
        let told = Totals { entries: Some(9), pages: Some(3) };
        assert_eq!(shown(Paging::Never, 2, told), (all.clone(), told));
        let mut values = Values::default();
        assert_eq!(
            paged(all.clone(), Paging::Never, &values, NONE),
            (all.clone(), NONE),
            "no page is asked for"
        );
        values.set("per_page", json!(3));
        values.set("page", json!(2));
        assert_eq!(paged(all.clone(), Paging::Doubtful, &values, NONE), (all, NONE));
        assert_eq!(paged(json!({"a": 1}), Paging::Never, &values, NONE), (json!({"a": 1}), NONE));
    }
}

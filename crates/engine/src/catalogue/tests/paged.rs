//! Long lists: their pages, and cursors of lists that have changed.

use super::*;

/// The pages of a list of these tools.
fn pages(names: impl Iterator<Item = String>) -> Pages {
    let item = |name| Item::read(ListKind::Tools, Bytes::from(format!(r#"{{"name":"{name}"}}"#))).unwrap();
    let items: Vec<Item> = names.map(item).collect();
    let shown: Vec<_> = items.iter().map(|item| (item, None)).collect();
    Pages::lay_out(&[(ListKind::Tools, &shown)], &V2026_07_28, CacheHint::NONE, "{}")
}

fn numbered(numbers: impl Iterator<Item = usize>) -> Pages {
    pages(numbers.map(|number| format!("t{number}")))
}

fn text(pages: &Pages, cursor: Option<&str>) -> String {
    String::from_utf8(pages.page(cursor).unwrap().text().to_vec()).unwrap()
}

/// The cursor of the next page, if there is one.
fn next(page: &str) -> Option<String> {
    let page: serde_json::Value = serde_json::from_str(page).unwrap();
    page["nextCursor"].as_str().map(str::to_owned)
}

#[test]
fn each_item_is_on_one_page() {
    let pages = numbered(0..4500);
    let first = text(&pages, None);
    assert!(first.contains("\"t0\"") && first.contains("\"t1999\"") && !first.contains("\"t2000\""));
    let second = text(&pages, next(&first).as_deref());
    assert!(second.contains("\"t2000\"") && second.contains("\"t3999\""));
    let third = text(&pages, next(&second).as_deref());
    assert!(third.contains("\"t4499\"") && third.contains(r#""ttlMs":0,"cacheScope":"private""#));
    assert_eq!(next(&third), None);
}

#[test]
fn cursors_that_were_not_issued_are_refused() {
    let pages = numbered(0..4500);
    let issued = next(&text(&pages, None)).unwrap();
    let digest = issued.strip_prefix("p1").unwrap();
    let made_up =
        [format!("p0{digest}"), format!("p3{digest}"), format!("p01{digest}"), format!("P1{digest}")];
    for cursor in made_up.iter().map(String::as_str).chain(["", "x", "p", "p1", "p1-", "p1-x", "-", "p-0"]) {
        assert!(pages.page(Some(cursor)).is_err(), "{cursor}");
    }
    assert_eq!(pages.page(Some("p1")).unwrap_err(), NoPage::Unknown);
}

/// The second page of a changed list could lack an item, or repeat one.
#[test]
fn a_cursor_of_a_list_that_has_changed_is_refused() {
    let before = next(&text(&numbered(0..4500), None));
    let changed = [
        ("one item is gone", numbered(1..4500)),
        ("one item is new", numbered([9000].into_iter().chain(0..4500))),
        ("the order is another", numbered((0..4500).rev())),
        ("an item of a later page is another", numbered((0..4499).chain([9000]))),
    ];
    for (what, now) in changed {
        assert_eq!(now.page(before.as_deref()).unwrap_err(), NoPage::Changed, "{what}");
    }
    // The same list, built anew, such as after a restart.
    assert!(numbered(0..4500).page(before.as_deref()).is_ok());
}

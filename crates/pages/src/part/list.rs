//! Lists: filters, tables, paging, empty states. This module must not know what a list contains.

use super::figures::count;
use super::form::{Button, submit};
use super::icon::Glyph;
use crate::model::{MOST_ROWS, Paging};
use crate::route::with_query;
use maud::{Markup, html};

/// The rows of a list that a page shows. Only a list that is not split into pages has more rows; [`left_out`] then
/// shows their number.
pub(crate) fn shown<T>(rows: &[T]) -> &[T] {
    &rows[..rows.len().min(MOST_ROWS)]
}

/// The sentence below a list without a pager if the page does not show all of its rows: the number of shown rows,
/// and of all rows.
pub(crate) fn left_out<T>(rows: &[T]) -> Markup {
    html! {
        @if rows.len() > MOST_ROWS { p.hint { (count(MOST_ROWS as u64)) " of " (count(rows.len() as u64)) " shown." } }
    }
}

/// A filter of a list. It is sent when something is typed; without scripts, its button sends it. `target` is the id
/// of the list.
pub(crate) fn filter(action: &str, target: &str, fields: &Markup) -> Markup {
    sent_at_once(
        action,
        target,
        Some("search"),
        &html! {
            (fields)
            div.field.go { (submit(Button::Plain, Glyph::Search, "Filter")) }
        },
    )
}

/// Fields that determine a part of the page. They are sent like a [`filter`]. `target` is the id of the part.
pub(crate) fn chooser(action: &str, target: &str, fields: &Markup) -> Markup {
    sent_at_once(
        action,
        target,
        None,
        &html! {
            (fields)
            div.field.go { (submit(Button::Plain, Glyph::Check, "Use")) }
        },
    )
}

fn sent_at_once(action: &str, target: &str, role: Option<&str>, content: &Markup) -> Markup {
    let selector = format!("#{target}");
    html! {
        form.filter method="get" action=(action) role=[role] hx-get=(action) hx-trigger="input delay:250ms, change, submit"
            hx-target=(selector) hx-select=(selector) hx-swap="outerHTML" hx-replace-url="true" hx-sync="this:replace" { (content) }
    }
}

/// A table. If it is wider than the page, it scrolls sideways by itself. `label` is read by screen readers; `columns` are headings
/// and classes.
pub(crate) fn table(label: &str, columns: &[(&str, &str)], rows: &Markup) -> Markup {
    html! {
        div.table role="group" tabindex="0" aria-label=(label) {
            table {
                thead { tr { @for (words, class) in columns {
                    th scope="col" class=[(!class.is_empty()).then_some(class)] { @if words.is_empty() { span.vh { "Actions" } } @else { (words) } }
                } } }
                tbody { (rows) }
            }
        }
    }
}

/// The link to a row's own page: the first cell of a row.
pub(crate) fn at_row(href: &str, words: &Markup) -> Markup {
    html! { a.name href=(href) { (words) } }
}

/// The position in a list, with links to the parts before and after. `pairs` is the filter.
pub(crate) fn pager(path: &str, pairs: &[(&str, &str)], paging: &Paging, shown: usize) -> Markup {
    let link = |at: &str| {
        let mut pairs = pairs.to_vec();
        pairs.push(("at", at));
        with_query(path, &pairs)
    };
    let shown = shown as u64;
    html! {
        nav.pager aria-label="Pages" {
            span.quiet {
                @if paging.first > 0 && shown > 0 { (count(paging.first)) "–" (count(paging.first + shown - 1)) }
                @else { (count(shown)) " shown" }
                @if let Some(total) = paging.total { " of " (count(total)) }
            }
            @if let Some(at) = &paging.previous { a.button.plain rel="prev" href=(link(at)) { (Glyph::Previous) "Previous" } }
            @if let Some(at) = &paging.next { a.button.plain rel="next" href=(link(at)) { "Next" (Glyph::Next) } }
        }
    }
}

/// Links to the sections of a long page.
pub(crate) fn jump(contents: &[(&str, &str)]) -> Markup {
    html! { nav.jump aria-label="On this page" { @for (href, words) in contents { a href=(href) { (words) } } } }
}

/// An empty list: what is missing, and what to do.
#[derive(Debug)]
pub(crate) struct Empty<'a> {
    /// The icon.
    pub(crate) icon: Glyph,
    /// A short text that names what is missing.
    pub(crate) title: &'a str,
    /// The next step.
    pub(crate) text: &'a str,
    /// The link to the page where it can be done: its address and its text.
    pub(crate) link: Option<(&'a str, &'a str)>,
}

/// An empty list.
pub(crate) fn empty(empty: &Empty<'_>) -> Markup {
    html! {
        div.empty {
            (empty.icon)
            p.title { (empty.title) }
            p { (empty.text) }
            @if let Some((href, words)) = empty.link { a.button.plain href=(href) { (words) (Glyph::Go) } }
        }
    }
}

/// Pairs of labels and values.
pub(crate) fn facts(pairs: &[(&str, Markup)]) -> Markup {
    html! { dl.facts { @for (words, value) in pairs { div { dt { (words) } dd { (value) } } } } }
}

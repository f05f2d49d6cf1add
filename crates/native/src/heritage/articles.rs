//! Articles of encyclopedias as text.

use std::fmt::Write as _;

use serde_json::Value;

use crate::html;
use crate::tools::Values;

/// The maximum number of characters to show of an article's text.
const LONGEST: usize = 20_000;

/// A service's text as plain text on one line.
pub(super) fn line(text: &str) -> String {
    html::as_text(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first of these members that contains text or a number, as text.
pub(super) fn said(of: &Value, names: &[&str]) -> String {
    let found = names.iter().find_map(|name| match of.get(name) {
        Some(Value::String(text)) if !text.trim().is_empty() => Some(line(text)),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    });
    found.unwrap_or_default()
}

/// A URL that may be shown as a link.
pub(super) fn link(of: &Value, names: &[&str]) -> Option<String> {
    let found = names.iter().filter_map(|name| of.get(name).and_then(Value::as_str));
    found
        .map(str::trim)
        .find(|url| {
            (url.starts_with("https://") || url.starts_with("http://"))
                && !url.contains(|c: char| c.is_whitespace() || c.is_control())
        })
        .map(str::to_owned)
}

/// The text; if it is too long, truncated with a note.
fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}\n\n*(truncated: the article is longer)*", &text[..end]),
        None => text.to_owned(),
    }
}

/// The URL of Wikipedia in the call's language; the language was checked before.
fn wikipedia(values: &Values) -> String {
    format!("https://{}.wikipedia.org", values.text("language"))
}

fn rows(answer: &Value, at: &str) -> Vec<Value> {
    answer.pointer(at).and_then(Value::as_array).cloned().unwrap_or_default()
}

/// A count with its noun in the singular or plural: `1 article`, `2 articles`.
pub(super) fn counted(number: usize, name: &str) -> String {
    format!("{number} {name}{}", if number == 1 { "" } else { "s" })
}

/// The hits of a search in Wikipedia, as Markdown.
pub(super) fn wikipedia_hits(answer: &Value, values: &Values) -> String {
    let hits = rows(answer, "/query/search");
    if hits.is_empty() {
        return format!("Wikipedia has no article about \"{}\".", values.text("query"));
    }
    let found = counted(hits.len(), "Wikipedia article");
    let mut out = format!("Found {found} about \"{}\":\n", values.text("query"));
    for (at, hit) in hits.iter().enumerate() {
        let _ = write!(out, "\n{}. **{}**", at + 1, said(hit, &["title"]));
        let snippet = said(hit, &["snippet"]);
        if !snippet.is_empty() {
            let _ = write!(out, "\n   {snippet}");
        }
    }
    out
}

/// The introduction of an article, as Markdown.
pub(super) fn wikipedia_summary(answer: &Value, values: &Values) -> String {
    // One page, in a map by ID or in a list, depending on the version of the format.
    let page = match answer.pointer("/query/pages") {
        Some(Value::Object(pages)) => pages.values().next(),
        Some(Value::Array(pages)) => pages.first(),
        _ => None,
    };
    let title = values.text("title");
    let Some(page) = page.filter(|page| page.get("missing").is_none() && page.get("invalid").is_none())
    else {
        return format!("Wikipedia has no article \"{title}\".");
    };
    let mut out = format!("# {}\n\n", said(page, &["title"]));
    match page.get("extract").and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty()) {
        Some(text) => out.push_str(&cut(text)),
        None => out.push_str("The article has no introduction."),
    }
    if let Some(image) = page.get("thumbnail").and_then(|image| link(image, &["source"])) {
        let _ = write!(out, "\n\n**Image:** {image}");
    }
    let number = said(page, &["pageid"]);
    let url = link(page, &["fullurl"]).unwrap_or_else(|| format!("{}/?curid={number}", wikipedia(values)));
    let _ = write!(out, "\n\n**Source:** {url}");
    out
}

/// The articles near a point, as Markdown.
pub(super) fn wikipedia_near(answer: &Value, values: &Values) -> String {
    let hits = rows(answer, "/query/geosearch");
    let point = format!("{}, {}", said_number(values, "latitude"), said_number(values, "longitude"));
    if hits.is_empty() {
        let radius = values.int("radius").unwrap_or_default();
        return format!("Wikipedia has no article about a place within {radius} m of ({point}).");
    }
    let mut out = format!("Found {} near ({point}):\n", counted(hits.len(), "Wikipedia article"));
    for (at, hit) in hits.iter().enumerate() {
        let away = hit.get("dist").and_then(Value::as_f64).map(|m| format!(" ({m:.0} m away)"));
        let _ = write!(out, "\n{}. **{}**{}", at + 1, said(hit, &["title"]), away.unwrap_or_default());
        let number = said(hit, &["pageid"]);
        if !number.is_empty() {
            let _ = write!(out, "\n   {}/?curid={number}", wikipedia(values));
        }
    }
    out
}

/// A number among a call's arguments, as the caller wrote it.
pub(super) fn said_number(values: &Values, name: &str) -> String {
    values.number(name).map(|number| number.to_string()).unwrap_or_default()
}

/// The hits of a search in the encyclopaedia, as Markdown.
pub(super) fn snl_hits(answer: &Value, values: &Values) -> String {
    let hits = rows(answer, "");
    if hits.is_empty() {
        return format!("Store norske leksikon has no article about \"{}\".", values.text("query"));
    }
    let found = counted(hits.len(), "article");
    let mut out = format!("Found {found} in Store norske leksikon about \"{}\":\n", values.text("query"));
    for (at, hit) in hits.iter().enumerate() {
        let _ = write!(out, "\n{}. **{}**", at + 1, said(hit, &["headword", "title"]));
        let number = said(hit, &["article_id"]);
        if !number.is_empty() {
            let _ = write!(out, " (article {number})");
        }
        let snippet = said(hit, &["snippet", "first_two_sentences"]);
        if !snippet.is_empty() {
            let _ = write!(out, "\n   {snippet}");
        }
        if let Some(url) = link(hit, &["article_url", "permalink"]) {
            let _ = write!(out, "\n   {url}");
        }
    }
    out
}

/// An article of the encyclopaedia, as Markdown.
pub(super) fn snl_article(answer: &Value, values: &Values) -> String {
    let title = said(answer, &["headword", "title"]);
    let title = if title.is_empty() { values.text("identifier").to_owned() } else { title };
    let body =
        ["plain_text_body", "xhtml_body"].iter().find_map(|name| answer.get(name).and_then(Value::as_str));
    let body = body.map(html::as_text).filter(|body| !body.is_empty());
    let mut out =
        format!("# {title}\n\n{}", cut(&body.unwrap_or_else(|| "The article has no text.".to_owned())));
    let authors: Vec<String> = rows(answer, "/authors")
        .iter()
        .map(|author| said(author, &["full_name", "name"]))
        .filter(|name| !name.is_empty())
        .collect();
    let changed: String = said(answer, &["changed_at"]).chars().take(10).collect();
    let licence = said(answer, &["license_name", "license"]);
    let source = link(answer, &["article_url", "permalink", "url"]).unwrap_or_default();
    let authors = authors.join(", ");
    for (label, text) in
        [("Authors", authors), ("Changed", changed), ("Licence", licence), ("Source", source)]
    {
        if !text.is_empty() {
            let _ = write!(out, "\n\n**{label}:** {text}");
        }
    }
    out
}

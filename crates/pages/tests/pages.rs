//! Every page with no rows, one row, 5 000 rows and hostile text: well-formed, without styles or scripts of its own, with labels, and small.

#[path = "../examples/gallery/sample/mod.rs"]
mod sample;
mod tree;

use dragoman_pages::{asset, csv, model, page, route};
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use sample::Sample;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use tree::{Element, parsed};

/// The data that every page is tried with.
fn samples() -> [Sample; 5] {
    [
        Sample::default(),
        Sample { rows: 0, hostile: None },
        Sample { rows: 1, hostile: None },
        Sample { rows: 5_000, hostile: None },
        Sample { rows: 3, hostile: Some(sample::HOSTILE.to_owned()) },
    ]
}

/// A check of a page.
type Check = fn(&str, &[Element]);

#[test]
fn every_page_is_sound() {
    let checks: [Check; 7] =
        [nothing_of_its_own, our_own_addresses, one_heading, ids, labels, tokens, classes];
    for sample in samples() {
        for (name, html) in sample::all(&sample) {
            let page = format!(
                "{name} with {} rows{}",
                sample.rows,
                if sample.hostile.is_some() { " of hostile text" } else { "" }
            );
            let elements = parsed(&page, &html);
            for check in checks {
                check(&page, &elements);
            }
        }
    }
}

/// Parts of pages are no documents.
fn is_document(page: &str) -> bool {
    !page.starts_with("overview-now ")
}

/// No page has a style or a script of its own.
fn nothing_of_its_own(page: &str, elements: &[Element]) {
    for element in elements {
        assert!(
            element.name != "style" && element.name != "base" && element.name != "iframe",
            "{page}: {element:?}"
        );
        assert!(
            element.name != "script" || (element.has("src") && element.text.is_empty()),
            "{page}: {element:?}"
        );
        for (attribute, _) in &element.attributes {
            assert!(
                attribute != "style" && !attribute.starts_with("on") && !attribute.starts_with("hx-on"),
                "{page}: {element:?}"
            );
        }
    }
}

/// Pages lead to our own addresses alone.
fn our_own_addresses(page: &str, elements: &[Element]) {
    for element in elements {
        for attribute in [
            "href",
            "src",
            "action",
            "formaction",
            "hx-get",
            "hx-post",
            "data-stream",
            "poster",
            "data",
            "srcset",
            "xlink:href",
        ] {
            let Some(url) = element.get(attribute) else { continue };
            let ours =
                url == route::ROOT || ["/admin/", "/admin?", "#"].iter().any(|start| url.starts_with(start));
            assert!(ours && !url.contains("//"), "{page}: {attribute}={url}");
            // Browsers take encoded dots for dots.
            let dots = url.to_ascii_lowercase().replace("%2e", ".");
            let path = dots.split('?').next().unwrap_or_default();
            assert!(!path.split('/').any(|part| part == "." || part == ".."), "{page}: {attribute}={url}");
        }
    }
}

/// Each page has one heading of the first level.
fn one_heading(page: &str, elements: &[Element]) {
    let headings = elements.iter().filter(|element| element.name == "h1").count();
    assert_eq!(headings, usize::from(is_document(page)), "{page}");
}

/// Ids are unique, and references to them lead somewhere.
fn ids(page: &str, elements: &[Element]) {
    let mut ids = BTreeSet::new();
    for id in elements.iter().filter_map(|element| element.get("id")) {
        assert!(!id.is_empty() && ids.insert(id), "{page}: the id `{id}` appears twice");
    }
    for element in elements {
        for attribute in ["aria-labelledby", "aria-describedby", "for", "list", "popovertarget", "data-copy"]
        {
            for id in element.get(attribute).unwrap_or_default().split_whitespace() {
                assert!(ids.contains(id), "{page}: {attribute}={id} leads nowhere");
            }
        }
        if let Some(id) = element.get("href").and_then(|href| href.strip_prefix('#')) {
            assert!(ids.contains(id), "{page}: #{id} leads nowhere");
        }
    }
}

/// Each field has a label, and each button and link has words.
fn labels(page: &str, elements: &[Element]) {
    let labelled: BTreeSet<&str> =
        elements.iter().filter(|e| e.name == "label").filter_map(|e| e.get("for")).collect();
    for element in
        elements.iter().filter(|element| ["input", "select", "textarea"].contains(&element.name.as_str()))
    {
        let hidden = element.get("type") == Some("hidden");
        let has_label =
            element.get("id").is_some_and(|id| labelled.contains(id)) || element.has("aria-label");
        assert!(hidden || has_label, "{page}: {element:?} has no label");
    }
    for element in elements.iter().filter(|element| element.name == "button" || element.name == "a") {
        assert!(
            !element.text.trim().is_empty() || element.has("aria-label"),
            "{page}: {element:?} has no words"
        );
    }
}

/// Each form that writes has the token; the login page has no session, and so no token.
fn tokens(page: &str, elements: &[Element]) {
    let forms = elements.iter().filter(|e| e.name == "form" && e.get("method") == Some("post")).count();
    let tokens = elements
        .iter()
        .filter(|e| e.get("name") == Some("csrf") && e.get("value") == Some("b8a0c2f4e6"))
        .count();
    let expected = if page.starts_with("login ") { 0 } else { forms };
    assert_eq!(expected, tokens, "{page}");
}

#[test]
fn empty_pages_say_what_to_do() {
    let empty = Sample { rows: 0, hostile: None };
    for (name, html) in sample::all(&empty).iter().filter(|(name, _)| {
        ["servers", "tools", "profiles", "calls", "sessions", "keys", "access", "limits", "logins", "doctor"]
            .contains(name)
    }) {
        assert!(html.contains("class=\"empty\""), "{name}");
    }
}

#[test]
fn five_thousand_rows_stay_a_page() {
    for (name, html) in sample::all(&Sample { rows: 5_000, hostile: None }) {
        assert!(html.len() < 1_200_000, "{name}: {} bytes", html.len());
    }
}

#[test]
fn the_first_page_is_small() {
    let overview =
        page::overview(&Sample::default().frame(), &sample::overview(&Sample::default())).into_string();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(overview.as_bytes()).unwrap();
    let assets: usize = asset::ASSETS.iter().map(|asset| asset.gzip.len()).sum();
    let all = encoder.finish().unwrap().len() + assets;
    assert!(all < 50_000, "the first page has {all} bytes");
}

#[test]
fn the_style_sheet_and_the_scripts_ask_nobody_else() {
    for asset in [&asset::STYLE, &asset::SCRIPT] {
        let text = std::str::from_utf8(asset.body).unwrap();
        for word in ["http:", "https:", "@import", "url(", "eval(", "new Function", "document.write"] {
            assert!(!text.contains(word), "{} contains {word}", asset.name);
        }
    }
}

/// The style sheet knows each class.
fn classes(page: &str, elements: &[Element]) {
    let css = String::from_utf8_lossy(asset::STYLE.body);
    let known: BTreeSet<&str> = css
        .split('.')
        .skip(1)
        .map(|rest| {
            &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len())]
        })
        .collect();
    // Words that only describe.
    let plain =
        ["plain", "alone", "words", "state", "box", "bulk", "traffic", "client", "menu", "who", "p50"];
    let unknown = |class: &str| !known.contains(class) && !plain.contains(&class);
    let all = elements.iter().flat_map(|element| element.get("class").unwrap_or_default().split_whitespace());
    let missing: BTreeSet<&str> = all.filter(|class| unknown(class)).collect();
    assert!(missing.is_empty(), "{page}: no style for the classes {missing:?}");
}

#[test]
fn the_record_is_written_for_spreadsheets() {
    let row = model::CallRow {
        tool: sample::HOSTILE.into(),
        client: Some("=1+1".into()),
        ..model::CallRow::default()
    };
    let line = csv::call_line(&row);
    assert!(line.contains("\"'=1+1\"") && line.matches('\n').count() == 1, "{line}");
}

/// The number of elements of each name, without those that mark characters.
fn shape(name: &str, html: &str) -> BTreeMap<String, usize> {
    let mut shape = BTreeMap::new();
    for element in parsed(name, html).into_iter().filter(|e| !matches!(e.get("class"), Some("odd" | "cut"))) {
        let names: Vec<&str> = element
            .attributes
            .iter()
            .map(|(name, _)| name.as_str())
            .filter(|name| *name != "selected")
            .collect();
        *shape.entry(format!("{} {names:?}", element.name)).or_insert(0) += 1;
    }
    shape
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_text_changes_the_shape_of_a_page(text in "\\PC{1,24}|[<>\"'&/=a-z \\-!\u{202e}\u{0}\u{1b}\n\r]{1,60}|(</?(script|style|textarea|pre|option|title|svg|p|td|form)[ />]){1,6}") {
        prop_assume!(!text.trim().is_empty());
        let hostile = Sample { rows: 2, hostile: Some(text) };
        let harmless = Sample { rows: 2, hostile: Some("x".to_owned()) };
        for ((name, html), (_, expected)) in sample::all(&hostile).iter().zip(sample::all(&harmless)) {
            prop_assert_eq!(shape(name, html), shape(name, &expected), "{}", name);
        }
    }
}

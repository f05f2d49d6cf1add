//! The pages of the site in one folder. In the repository, pages link to each other and to other files by paths
//! within the repository; these links are rewritten. This module must not know mdBook.

use super::commands;
use crate::files::{failed, read};
use std::fs;
use std::path::Path;

/// The pages that are not in `docs`.
const OTHERS: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];

/// Files and folders that pages link to.
const FILES: [&str; 6] = [
    "deploy",
    "docs/pictures",
    "crates/server/tests/dialects/transcripts",
    "fuzz/README.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
];

/// A page of the site.
struct Page {
    name: String,
    text: String,
}

/// Writes all pages, the table of contents, and the files that they link to.
pub(super) fn write(checkout: &Path, to: &Path) -> Result<(), String> {
    for Page { name, text } in pages(checkout)? {
        let file = to.join(&name);
        fs::write(&file, text).map_err(|error| failed(&file, &error))?;
    }
    for name in FILES {
        copy(&checkout.join(name), &to.join(name.strip_prefix("docs/").unwrap_or(name)))?;
    }
    Ok(())
}

fn pages(checkout: &Path) -> Result<Vec<Page>, String> {
    let docs = checkout.join("docs");
    let mut pages = vec![
        Page { name: "SUMMARY.md".to_owned(), text: read(&docs.join("book/SUMMARY.md"))? },
        Page { name: "commands.md".to_owned(), text: commands::page(checkout)? },
    ];
    for entry in fs::read_dir(&docs).map_err(|error| failed(&docs, &error))? {
        let path = entry.map_err(|error| failed(&docs, &error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.extension().is_some_and(|ending| ending == "md") {
            pages.push(Page { name, text: from_docs(&read(&path)?) });
        }
    }
    for name in OTHERS {
        pages.push(Page { name: name.to_owned(), text: from_top(&read(&checkout.join(name))?) });
    }
    let titles: Vec<(String, String)> =
        pages.iter().filter_map(|page| Some((page.name.clone(), title(&page.text)?))).collect();
    for page in &mut pages {
        page.text = titled(&page.text, &titles);
    }
    Ok(pages)
}

/// The title of a page.
fn title(text: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix("# ")).map(str::to_owned)
}

/// Replaces the text of each link that is the name of a page's file with the title of the page.
fn titled(text: &str, titles: &[(String, String)]) -> String {
    titles.iter().fold(text.to_owned(), |text, (name, title)| {
        let title = format!("[{title}](");
        text.replace(&format!("[{name}]("), &title).replace(&format!("[docs/{name}]("), &title)
    })
}

/// Rewrites the links of a page in `docs`: in the site, files above that folder are in the page's folder.
fn from_docs(text: &str) -> String {
    rewritten(text, |link| link.strip_prefix("../").map(str::to_owned))
}

/// Rewrites the links of a page in the top folder: in the site, files in `docs` are in the page's folder.
fn from_top(text: &str) -> String {
    rewritten(text, |link| link.strip_prefix("docs/").map(str::to_owned))
}

/// Replaces the targets of links and pictures: `](TARGET)`.
fn rewritten(text: &str, change: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("](") {
        let (before, link) = rest.split_at(start + 2);
        out.push_str(before);
        let end = link.find(')').unwrap_or(link.len());
        let (target, after) = link.split_at(end);
        match change(target) {
            Some(changed) => out.push_str(&changed),
            None => out.push_str(target),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Copies a file, or a folder with everything in it.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    if from.is_file() {
        let folder = to.parent().unwrap_or(to);
        fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
        return fs::copy(from, to).map(drop).map_err(|error| failed(to, &error));
    }
    fs::create_dir_all(to).map_err(|error| failed(to, &error))?;
    for entry in fs::read_dir(from).map_err(|error| failed(from, &error))? {
        let path = entry.map_err(|error| failed(from, &error))?.path();
        copy(&path, &to.join(path.file_name().unwrap_or_default()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{FILES, from_docs, from_top, pages, rewritten, titled};
    use crate::root::checkout;
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    /// The targets of all links of a text that lead to pages and files of the site.
    fn targets(text: &str) -> BTreeSet<String> {
        let found = RefCell::new(BTreeSet::new());
        rewritten(text, |link| {
            let target = link.split('#').next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !target.contains(char::is_whitespace) {
                found.borrow_mut().insert(target.to_owned());
            }
            None
        });
        found.into_inner()
    }

    #[test]
    fn links_follow_the_pages() {
        assert_eq!(
            from_docs("[a](../deploy/x) ![b](pictures/y.png) [c](z.md#w)"),
            "[a](deploy/x) ![b](pictures/y.png) [c](z.md#w)"
        );
        assert_eq!(from_top("[a](docs/x.md) [b](https://docs/x)"), "[a](x.md) [b](https://docs/x)");
    }

    #[test]
    fn names_of_files_become_titles() {
        let titles = [("x.md".to_owned(), "The X".to_owned())];
        assert_eq!(
            titled("[x.md](x.md#y) [docs/x.md](x.md) [x](x.md)", &titles),
            "[The X](x.md#y) [The X](x.md) [x](x.md)"
        );
    }

    #[test]
    fn the_table_of_contents_names_every_page_once_and_nothing_else() {
        let pages = pages(&checkout()).unwrap();
        let summary = pages.iter().find(|page| page.name == "SUMMARY.md").unwrap();
        let listed = targets(&summary.text);
        let there: BTreeSet<String> =
            pages.iter().map(|page| page.name.clone()).filter(|name| name != "SUMMARY.md").collect();
        assert_eq!(listed, there);
        assert_eq!(summary.text.matches("](").count(), listed.len(), "no page is listed twice");
    }

    #[test]
    fn every_link_leads_to_a_page_or_a_file_of_the_site() {
        let pages = pages(&checkout()).unwrap();
        let names: BTreeSet<&str> = pages.iter().map(|page| page.name.as_str()).collect();
        for page in &pages {
            for target in targets(&page.text) {
                let is_copied =
                    |folder: &&str| target.starts_with(folder.strip_prefix("docs/").unwrap_or(folder));
                let is_file =
                    || ["", "docs"].iter().any(|folder| checkout().join(folder).join(&target).is_file());
                let is_there = names.contains(target.as_str()) || (FILES.iter().any(is_copied) && is_file());
                assert!(is_there, "{} links to {target}, which is not there", page.name);
            }
        }
    }
}

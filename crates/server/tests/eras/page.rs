//! `docs/eras.md`, printed from the tables of features and cells.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::cells;
use crate::stage::Feature;
use crate::transcript::same;
use crate::version::{Pair, Version};

/// The text before the matrix.
const INTRODUCTION: &str = include_str!("introduction.md");

/// The features that every pair has, then a table for each other feature, then the reasons.
fn matrix() -> String {
    let mut reasons: Vec<&str> = Vec::new();
    let mut always = Vec::new();
    // Features with the same cells share a table.
    let mut tables: Vec<(Vec<&str>, String)> = Vec::new();
    for feature in crate::FEATURES.iter().copied().flatten() {
        if Pair::all().all(|pair| cells::reason(feature.name, pair).is_none()) {
            always.push(feature.title);
            continue;
        }
        let table = table(feature, &mut reasons);
        match tables.iter_mut().find(|(_, known)| *known == table) {
            Some((titles, _)) => titles.push(feature.title),
            None => tables.push((vec![feature.title], table)),
        }
    }
    let mut text = String::from("## What works between all versions\n\n");
    for title in always {
        let _ = writeln!(text, "- {title}");
    }
    text.push_str(
        "\n## What some pairs cannot do\n\nRows show the client's version, columns the server's version. \
         ✓ means that the feature works; a number refers to a reason below.\n",
    );
    for (titles, table) in tables {
        let _ = write!(text, "\n### {}\n\n{table}", titles.join(" · "));
    }
    text.push_str("\n## Why\n\n");
    for (number, reason) in reasons.iter().enumerate() {
        let mut letters = reason.chars();
        let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
        let _ = writeln!(text, "{}. {first}{}.", number + 1, letters.as_str());
    }
    text
}

fn table(feature: &Feature, reasons: &mut Vec<&'static str>) -> String {
    let mut text = String::from("| |");
    for upstream in Version::ALL {
        let _ = write!(text, " {upstream} |");
    }
    text.push_str("\n|---|");
    for _ in Version::ALL {
        text.push_str(":-:|");
    }
    text.push('\n');
    for client in Version::ALL {
        let _ = write!(text, "| **{client}** |");
        for upstream in Version::ALL {
            let pair = Pair { client, upstream };
            let cell = match cells::reason(feature.name, pair) {
                None => "✓".to_owned(),
                Some(reason) => {
                    let known = reasons.iter().position(|one| *one == reason);
                    let at = known.unwrap_or_else(|| {
                        reasons.push(reason);
                        reasons.len() - 1
                    });
                    (at + 1).to_string()
                }
            };
            let _ = write!(text, " {cell} |");
        }
        text.push('\n');
    }
    text
}

/// The page matches the tables.
#[test]
fn the_page_shows_the_matrix() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/eras.md");
    let text = format!("{INTRODUCTION}\n{}", matrix());
    same(&path, &text).unwrap_or_else(|why| panic!("{why}"));
}

/// Each reason applies to at least one cell.
#[test]
fn no_reason_is_idle() {
    for (number, cells) in cells::IMPOSSIBLE.iter().enumerate() {
        for feature in cells.features {
            let known = crate::FEATURES.iter().copied().flatten().any(|known| known.name == *feature);
            assert!(known, "there is no feature {feature}");
        }
        let stands = Pair::all()
            .any(|pair| cells.features.iter().any(|one| cells::reason(one, pair) == Some(cells.reason)));
        assert!(stands, "no cell has the reason {number}: {}", cells.reason);
    }
}

//! "Did you mean …?": the known name that is nearest to a mistyped one.

use strsim::osa_distance;

pub(crate) use super::nearest::nearest;
use super::nearest::{MAX_COMPARED, plain};

/// Advice for an unknown name: the nearest known one, or the text from `otherwise`.
pub(crate) fn or<'k>(
    name: &str,
    known: impl IntoIterator<Item = &'k str>,
    otherwise: impl FnOnce() -> String,
) -> String {
    nearest(name, known).map_or_else(otherwise, |near| format!("did you mean `{near}`?"))
}

/// The known names that are most similar to `name`: first those that share a word with it, then those that differ
/// from it in the fewest characters.
pub(crate) fn ranked<'k>(name: &str, known: impl IntoIterator<Item = &'k str>, most: usize) -> Vec<&'k str> {
    let name = &name[..name.floor_char_boundary(MAX_COMPARED)];
    let wanted = plain(name);
    let words: Vec<String> = words(name).collect();
    let mut all: Vec<(bool, usize, &str)> = known
        .into_iter()
        .map(|candidate| {
            let lower = candidate.to_lowercase();
            let shares = words.iter().any(|word| lower.contains(word.as_str()));
            (!shares, osa_distance(&wanted, &plain(candidate)), candidate)
        })
        .collect();
    all.sort_unstable();
    all.into_iter().take(most).map(|(_, _, candidate)| candidate).collect()
}

/// The words of a name in lower case and in the singular, without short words.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut spaced = String::with_capacity(name.len() + 8);
    for char in name.chars() {
        if char.is_uppercase() || !char.is_alphanumeric() {
            spaced.push(' ');
        }
        spaced.extend(char.to_lowercase().filter(|char| char.is_alphanumeric()));
    }
    let words: Vec<String> = spaced.split(' ').map(|word| word.trim_end_matches('s').to_owned()).collect();
    words.into_iter().filter(|word| word.len() > 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shares_a_word_comes_first() {
        let known = ["versions", "versionPolicy", "unknownTool", "toolOrder", "ids"];
        assert_eq!(ranked("toolErrors", known, 2), ["toolOrder", "unknownTool"]);
        assert_eq!(ranked("protocolVersions", known, 2), ["versions", "versionPolicy"]);
        assert_eq!(ranked("id-kind", known, 1), ["ids"]);
        assert_eq!(ranked(&"ä".repeat(100_000), known, 9).len(), 5);
    }
}

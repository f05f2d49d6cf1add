//! Words that mean nearly the same in the names of tools and in requests for them. This module must not know how a search
//! weights them.

use std::sync::LazyLock;

use super::words::words;

/// Pairs of words with nearly the same meaning.
const PAIRS: &[(&str, &str)] = &[
    ("account", "user"),
    ("add", "create"),
    ("admin", "administrator"),
    ("analytics", "statistics"),
    ("answer", "reply"),
    ("approval", "approve"),
    ("approve", "pending"),
    ("article", "post"),
    ("attach", "upload"),
    ("bug", "issue"),
    ("cancel", "stop"),
    ("change", "update"),
    ("chat", "message"),
    ("click", "press"),
    ("close", "complete"),
    ("comment", "reply"),
    ("complete", "finish"),
    ("config", "setting"),
    ("contact", "customer"),
    ("content", "text"),
    ("copy", "duplicate"),
    ("create", "make"),
    ("create", "new"),
    ("create", "write"),
    ("database", "db"),
    ("delete", "remove"),
    ("delete", "trash"),
    ("directory", "folder"),
    ("document", "file"),
    ("download", "save"),
    ("edit", "update"),
    ("email", "mail"),
    ("entry", "item"),
    ("event", "meeting"),
    ("execute", "run"),
    ("extension", "plugin"),
    ("fetch", "get"),
    ("find", "search"),
    ("forecast", "weather"),
    ("get", "list"),
    ("get", "read"),
    ("get", "retrieve"),
    ("get", "show"),
    ("image", "photo"),
    ("image", "picture"),
    ("issue", "ticket"),
    ("keyword", "search"),
    ("label", "tag"),
    ("link", "url"),
    ("list", "show"),
    ("location", "place"),
    ("mail", "message"),
    ("media", "photo"),
    ("media", "picture"),
    ("member", "user"),
    ("modify", "update"),
    ("move", "rename"),
    ("move", "reorder"),
    ("pay", "payment"),
    ("people", "user"),
    ("permission", "role"),
    ("pr", "pull"),
    ("recover", "restore"),
    ("rename", "update"),
    ("repo", "repository"),
    ("restore", "undelete"),
    ("revision", "version"),
    ("site", "website"),
    ("task", "todo"),
];

/// The pairs, normalized for comparison.
static COMPARED: LazyLock<Vec<[String; 2]>> =
    LazyLock::new(|| PAIRS.iter().map(|(one, other)| [compared(one), compared(other)]).collect());

fn compared(word: &str) -> String {
    let mut form = String::new();
    words(word, |word| form.push_str(word));
    form
}

/// The words that mean nearly the same as `word`; all normalized for comparison.
pub(super) fn synonyms(word: &str) -> impl Iterator<Item = &'static str> {
    COMPARED.iter().filter_map(move |[one, other]| match word {
        _ if word == one => Some(&**other),
        _ if word == other => Some(&**one),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn synonyms_are_found_from_both_sides_in_every_form() {
        let of = |word: &str| synonyms(&compared(word)).collect::<Vec<_>>();
        assert_eq!(of("removing"), [compared("delete")]);
        assert!(of("deleted").contains(&&*compared("remove")));
        assert!(of("calendar").is_empty());
        assert!(COMPARED.iter().flatten().all(|form| !form.is_empty()));
    }
}

//! Similar names: the known name that a mistyped one most likely means. This module must not know what the names stand
//! for.

use strsim::osa_distance;

/// The maximum length of a name that is compared, in bytes: a longer text is unlikely to be a mistyped name.
pub const MAX_COMPARED: usize = 64;

/// The known name most similar to `name`, if the difference is small; case, `-`, `_` and spaces are ignored.
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if name.len() > MAX_COMPARED {
        return None;
    }
    let wanted = plain(name);
    let (distance, length, near) = known
        .into_iter()
        .filter(|candidate| candidate.len() <= MAX_COMPARED)
        .map(|known| {
            let candidate = plain(known);
            (osa_distance(&wanted, &candidate), candidate.chars().count(), known)
        })
        .min()?;
    let wanted = wanted.chars().count();
    let tolerated = 1 + wanted / 4;
    (distance <= tolerated && distance * 2 < wanted.max(length)).then_some(near)
}

/// A name without case, `-`, `_` and spaces.
pub fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_seen_and_other_words_are_left_alone() {
        let known = ["categories", "title", "per_page", "id", "b", "parameters", "route"];
        for (name, near) in [
            ("catgories", Some("categories")),
            ("category", Some("categories")),
            ("tilte", Some("title")),
            ("perPage", Some("per_page")),
            ("ids", Some("id")),
            ("Id", Some("id")),
            ("a", None),
            ("query", None),
            ("acf", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, known), near, "{name}");
        }
        assert_eq!(nearest(&"title".repeat(1000), known), None);
        assert_eq!(nearest("title", std::iter::empty()), None);
    }

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["command", "args", "env", "url", "mcpServers", "allowedHosts"];
        let cases = [
            ("comand", Some("command")),
            ("cmomand", Some("command")),
            ("arg", Some("args")),
            ("mcp_servers", Some("mcpServers")),
            ("MCPSERVERS", Some("mcpServers")),
            ("allowed-host", Some("allowedHosts")),
            ("urls", Some("url")),
            ("x", None),
            ("somethingElse", None),
            ("", None),
        ];
        for (name, wanted) in cases {
            assert_eq!(nearest(name, known), wanted, "{name}");
        }
        assert_eq!(nearest(&"command".repeat(100_000), known), None);
    }
}

//! Similar names: the known name that a mistyped one most likely means. It must not know what the names stand
//! for.

/// The longest name that is compared, in bytes: a longer one is not a typing error.
const LONGEST: usize = 64;

/// The known name most similar to `name`, if the difference is small; case, `-` and `_` do not count.
pub(crate) fn nearest<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    if name.len() > LONGEST {
        return None;
    }
    let wanted = plain(name);
    let (distance, length, near) = known
        .map(|known| {
            let candidate = plain(known);
            (strsim::osa_distance(&wanted, &candidate), candidate.chars().count(), known)
        })
        .min()?;
    let wanted = wanted.chars().count();
    let tolerated = 1 + wanted / 4;
    (distance <= tolerated && distance * 2 < wanted.max(length)).then_some(near)
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
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
            assert_eq!(nearest(name, known.into_iter()), near, "{name}");
        }
        assert_eq!(nearest(&"title".repeat(1000), known.into_iter()), None);
        assert_eq!(nearest("title", std::iter::empty()), None);
    }
}

//! The members of a shown answer: where each comes from, and how it is shortened. This module must not know whether the
//! answer is a list.

use serde_json::{Map, Value};

use crate::html;
use crate::tools::{Literal, Values};

/// The maximum length of a shortened text, in characters, and in bytes: most scripts other than Latin need two or three bytes
/// for each character.
const EXCERPT: usize = 160;
const EXCERPT_BYTES: usize = 200;

/// A member of a shown answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShownMember {
    /// The member's name in the shown answer.
    pub(crate) name: &'static str,
    /// The source of the member's value. A missing value is left out.
    pub(crate) from: MemberSource,
}

/// The sources of a member.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MemberSource {
    /// The answer, at this JSON Pointer (RFC 6901).
    At(&'static str),
    /// The answer, at the first of these pointers that exists.
    First(&'static [&'static str]),
    /// The answer at this pointer, or else this literal.
    Or(&'static str, Literal),
    /// A value of the call.
    Value(&'static str),
    /// A nested object, if the answer has something at this pointer.
    Object(&'static str, &'static [ShownMember]),
    /// This literal from the row.
    Fixed(Literal),
    /// The first non-empty text at these pointers, as plain text truncated to [`EXCERPT`] characters and [`EXCERPT_BYTES`] bytes.
    Excerpt(&'static [&'static str]),
    /// These members of the elements at this pointer, for at most this many elements. The elements are those of a
    /// list, or of an object with elements by name.
    Each(&'static str, &'static [ShownMember], usize),
    /// The number of elements at this pointer.
    Count(&'static str),
}

/// A member with its name and its pointer into the answer.
pub(crate) const fn pick(name: &'static str, at: &'static str) -> ShownMember {
    ShownMember { name, from: MemberSource::At(at) }
}

/// Adds the paths that these members need to `paths`.
pub(super) fn gather(picks: &[ShownMember], before: &str, paths: &mut Vec<String>) {
    let path = |at: &str| format!("{before}{at}").trim_start_matches('/').replace('/', ".");
    for pick in picks {
        match pick.from {
            MemberSource::First(places) | MemberSource::Excerpt(places) => {
                paths.extend(places.iter().map(|at| path(at)));
            }
            MemberSource::At(at)
            | MemberSource::Or(at, _)
            | MemberSource::Each(at, ..)
            | MemberSource::Count(at) => paths.push(path(at)),
            MemberSource::Object(at, picks) => gather(picks, &format!("{before}{at}"), paths),
            MemberSource::Value(_) | MemberSource::Fixed(_) => {}
        }
    }
}

/// These members of an answer, in their order.
pub(super) fn picked(answer: &Value, values: &Values, picks: &[ShownMember]) -> Value {
    let mut out = Map::new();
    for pick in picks {
        let found = match pick.from {
            MemberSource::At(at) => answer.pointer(at).cloned(),
            MemberSource::First(places) => places.iter().find_map(|at| answer.pointer(at)).cloned(),
            MemberSource::Or(at, literal) => {
                Some(answer.pointer(at).cloned().unwrap_or_else(|| literal.value()))
            }
            MemberSource::Value(name) => values.get(name).cloned(),
            MemberSource::Object(at, picks) => answer.pointer(at).map(|inner| picked(inner, values, picks)),
            MemberSource::Fixed(literal) => Some(literal.value()),
            MemberSource::Excerpt(places) => {
                places.iter().find_map(|at| excerpt(answer.pointer(at)?)).map(Value::from)
            }
            MemberSource::Each(at, picks, most) => {
                let elements = answer.pointer(at).map(|all| elements(all).into_iter().take(most));
                elements.map(|some| some.map(|element| picked(element, values, picks)).collect())
            }
            MemberSource::Count(at) => answer.pointer(at).map(|all| Value::from(elements(all).len())),
        };
        if let Some(found) = found {
            out.insert(pick.name.to_owned(), found);
        }
    }
    Value::Object(out)
}

/// The first member of a path with dots.
pub(super) fn head(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

/// The members at these dotted paths, in the same places as in the entry. The ID is always among them: further calls
/// need it.
pub(super) fn only(entry: &Value, paths: &[String]) -> Value {
    let mut out = Map::new();
    for path in std::iter::once("id").chain(paths.iter().map(String::as_str)) {
        if let Some(found) = path.split('.').try_fold(entry, |value, name| value.get(name)) {
            put(&mut out, path, found);
        }
    }
    Value::Object(out)
}

/// Puts a value at a path with dots.
fn put(out: &mut Map<String, Value>, path: &str, found: &Value) {
    match path.split_once('.') {
        None => drop(out.insert(path.to_owned(), found.clone())),
        Some((name, behind)) => {
            let inner = out.entry(name).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                put(inner, behind, found);
            }
        }
    }
}

/// The elements of a list, or of an object with elements by name.
fn elements(all: &Value) -> Vec<&Value> {
    match all {
        Value::Array(list) => list.iter().collect(),
        Value::Object(members) => members.values().collect(),
        _ => Vec::new(),
    }
}

/// A text without markup and line breaks, cut at the end of a word where possible; `None` if nothing is left.
pub(super) fn excerpt(value: &Value) -> Option<String> {
    let text = html::as_text(value.as_str()?);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = words.char_indices().nth(EXCERPT).map_or(words.len(), |(end, _)| end);
    let end = words.floor_char_boundary(end.min(EXCERPT_BYTES));
    if end == words.len() {
        return (!words.is_empty()).then_some(words);
    }
    let cut = words.get(..end).unwrap_or_default();
    let cut = cut.rsplit_once(' ').map_or(cut, |(whole, last)| if last.len() < 30 { whole } else { cut });
    Some(format!("{cut}…"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_excerpt_is_plain_text_of_limited_length() {
        let long = format!("<p>{}</p>", "word ".repeat(100));
        let cut = excerpt(&json!(long)).expect("there are words");
        assert!(cut.chars().count() <= EXCERPT && cut.ends_with("word…"), "{cut}");
        assert_eq!(
            excerpt(&json!("<p>Fish &amp; <b>chips</b>\n today</p>")).as_deref(),
            Some("Fish & chips today")
        );
        assert_eq!(excerpt(&json!("x".repeat(500))).map(|text| text.chars().count()), Some(EXCERPT + 1));
        assert_eq!((excerpt(&json!("<p> </p>")), excerpt(&json!(7))), (None, None));
        for (word, characters) in [("湖の朝は冷たい。", 66), ("озеро ", 107)] {
            let cut = excerpt(&json!(word.repeat(50))).expect("there are words");
            assert!(cut.len() <= EXCERPT_BYTES + "…".len() && cut.ends_with('…'), "{cut}");
            assert_eq!(cut.trim_end_matches('…').chars().count(), characters, "{cut}");
        }
        assert_eq!(excerpt(&json!("ё".repeat(100))).map(|text| text.chars().count()), Some(100));
    }

    #[test]
    fn entries_have_only_the_named_members() {
        let entry =
            json!({"id": 7, "title": {"rendered": "T", "raw": "t"}, "meta": {"a": 1, "b": 2}, "link": "x"});
        let paths = ["title.raw", "meta.a", "meta.b", "missing", "link.x"].map(str::to_owned);
        assert_eq!(only(&entry, &paths), json!({"id": 7, "title": {"raw": "t"}, "meta": {"a": 1, "b": 2}}));
    }

    #[test]
    fn elements_are_counted_and_limited() {
        const NAME: &[ShownMember] = &[pick("name", "/name")];
        let answer =
            json!({"list": [{"name": "a"}, {"name": "b"}], "map": {"1": {"name": "c"}}, "text": "<b>x</b>"});
        let picks = [
            ShownMember { name: "first", from: MemberSource::Each("/list", NAME, 1) },
            ShownMember { name: "map", from: MemberSource::Each("/map", NAME, 5) },
            ShownMember { name: "none", from: MemberSource::Each("/none", NAME, 5) },
            ShownMember { name: "count", from: MemberSource::Count("/list") },
            ShownMember { name: "text", from: MemberSource::Excerpt(&["/missing", "/text"]) },
        ];
        let shown = json!({"first": [{"name": "a"}], "map": [{"name": "c"}], "count": 2, "text": "x"});
        assert_eq!(picked(&answer, &Values::default(), &picks), shown);
    }
}

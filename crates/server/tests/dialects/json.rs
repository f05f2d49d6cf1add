//! JSON in transcripts: the expected value, with marks for undetermined parts, compared by its text. The order of
//! members does not matter, numbers must be spelled equally, and members that are not named must be absent.
//!
//! | written | matches |
//! |---|---|
//! | `…` | any value; among members any others; among items any number of items |
//! | `…string`, `…number`, `…boolean`, `…object`, `…array` | any value of this type |
//! | `"a … z"` | texts with anything in place of the mark |
//! | `json(V)` | a text that contains JSON which matches V |
//! | `each(V)` | a list with at least one item, where each item matches V |
//! | `count(3, V)` | a list with this number of items, where each matches V |

use crate::words::Names;

/// The largest part of a value that is shown, in bytes.
const MOST_SHOWN: usize = 400;

/// An expected value, or an actual one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// A number, by its spelling.
    Number(String),
    Text(String),
    List(Vec<Self>),
    /// Members, and true if there may be others.
    Object(Vec<(String, Self)>, bool),
    /// Any value; as an item of a list, any number of items.
    Any,
    /// Any value of this type.
    Kind(String),
    /// A text that contains JSON.
    Inner(Box<Self>),
    /// A list with this number of items, or with at least one.
    Each(Option<usize>, Box<Self>),
}

impl Json {
    /// Reads an expected value.
    pub(crate) fn expected(text: &str) -> Result<Self, String> {
        Reader { rest: text, marks: true }.whole()
    }

    /// Reads an actual value.
    pub(crate) fn found(text: &str) -> Result<Self, String> {
        // A text that a strict reader refuses is not JSON, even if the lenient reader here accepts it.
        serde_json::from_str::<serde_json::Value>(text).map_err(|e| format!("no JSON ({e}): {text}"))?;
        Reader { rest: text, marks: false }.whole()
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::Text(_) => "string",
            Self::List(_) => "array",
            Self::Object(..) => "object",
            _ => "mark",
        }
    }

    /// Checks that `found` matches this; the error is the reason why it does not.
    pub(crate) fn fits(&self, found: &Self, names: &mut Names) -> Result<(), String> {
        self.at(found, names, "")
    }

    fn at(&self, found: &Self, names: &mut Names, path: &str) -> Result<(), String> {
        let unlike = || Err(format!("{path}: {} expected, {} found", short(self), short(found)));
        match (self, found) {
            (Self::Any, _) => Ok(()),
            (Self::Kind(kind), _) if found.kind() == kind => Ok(()),
            (Self::Text(expected), Self::Text(text)) if names.fits(expected, text) => Ok(()),
            (Self::Inner(expected), Self::Text(text)) => {
                let inner = Self::found(text).map_err(|why| format!("{path}: {why}"))?;
                expected.at(&inner, names, &format!("{path}/json"))
            }
            (Self::Object(members, open), Self::Object(others, _)) => {
                members_fit(members, *open, others, names, path)
            }
            (Self::List(items), Self::List(others)) if items.contains(&Self::Any) => {
                let fits = run(items, others, names);
                if fits { Ok(()) } else { unlike() }
            }
            (Self::List(items), Self::List(others)) => {
                if items.len() != others.len() {
                    return Err(format!("{path}: {} items expected in {}", items.len(), short(found)));
                }
                let both = items.iter().zip(others).enumerate();
                both.into_iter()
                    .try_for_each(|(at, (one, other))| one.at(other, names, &format!("{path}/{at}")))
            }
            (Self::Each(count, item), Self::List(others)) => {
                let right = count.map_or(!others.is_empty(), |count| count == others.len());
                if !right {
                    return Err(format!("{path}: {} items found, {self} expected", others.len()));
                }
                let mut all = others.iter().enumerate();
                all.try_for_each(|(at, other)| item.at(other, names, &format!("{path}/{at}")))
            }
            _ if self == found && !matches!(self, Self::Text(_)) => Ok(()),
            _ => unlike(),
        }
    }
}

fn members_fit(
    members: &[(String, Json)],
    open: bool,
    others: &[(String, Json)],
    names: &mut Names,
    path: &str,
) -> Result<(), String> {
    for (key, value) in members {
        match others.iter().find(|(other, _)| other == key) {
            Some((_, other)) => value.at(other, names, &format!("{path}/{key}"))?,
            None => return Err(format!("{path}/{key}: {value} expected, nothing found")),
        }
    }
    for (at, (key, other)) in others.iter().enumerate() {
        if others[..at].iter().any(|(one, _)| one == key) {
            return Err(format!("{path}/{key}: there twice"));
        }
        if !open && members.iter().all(|(one, _)| one != key) {
            return Err(format!("{path}/{key}: nothing expected, {} found", short(other)));
        }
    }
    Ok(())
}

/// A value, shortened for a message.
fn short(value: &Json) -> String {
    let text = value.to_string();
    if text.len() <= MOST_SHOWN {
        return text;
    }
    format!("{}…", &text[..text.floor_char_boundary(MOST_SHOWN)])
}

/// Returns true if items match; a mark matches any number of items.
fn run(items: &[Json], others: &[Json], names: &mut Names) -> bool {
    match items.split_first() {
        None => others.is_empty(),
        Some((Json::Any, rest)) => (0..=others.len()).any(|skip| run(rest, &others[skip..], names)),
        Some((item, rest)) => {
            let fits = others.first().is_some_and(|other| item.fits(other, names).is_ok());
            fits && run(rest, &others[1..], names)
        }
    }
}

impl std::fmt::Display for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(spelt) => f.write_str(spelt),
            Self::Text(text) => write!(f, "{}", serde_json::Value::from(text.as_str())),
            Self::Any => f.write_str("…"),
            Self::Kind(kind) => write!(f, "…{kind}"),
            Self::Inner(value) => write!(f, "json({value})"),
            Self::Each(None, value) => write!(f, "each({value})"),
            Self::Each(Some(count), value) => write!(f, "count({count}, {value})"),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", items.join(","))
            }
            Self::Object(members, open) => {
                let mut all: Vec<String> =
                    members.iter().map(|(key, value)| format!("{key:?}:{value}")).collect();
                all.extend(open.then(|| "…".to_owned()));
                write!(f, "{{{}}}", all.join(","))
            }
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
    /// True if marks are interpreted.
    marks: bool,
}

impl Reader<'_> {
    fn whole(mut self) -> Result<Json, String> {
        let value = self.value()?;
        self.space();
        if self.rest.is_empty() { Ok(value) } else { Err(format!("more behind the value: {}", self.rest)) }
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, text: &str) -> bool {
        self.space();
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn need(&mut self, text: &str) -> Result<(), String> {
        if self.take(text) { Ok(()) } else { Err(format!("{text:?} expected before {:?}", self.rest)) }
    }

    fn value(&mut self) -> Result<Json, String> {
        self.space();
        if self.marks
            && let Some(mark) = self.mark()?
        {
            return Ok(mark);
        }
        if self.take("{") {
            return self.members();
        }
        if self.take("[") {
            return self.items();
        }
        if self.rest.starts_with('"') {
            return Ok(Json::Text(self.text()?));
        }
        let end = self.rest.find([',', ']', '}', ')', ' ', '\n', '\r', '\t']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(match word {
            "null" => Json::Null,
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            number if number.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
                Json::Number(number.to_owned())
            }
            other => return Err(format!("no value: {other:?} before {rest:?}")),
        })
    }

    fn mark(&mut self) -> Result<Option<Json>, String> {
        if self.take("…") {
            let end = self.rest.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(self.rest.len());
            let (kind, rest) = self.rest.split_at(end);
            self.rest = rest;
            return match kind {
                "" => Ok(Some(Json::Any)),
                "string" | "number" | "boolean" | "object" | "array" => Ok(Some(Json::Kind(kind.to_owned()))),
                other => Err(format!("there is no kind …{other}")),
            };
        }
        let (count, inner) = if self.take("json(") {
            (None, true)
        } else if self.take("each(") {
            (None, false)
        } else if self.take("count(") {
            let (number, rest) = self.rest.split_once(',').ok_or("count(N, V) needs a comma")?;
            self.rest = rest;
            (Some(number.trim().parse().map_err(|_| format!("{number:?} is no number"))?), false)
        } else {
            return Ok(None);
        };
        let value = Box::new(self.value()?);
        self.need(")")?;
        Ok(Some(if inner { Json::Inner(value) } else { Json::Each(count, value) }))
    }

    fn members(&mut self) -> Result<Json, String> {
        let (mut members, mut open) = (Vec::new(), false);
        while !self.take("}") {
            if !members.is_empty() || open {
                self.need(",")?;
            }
            self.space();
            if self.marks && self.take("…") {
                open = true;
                continue;
            }
            let key = self.text()?;
            self.need(":")?;
            members.push((key, self.value()?));
        }
        Ok(Json::Object(members, open))
    }

    fn items(&mut self) -> Result<Json, String> {
        let mut items = Vec::new();
        while !self.take("]") {
            if !items.is_empty() {
                self.need(",")?;
            }
            items.push(self.value()?);
        }
        Ok(Json::List(items))
    }

    fn text(&mut self) -> Result<String, String> {
        self.space();
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find(|(_, c)| {
            let ends = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        });
        let (end, _) = end.ok_or_else(|| format!("a text without an end: {}", self.rest))?;
        let (text, rest) = self.rest.split_at(end + 1);
        self.rest = rest;
        serde_json::from_str(text).map_err(|e| format!("{text}: {e}"))
    }
}

#[test]
fn json_is_compared_by_its_text() {
    let fits = |expected: &str, found: &str| {
        let (expected, found) = (Json::expected(expected).unwrap(), Json::found(found).unwrap());
        expected.fits(&found, &mut Names::default()).is_ok()
    };
    for (expected, found) in [
        (r#"{"a":1,"b":[true,null]}"#, r#"{"b":[ true , null ],"a":1}"#),
        (r#"{"a":…,…}"#, r#"{"a":{"x":1},"c":2}"#),
        (r#"[…,{"n":"b"},…]"#, r#"[{"n":"a"},{"n":"b"},{"n":"c"}]"#),
        (r#"{"t":json({"id":42,…}),"m":"Error: …"}"#, r#"{"t":"{\"id\":42,\"x\":\"\"}","m":"Error: no"}"#),
        (r#"each({"n":…string})"#, r#"[{"n":"a"},{"n":"b"}]"#),
        (r"count(2, …number)", r"[1,2e3]"),
    ] {
        assert!(fits(expected, found), "{expected} {found}");
    }
    for (expected, found) in [
        (r#"{"a":1}"#, r#"{"a":1,"isError":false}"#),
        (r#"{"a":1,"b":2}"#, r#"{"a":1}"#),
        ("1", "1.0"),
        (r#""1""#, "1"),
        (r#"{"a":1}"#, r#"{"a":1,"a":1}"#),
        (r#"[…,"x"]"#, r#"["x","y"]"#),
        ("[]", "[1]"),
        ("each(1)", "[]"),
        ("each(1)", "[1,2]"),
        ("count(2, 1)", "[1]"),
        ("json({})", r#""{""#),
        ("…string", "7"),
        ("null", "false"),
    ] {
        assert!(!fits(expected, found), "{expected} {found}");
    }
    assert!(
        Json::found("{").is_err() && Json::found("[1] 2").is_err() && Json::expected("{\"a\" 1}").is_err()
    );
}

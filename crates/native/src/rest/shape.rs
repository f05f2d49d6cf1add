//! The part of an answer that is shown, and its form.

use serde_json::{Map, Value, json};

use super::content_format::ContentFormat;
use super::normalize::{as_object, lean, normalized};
use crate::port::HttpResponse;
use crate::tools::{Literal, Values};

/// The presentations of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnswerStyle {
    /// The members that matter, asked for by name; lists with the number of all there is. A call may ask for everything.
    #[default]
    Compact,
    /// As the service gave them.
    Raw,
    /// As the systems show them that the tools come from: the same members, without totals; what has no members of its own
    /// as the service gave it.
    Plain,
}

/// The ways in which an answer becomes a result.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// All of it.
    Whole,
    /// These members of it.
    Picked(&'static [Pick]),
    /// A list: how many, and under this name these members of each.
    Listed(&'static str, &'static [Pick]),
    /// These members of it, each as its path with dots, `|` between names of which the first counts that is there; it is
    /// shown under the path's first name.
    One(&'static str),
    /// A list: how many, and under this name these members of each, as paths.
    List(&'static str, &'static str),
    /// An object of things by name: a list of them, shown like a list.
    Map(&'static str, &'static str),
    /// In words.
    Told(fn(&Value, &Values) -> String),
    /// As JSON of its own making.
    Made(fn(&Value, &Values) -> Value),
    /// A description of the file, and the file itself as a resource.
    File,
}

/// A member of what is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pick {
    /// Its name.
    pub(crate) name: &'static str,
    /// The source of its value. A missing value is left out.
    pub(crate) from: From,
}

/// The sources of a member.
#[derive(Debug, Clone, Copy)]
pub(crate) enum From {
    /// The answer, at this place (RFC 6901).
    At(&'static str),
    /// The answer, at the first of these places that there is.
    First(&'static [&'static str]),
    /// The answer at this place, or else this.
    Or(&'static str, Literal),
    /// A value of the call.
    Value(&'static str),
    /// An object of its own, when the answer has this place.
    Object(&'static str, &'static [Pick]),
    /// The row.
    Fixed(Literal),
}

/// A member with the name and place of one in the answer.
pub(crate) const fn pick(name: &'static str, at: &'static str) -> Pick {
    Pick { name, from: From::At(at) }
}

/// An answer in words.
pub(crate) const fn told(tell: fn(&Value, &Values) -> String) -> Shape {
    Shape::Told(tell)
}

/// The totals of a list that is shown page by page (`X-WP-Total`, `X-WP-TotalPages`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Totals {
    /// Entries in all.
    pub(crate) entries: Option<u64>,
    /// Pages in all.
    pub(crate) pages: Option<u64>,
}

impl Totals {
    /// Reads the totals from an answer's headers.
    pub(super) fn of(response: &HttpResponse) -> Self {
        let number = |name| response.header(name).and_then(|text| text.trim().parse().ok());
        Self { entries: number("x-wp-total"), pages: number("x-wp-totalpages") }
    }
}

/// The answer of a call: text, structured content and a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallAnswer {
    /// As text.
    pub(crate) text: String,
    /// The same as an object, where the tool has an output schema.
    pub(crate) structured: Option<Value>,
    /// The total number of entries, if the answer's headers have it.
    pub(crate) entries: Option<u64>,
    /// A file beside it (MCP, `BlobResourceContents`).
    pub(crate) file: Option<Value>,
}

impl CallAnswer {
    /// A text alone.
    pub(crate) fn text(text: String) -> Self {
        Self { text, structured: None, entries: None, file: None }
    }

    fn object(value: Value) -> Self {
        Self { text: pretty(&value), structured: Some(value), entries: None, file: None }
    }

    /// A file: what is said of it, and itself.
    fn file(mut found: Value) -> Self {
        let blob = found.as_object_mut().and_then(|members| members.remove("blob")).unwrap_or_default();
        let mut file = json!({"uri": found["uri"], "mimeType": found["mimeType"]});
        file["blob"] = blob;
        Self { file: Some(file), ..Self::object(found) }
    }
}

/// The manner in which one call's answer is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    /// Of all calls.
    pub(crate) answers: AnswerStyle,
    /// Shows the whole answer to this call.
    pub(crate) raw: bool,
    /// The totals from the answer's headers.
    pub(crate) totals: Totals,
    /// In which form content is shown, where the answer has content.
    pub(crate) content: Option<ContentFormat>,
}

impl Shape {
    /// The result of a call.
    pub(crate) fn shown(&self, answer: Value, values: &Values, manner: Manner) -> CallAnswer {
        match self {
            Self::Told(tell) => return CallAnswer::text(tell(&answer, values)),
            Self::Made(make) => return CallAnswer::object(make(&answer, values)),
            Self::File => return CallAnswer::file(answer),
            _ => {}
        }
        match manner.answers {
            AnswerStyle::Raw => CallAnswer::text(pretty(&answer)),
            AnswerStyle::Plain => CallAnswer::text(pretty(&match self {
                Self::Whole => answer,
                _ => self.shaped(answer, values, Totals::default()),
            })),
            AnswerStyle::Compact if manner.raw => CallAnswer::object(match normalized(answer) {
                Value::Array(rows) if !matches!(self, Self::Map(..)) => {
                    listed(rows, self.plural(), manner.totals)
                }
                other => object(as_object(other)),
            }),
            AnswerStyle::Compact => CallAnswer::object(match self {
                Self::Whole => match lean(answer) {
                    Value::Array(rows) => listed(rows, self.plural(), manner.totals),
                    other => object(other),
                },
                _ => said_of_content(self.shaped(normalized(answer), values, manner.totals), manner.content),
            }),
        }
    }

    fn shaped(&self, answer: Value, values: &Values, totals: Totals) -> Value {
        match *self {
            Self::Picked(picks) => picked(&answer, values, picks),
            Self::One(fields) => chosen(&answer, fields),
            Self::Listed(name, picks) => {
                let rows = rows(answer).iter().map(|row| picked(row, values, picks)).collect();
                listed(rows, name, totals)
            }
            Self::List(name, fields) | Self::Map(name, fields) => {
                let rows = rows(answer).iter().map(|row| chosen(row, fields)).collect();
                listed(rows, name, totals)
            }
            Self::Whole | Self::Told(_) | Self::Made(_) | Self::File => answer,
        }
    }

    /// Returns true if an answer fits this shape: a list, where a list is shown. PHP writes a list with gaps as an object
    /// of its entries. An older site takes the end of a route for a part of a name and shows one thing instead.
    pub(super) fn is_of(&self, answer: &Value) -> bool {
        match (self, answer) {
            (Self::Listed(..) | Self::List(..), Value::Object(members)) => {
                members.values().all(Value::is_object)
            }
            (Self::Listed(..) | Self::List(..), other) => other.is_array() || other.is_null(),
            _ => true,
        }
    }

    /// Returns true if an answer contains nothing that this shape shows. A request that changes something may get an empty
    /// answer; one that reads may not.
    pub(super) fn is_missing(&self, answer: &Value) -> bool {
        let something = answer.is_object() || answer.is_array();
        match self {
            Self::Picked(_) | Self::One(_) => !something,
            Self::Map(..) => !something && !answer.is_null(),
            _ => false,
        }
    }

    /// The member that holds a list's entries.
    fn plural(&self) -> &'static str {
        match self {
            Self::Listed(name, _) | Self::List(name, _) | Self::Map(name, _) => name,
            _ => "items",
        }
    }

    /// The members that are shown, as WordPress's `_fields` wants them; `None` when all are. Whole members: where it fills in
    /// content, captions and earlier versions, it takes `content.rendered` for nothing that it knows.
    pub(super) fn fields(&self) -> Option<String> {
        let mut names: Vec<String> = Vec::new();
        match self {
            Self::Picked(picks) | Self::Listed(_, picks) => gather(picks, "", &mut names),
            Self::One(fields) | Self::List(_, fields) => {
                names.extend(fields.split_ascii_whitespace().map(|path| head(path).to_owned()));
            }
            // `_fields` empties an object of things by name.
            Self::Map(..) | Self::Whole | Self::Told(_) | Self::Made(_) | Self::File => return None,
        }
        let mut once: Vec<&str> = Vec::new();
        for name in names.iter().map(|path| head(path)) {
            if !once.contains(&name) {
                once.push(name);
            }
        }
        Some(once.join(","))
    }

    /// The schema of what is shown when answers are compact. Members have no types there: a call may ask for raw answers, and
    /// plugins change what sites say.
    pub(crate) fn schema(&self) -> Option<Value> {
        let list = |name: &str| {
            json!({"type": "object", "properties": {
                "count": {"type": "integer", "description": "Number of entries in this answer."},
                "total": {"type": "integer", "description": "Total number of entries."},
                "total_pages": {"type": "integer", "description": "Total number of pages."},
                name: {"type": "array", "items": {"type": "object"}},
            }})
        };
        let one = |names: Vec<&str>| {
            let members: Map<String, Value> =
                names.into_iter().map(|name| (name.to_owned(), json!({}))).collect();
            json!({"type": "object", "properties": members})
        };
        match self {
            Self::Told(_) => None,
            Self::Whole | Self::Made(_) => Some(json!({"type": "object"})),
            Self::File => Some(one(vec!["uri", "name", "mimeType", "size"])),
            Self::Picked(picks) => Some(one(picks.iter().map(|pick| pick.name).collect())),
            Self::One(fields) => Some(one(fields.split_ascii_whitespace().map(head).collect())),
            Self::Listed(name, _) | Self::List(name, _) | Self::Map(name, _) => Some(list(name)),
        }
    }
}

/// The entries of a list, or of an object of things by name.
fn rows(answer: Value) -> Vec<Value> {
    match answer {
        Value::Array(rows) => rows,
        Value::Object(members) => members.into_iter().map(|(_, value)| value).collect(),
        _ => Vec::new(),
    }
}

fn listed(rows: Vec<Value>, name: &str, totals: Totals) -> Value {
    let mut out = Map::new();
    out.insert("count".to_owned(), Value::from(rows.len()));
    out.extend(totals.entries.map(|total| ("total".to_owned(), Value::from(total))));
    out.extend(totals.pages.map(|pages| ("total_pages".to_owned(), Value::from(pages))));
    out.insert(name.to_owned(), Value::Array(rows));
    Value::Object(out)
}

/// An object, as structured results have to be.
fn object(answer: Value) -> Value {
    match answer {
        Value::Object(_) => answer,
        Value::Null => json!({}),
        other => json!({"value": other}),
    }
}

/// An answer with the members that say in which form its content is.
fn said_of_content(mut answer: Value, content: Option<ContentFormat>) -> Value {
    if let (Some(members), Some(format)) = (answer.as_object_mut(), content) {
        members.extend(format.members().into_iter().map(|(name, value)| (name.to_owned(), value)));
    }
    answer
}

fn head(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

fn chosen<'a>(answer: &'a Value, fields: &str) -> Value {
    let mut out = Map::new();
    for path in fields.split_ascii_whitespace() {
        let name = head(path);
        // Of parts with `|` between, the first that there is.
        let part = |value: &'a Value, parts: &str| parts.split('|').find_map(|part| value.get(part));
        let found = path.split('.').try_fold(answer, part);
        if let Some(found) = found.or_else(|| answer.get(name)) {
            out.insert(name.to_owned(), found.clone());
        }
    }
    Value::Object(out)
}

fn gather(picks: &[Pick], before: &str, paths: &mut Vec<String>) {
    let path = |at: &str| format!("{before}{at}").trim_start_matches('/').replace('/', ".");
    for pick in picks {
        match pick.from {
            From::At(at) | From::Or(at, _) => paths.push(path(at)),
            From::First(places) => paths.extend(places.iter().map(|at| path(at))),
            From::Object(at, picks) => gather(picks, &format!("{before}{at}"), paths),
            From::Value(_) | From::Fixed(_) => {}
        }
    }
}

fn picked(answer: &Value, values: &Values, picks: &[Pick]) -> Value {
    let mut out = Map::new();
    for pick in picks {
        let found = match pick.from {
            From::At(at) => answer.pointer(at).cloned(),
            From::First(places) => places.iter().find_map(|at| answer.pointer(at)).cloned(),
            From::Or(at, literal) => Some(answer.pointer(at).cloned().unwrap_or_else(|| literal.value())),
            From::Value(name) => values.get(name).cloned(),
            From::Object(at, picks) => answer.pointer(at).map(|inner| picked(inner, values, picks)),
            From::Fixed(literal) => Some(literal.value()),
        };
        if let Some(found) = found {
            out.insert(pick.name.to_owned(), found);
        }
    }
    Value::Object(out)
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

//! The part of an answer that is shown, and its form.

use serde_json::{Map, Value, json};

use super::content_format::ContentFormat;
use super::normalize::{as_object, lean, normalized};
use super::plain_text::plain;
use crate::port::HttpResponse;
use crate::tools::{Literal, Values};

/// The styles in which answers are presented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnswerStyle {
    /// The important members, requested by name; lists come with the total number of entries. A call may ask for everything.
    #[default]
    Compact,
    /// As the service returned them.
    Raw,
    /// As the systems that presets replace show them: the same members, without totals. An answer without members of
    /// its own is shown as the service returned it.
    Plain,
}

/// The ways in which an answer becomes a result.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// The whole answer.
    Whole,
    /// These members of the answer.
    Picked(&'static [Pick]),
    /// A list: the number of entries and, under this name, these members of each entry.
    Listed(&'static str, &'static [Pick]),
    /// These members of the answer, each given as a path with dots. `|` separates alternative names, of which the first
    /// existing one counts. A member is shown under the first name of its path.
    One(&'static str),
    /// A list: the number of entries and, under this name, these members of each entry, given as paths.
    List(&'static str, &'static str),
    /// An object that contains items by name, shown as a list of the items.
    Map(&'static str, &'static str),
    /// Text that this function makes from the answer.
    Told(fn(&Value, &Values) -> String),
    /// JSON that this function makes from the answer.
    Made(fn(&Value, &Values) -> Value),
    /// A description of the file, and the file itself as a resource.
    File,
}

/// A member of a shown answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pick {
    /// The member's name in the shown answer.
    pub(crate) name: &'static str,
    /// The source of the member's value. A missing value is left out.
    pub(crate) from: From,
}

/// The sources of a member.
#[derive(Debug, Clone, Copy)]
pub(crate) enum From {
    /// The answer, at this JSON Pointer (RFC 6901).
    At(&'static str),
    /// The answer, at the first of these pointers that exists.
    First(&'static [&'static str]),
    /// The answer at this pointer, or else this literal.
    Or(&'static str, Literal),
    /// A value of the call.
    Value(&'static str),
    /// A nested object, if the answer has something at this pointer.
    Object(&'static str, &'static [Pick]),
    /// This literal from the row.
    Fixed(Literal),
}

/// A member with its name and its pointer into the answer.
pub(crate) const fn pick(name: &'static str, at: &'static str) -> Pick {
    Pick { name, from: From::At(at) }
}

/// A shape that turns an answer into text with `tell`.
pub(crate) const fn told(tell: fn(&Value, &Values) -> String) -> Shape {
    Shape::Told(tell)
}

/// The totals of a paginated list (`X-WP-Total`, `X-WP-TotalPages`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Totals {
    /// The total number of entries.
    pub(crate) entries: Option<u64>,
    /// The total number of pages.
    pub(crate) pages: Option<u64>,
}

impl Totals {
    /// Reads the totals from an answer's headers.
    pub(super) fn of(response: &HttpResponse) -> Self {
        let number = |name| response.header(name).and_then(|text| text.trim().parse().ok());
        Self { entries: number("x-wp-total"), pages: number("x-wp-totalpages") }
    }
}

/// The answer to a call: text, structured content and a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallAnswer {
    /// The text of the answer.
    pub(crate) text: String,
    /// The same answer as an object, if the tool has an output schema.
    pub(crate) structured: Option<Value>,
    /// The total number of entries, if the answer's headers have it.
    pub(crate) entries: Option<u64>,
    /// A file in addition to the text (MCP, `BlobResourceContents`).
    pub(crate) file: Option<Value>,
}

impl CallAnswer {
    /// An answer with text only.
    pub(crate) fn text(text: String) -> Self {
        Self { text, structured: None, entries: None, file: None }
    }

    fn object(value: Value) -> Self {
        Self { text: pretty(&value), structured: Some(value), entries: None, file: None }
    }

    /// An answer with a file: its description, and the file itself.
    fn file(mut found: Value) -> Self {
        let blob = found.as_object_mut().and_then(|members| members.remove("blob")).unwrap_or_default();
        let mut file = json!({"uri": found["uri"], "mimeType": found["mimeType"]});
        file["blob"] = blob;
        Self { file: Some(file), ..Self::object(found) }
    }
}

/// The presentation of one call's answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    /// The style that is configured for the answers of this server.
    pub(crate) answers: AnswerStyle,
    /// Shows the whole answer to this call.
    pub(crate) raw: bool,
    /// The totals from the answer's headers.
    pub(crate) totals: Totals,
    /// The form in which content is shown, if the answer has content.
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
            AnswerStyle::Compact => CallAnswer::object(self.compact(answer, values, manner)),
        }
    }

    fn compact(&self, answer: Value, values: &Values, manner: Manner) -> Value {
        if !matches!(self, Self::Whole) {
            let answer = plain(normalized(answer));
            return said_of_content(self.shaped(answer, values, manner.totals), manner.content);
        }
        match plain(lean(answer)) {
            Value::Array(rows) => listed(rows, self.plural(), manner.totals),
            other => object(other),
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

    /// Returns true if an answer fits this shape: a shape for lists needs a list. PHP writes a list with gaps as an
    /// object that contains the entries. An older site reads the last segment of some routes as a part of a name, and
    /// returns a single item instead.
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
    /// answer; a request that reads may not.
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

    /// The members that are shown, in the form that WordPress's `_fields` requires; `None` if all are shown. Only whole
    /// members are named: where WordPress fills in content, captions and earlier versions, it does not recognize
    /// `content.rendered`.
    pub(super) fn fields(&self) -> Option<String> {
        let mut names: Vec<String> = Vec::new();
        match self {
            Self::Picked(picks) | Self::Listed(_, picks) => gather(picks, "", &mut names),
            Self::One(fields) | Self::List(_, fields) => {
                names.extend(fields.split_ascii_whitespace().map(|path| head(path).to_owned()));
            }
            // `_fields` empties an object that contains items by name.
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

    /// The schema of compact answers. The schema gives members no types: a call may ask for raw answers, and plugins
    /// change what sites return.
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

/// The entries of a list, or of an object that contains items by name.
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

/// An object, because structured results must be objects.
fn object(answer: Value) -> Value {
    match answer {
        Value::Object(_) => answer,
        Value::Null => json!({}),
        other => json!({"value": other}),
    }
}

/// An answer with the members that tell the form of its content.
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
        // `|` separates alternatives; the first existing one counts.
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

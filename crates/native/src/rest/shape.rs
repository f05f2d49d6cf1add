//! The part of an answer that is shown, and its form.

use serde_json::{Map, Value, json};

use super::brief::brief;
use super::content_format::ContentFormat;
use super::normalize::{as_object, lean, normalized};
use super::pick::{ShownMember, gather, head, only, picked};
use super::plain_text::plain;
use super::plugin_fields::plugin_fields;
use super::stored::{self, ComparedValues};
use crate::port::HttpResponse;
use crate::tools::Values;

/// The styles in which answers are presented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnswerStyle {
    /// The important members, requested by name; lists come with the total number of entries. A call may ask for everything.
    #[default]
    Compact,
    /// As the service returned them.
    Raw,
    /// In the form of the systems that presets replace: the same members, without totals. An answer without members
    /// of its own is shown as the service returned it.
    Plain,
}

/// The ways in which an answer becomes a result.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// The whole answer.
    Whole,
    /// These members of the answer.
    Picked(&'static [ShownMember]),
    /// A list: the number of entries and, under this name, these members of each entry.
    Listed(&'static str, &'static [ShownMember]),
    /// These members of the answer, each given as a path with dots. `|` separates alternative names; the first one
    /// that exists is used. A member is shown under the first name of its path.
    One(&'static str),
    /// A list: the number of entries and, under this name, these members of each entry, given as paths.
    List(&'static str, &'static str),
    /// An object that contains items by name, shown as a list of the items.
    Map(&'static str, &'static str),
    /// A list that compact answers show with short entries: the number of entries and, under this name, these
    /// members of each entry. Other styles show the whole answer.
    Rows(&'static str, &'static [ShownMember]),
    /// Text that this function makes from the answer.
    Told(fn(&Value, &Values) -> String),
    /// JSON that this function makes from the answer.
    Made(fn(&Value, &Values) -> Value),
    /// A description of the file, and the file itself as a resource.
    File,
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

    /// An answer with this object as structured content and as text. The text is compact, because models read it.
    pub(super) fn object(value: Value) -> Self {
        Self { text: value.to_string(), structured: Some(value), entries: None, file: None }
    }

    /// The answer with the values that the service stored. `compared` contains the values of the call that can be compared with
    /// those in the service's answer.
    pub(super) fn with_stored(self, compared: &ComparedValues, answer: &Value) -> Self {
        let Some(shown) = self.structured.as_ref().filter(|shown| shown.is_object()) else { return self };
        let told = stored::stored(compared, answer, shown);
        if told.is_empty() {
            return self;
        }
        let mut value = shown.clone();
        if let Some(members) = value.as_object_mut() {
            members.extend(told);
        }
        Self { text: value.to_string(), structured: Some(value), ..self }
    }

    /// The answer with further members.
    pub(super) fn with_members(self, more: Map<String, Value>) -> Self {
        match self.structured {
            Some(Value::Object(mut members)) if !more.is_empty() => {
                members.extend(more);
                let value = Value::Object(members);
                Self { text: value.to_string(), structured: Some(value), ..self }
            }
            structured => Self { structured, ..self },
        }
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
pub(crate) struct Presentation<'a> {
    /// The style that is configured for the answers of this server.
    pub(crate) answers: AnswerStyle,
    /// Shows the whole answer to this call.
    pub(crate) full: bool,
    /// The members that the call asks for in each entry of a list; if empty, the members of the shape are shown.
    pub(crate) fields: &'a [String],
    /// The totals from the answer's headers.
    pub(crate) totals: Totals,
    /// The form in which content is shown, if the answer has content.
    pub(crate) content: Option<ContentFormat>,
}

impl Shape {
    /// The result of a call.
    pub(crate) fn shown(&self, answer: Value, values: &Values, manner: Presentation<'_>) -> CallAnswer {
        match self {
            Self::Told(tell) => return CallAnswer::text(tell(&answer, values)),
            Self::Made(make) => return CallAnswer::object(make(&answer, values)),
            Self::File => return CallAnswer::file(answer),
            _ => {}
        }
        match manner.answers {
            AnswerStyle::Raw => CallAnswer::text(pretty(&answer)),
            AnswerStyle::Plain => CallAnswer::text(pretty(&match self {
                Self::Whole | Self::Rows(..) => answer,
                _ => self.shaped(answer, values, Totals::default()),
            })),
            AnswerStyle::Compact if manner.full => CallAnswer::object(match normalized(answer) {
                Value::Array(rows) if !matches!(self, Self::Map(..)) => {
                    listed(rows, self.plural(), manner.totals)
                }
                other => object(as_object(other)),
            }),
            AnswerStyle::Compact => CallAnswer::object(self.compact(answer, values, manner)),
        }
    }

    fn compact(&self, answer: Value, values: &Values, manner: Presentation<'_>) -> Value {
        let answer = match self {
            Self::Rows(name, _) => unwrapped(answer, name),
            _ => answer,
        };
        if !manner.fields.is_empty() && self.is_list() && self.is_of(&answer) {
            let entries = rows(plain(normalized(answer)));
            let entries = entries.iter().map(|entry| only(entry, manner.fields)).collect();
            return listed(entries, self.plural(), manner.totals);
        }
        // A route for a list may answer with a single item.
        if matches!(self, Self::Rows(..)) && !is_list_of_objects(&answer) {
            return object(plain(lean(answer)));
        }
        if !matches!(self, Self::Whole) {
            let answer = plain(normalized(answer));
            let more = if manner.content.is_some() { plugin_fields(&answer) } else { Map::new() };
            if self.is_list() {
                return brief(self.shaped(answer, values, manner.totals), self.plural());
            }
            let mut shown = said_of_content(self.shaped(answer, values, manner.totals), manner.content);
            if let Some(members) = shown.as_object_mut() {
                members.extend(more);
            }
            return shown;
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
            Self::Listed(name, picks) | Self::Rows(name, picks) => {
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
            (Self::Listed(..) | Self::List(..), answer) => is_list_of_objects(answer),
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

    /// Returns true if compact answers are lists with short entries.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self, Self::Listed(..) | Self::List(..) | Self::Map(..) | Self::Rows(..))
    }

    /// The member that holds a list's entries.
    fn plural(&self) -> &'static str {
        match self {
            Self::Listed(name, _) | Self::List(name, _) | Self::Map(name, _) | Self::Rows(name, _) => name,
            _ => "items",
        }
    }

    /// The members that are shown, in the form that WordPress's `_fields` requires; `None` if all are shown. Only whole
    /// members are named: where WordPress fills in content, captions and earlier versions, it does not recognize
    /// `content.rendered`. `wanted` are the members that the call asks for.
    pub(super) fn fields(&self, wanted: &[String]) -> Option<String> {
        let mut names: Vec<String> = Vec::new();
        match self {
            Self::Listed(..) | Self::List(..) if !wanted.is_empty() => {
                names.push("id".to_owned());
                names.extend_from_slice(wanted);
            }
            Self::Picked(picks) | Self::Listed(_, picks) => gather(picks, "", &mut names),
            Self::One(fields) | Self::List(_, fields) => {
                names.extend(fields.split_ascii_whitespace().map(|path| head(path).to_owned()));
            }
            // `_fields` empties an object that contains items by name.
            // The short entries contain parts of members, and sites compute them from others.
            Self::Map(..) | Self::Rows(..) | Self::Whole | Self::Told(_) | Self::Made(_) | Self::File => {
                return None;
            }
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
            Self::Listed(name, _) | Self::List(name, _) | Self::Map(name, _) | Self::Rows(name, _) => {
                Some(list(name))
            }
        }
    }
}

/// The list of this name in an object, or the answer itself.
fn unwrapped(mut answer: Value, name: &str) -> Value {
    match answer.get_mut(name) {
        Some(list @ Value::Array(_)) => list.take(),
        _ => answer,
    }
}

/// Returns true for a list, including the forms in which PHP writes an empty list or a list with gaps.
fn is_list_of_objects(answer: &Value) -> bool {
    match answer {
        Value::Object(members) => members.values().all(Value::is_object),
        other => other.is_array() || other.is_null(),
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

/// The answer as an object, because structured results must be objects.
fn object(answer: Value) -> Value {
    match answer {
        Value::Object(_) => answer,
        Value::Null => json!({}),
        other => json!({"value": other}),
    }
}

/// An answer with the members that state the form of its content.
fn said_of_content(mut answer: Value, content: Option<ContentFormat>) -> Value {
    if let (Some(members), Some(format)) = (answer.as_object_mut(), content) {
        members.extend(format.members().into_iter().map(|(name, value)| (name.to_owned(), value)));
    }
    answer
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

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

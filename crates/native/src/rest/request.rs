//! Builds a request from a step and a call's values.

use std::borrow::Cow;

use bytes::Bytes;
use secrecy::ExposeSecret as _;
use serde_json::{Map, Value};

use super::encode::{encode_into, query_into};
use super::file::FileData;
use super::multipart::Form as Parts;
use super::place::{RequestTarget, RequestTargets};
use super::step::{Encoding, Field, FieldSource, RestRequest};
use crate::passing::HttpBody;
use crate::port::{HttpRequest, Verb};
use crate::server::Mapped;
use crate::tools::{CallFailure, Condition, Form, ToolArgument, Values};

/// The `User-Agent` header: some services refuse requests without one.
pub(super) const AGENT: (&str, Cow<'static, str>) =
    ("user-agent", Cow::Borrowed(concat!("dragoman/", env!("CARGO_PKG_VERSION"))));

/// The parts of a request other than its step.
pub(super) struct RequestParts<'a> {
    pub(super) arguments: &'static [ToolArgument],
    pub(super) values: &'a Values,
    pub(super) mapped: Option<&'a Mapped>,
    pub(super) file: Option<&'a FileData>,
    pub(super) places: &'a dyn RequestTargets,
    /// The members of an answer to ask for; all if `None`.
    pub(super) fields: Option<&'a str>,
}

/// A member of the query or the body.
enum RequestMember {
    Plain(Value),
    Secret(secrecy::SecretString),
}

impl RequestParts<'_> {
    /// Builds the request that `ask` describes, for `place`. The caller of this function sets the request's limits.
    ///
    /// # Errors
    /// Fails if a value does not fit its position in the request, or a secret is missing.
    pub(super) fn request(
        &self,
        ask: &RestRequest,
        place: RequestTarget,
    ) -> Result<HttpRequest, CallFailure> {
        let mut url = place.url;
        self.route(&mut url, ask)?;
        let members = self.members(ask)?;
        let mut headers: Vec<(&'static str, Cow<'static, str>)> =
            vec![("accept", if ask.brings_file { "*/*" } else { "application/json" }.into()), AGENT];
        let mut body = HttpBody::default();
        if matches!(ask.verb, Verb::Get | Verb::Delete) {
            for (name, member) in &members {
                match member {
                    RequestMember::Plain(value @ Value::Object(_)) => branches_into(&mut url, name, value),
                    _ => query_into(&mut url, name, &member_text(member)),
                }
            }
            let chosen = self.fields.filter(|_| ask.verb == Verb::Get && ask.binds.is_empty());
            if let Some(fields) = chosen.filter(|_| !members.iter().any(|(name, _)| *name == FIELDS)) {
                query_into(&mut url, FIELDS, fields);
            }
        } else {
            let written = self.body(ask, members)?;
            if let Some((kind, filled)) = written {
                headers.push(("content-type", kind));
                body = filled;
            }
        }
        let (authorization, public_only, is_fixed_host) =
            (place.authorization, place.public_only, place.is_fixed_host);
        let (patience, most) = (std::time::Duration::ZERO, 0);
        Ok(HttpRequest {
            method: ask.verb,
            url,
            headers,
            authorization,
            body,
            public_only,
            is_fixed_host,
            patience,
            most,
        })
    }

    /// Appends the route, with each `{NAME}` as a segment or a part of a segment.
    fn route(&self, url: &mut String, ask: &RestRequest) -> Result<(), CallFailure> {
        let mut rest = ask.route;
        while let Some((before, behind)) = rest.split_once('{') {
            url.push_str(before);
            let (name, behind) = behind.split_once('}').unwrap_or((behind, ""));
            let (name, several) = name.strip_prefix('*').map_or((name, false), |name| (name, true));
            let text = self.values.get(name).map(scalar).unwrap_or_default();
            let segments: Vec<&str> = if several {
                text.split('/').filter(|segment| !segment.is_empty()).collect()
            } else {
                vec![&text]
            };
            // A segment of dots would go up the path, no matter how it is escaped.
            let stands = |segment: &&str| {
                let dots = segment.bytes().all(|byte| byte == b'.');
                !dots && !segment.chars().any(char::is_control) && self.places.takes(ask.base, segment)
            };
            if segments.is_empty() || !segments.iter().all(stands) {
                return Err(CallFailure::arguments(format!(
                    "the argument {name:?} is not allowed in a path"
                )));
            }
            for (at, segment) in segments.iter().enumerate() {
                url.push_str(if at > 0 { "/" } else { "" });
                encode_into(url, segment);
            }
            rest = behind;
        }
        url.push_str(rest);
        Ok(())
    }

    /// The members outside the path: the row's fields, then the arguments.
    fn members(&self, ask: &RestRequest) -> Result<Vec<(Cow<'static, str>, RequestMember)>, CallFailure> {
        let mut members: Vec<(Cow<'static, str>, RequestMember)> = Vec::new();
        for field in ask.fields {
            if let Some(member) = self.field(field)? {
                members.push((field.name.into(), member));
            }
        }
        let taken = if ask.takes_arguments { self.arguments } else { &[] };
        for row in taken.iter().filter(|row| row.sent && !in_route(ask.route, row.name)) {
            let name = row.called.unwrap_or(row.name);
            let is_said = ask.fields.iter().any(|field| field.name == name)
                || matches!(row.form, Form::Unless(word) if self.values.text(row.name) == word);
            let Some(value) = self.values.get(row.name).filter(|_| !is_said) else { continue };
            match value {
                Value::Object(spread) if row.form.spreads() => {
                    for (name, value) in spread {
                        let name = self.spread(row.name, name)?;
                        members.push((name.into(), RequestMember::Plain(value.clone())));
                    }
                }
                _ => members.push((name.into(), RequestMember::Plain(formed(value, row.form)))),
            }
        }
        Ok(members)
    }

    /// The name of a member that the caller chose. A site gives members of a body priority over those of the path, and
    /// reads some names in a query as the route or the method. So such a name must be plain, and must not be the name of
    /// another argument.
    fn spread(&self, argument: &str, name: &str) -> Result<String, CallFailure> {
        let is_plain = name.len() <= LONGEST_NAME
            && name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        let is_argument =
            self.arguments.iter().any(|row| name.eq_ignore_ascii_case(row.called.unwrap_or(row.name)));
        let is_power = name.eq_ignore_ascii_case("rest_route");
        if is_plain && !is_argument && !is_power {
            return Ok(name.to_owned());
        }
        let name: String = name.chars().take(LONGEST_NAME).collect();
        Err(CallFailure::arguments(format!(
            "the argument {argument:?} cannot contain {name:?}: use the argument of that name, if there is one"
        )))
    }

    fn field(&self, field: &Field) -> Result<Option<RequestMember>, CallFailure> {
        Ok(match field.source {
            FieldSource::Fixed(literal) => Some(RequestMember::Plain(formed(&literal.value(), field.form))),
            FieldSource::Value(name) => {
                self.values.get(name).map(|value| RequestMember::Plain(formed(value, field.form)))
            }
            FieldSource::Secret(name) => {
                Some(RequestMember::Secret(self.places.secret(name, self.values, self.mapped)?))
            }
        })
    }

    fn body(
        &self,
        ask: &RestRequest,
        members: Vec<(Cow<'static, str>, RequestMember)>,
    ) -> Result<Option<(Cow<'static, str>, HttpBody)>, CallFailure> {
        if ask.encoding == Encoding::Json {
            let mut object = Map::new();
            for (name, member) in members {
                let value = match member {
                    RequestMember::Plain(value) => value,
                    RequestMember::Secret(secret) => Value::from(secret.expose_secret()),
                };
                object.insert(name.into_owned(), value);
            }
            let text = (!object.is_empty()).then(|| Bytes::from(Value::Object(object).to_string()));
            return Ok(text.map(|text| ("application/json".into(), text.into())));
        }
        let mut parts = Parts::default();
        if let Encoding::File(name) = ask.encoding {
            let nothing = || CallFailure::new(Condition::ToolFailed, "the call contains no file to send");
            parts.file(name, self.file.ok_or_else(nothing)?);
        }
        for (name, member) in &members {
            match member {
                RequestMember::Plain(value @ Value::Object(_)) => {
                    branches(name, value, &mut |name, text| parts.field(name, text));
                }
                _ => parts.field(name, &member_text(member)),
            }
        }
        let (kind, body) = parts.written();
        Ok(Some((kind.into(), body)))
    }
}

/// The longest name that a caller can choose, in bytes.
const LONGEST_NAME: usize = 100;

/// The parameter that asks WordPress for a part of an answer.
const FIELDS: &str = "_fields";

/// Returns true if a route contains `{name}` or `{*name}`.
fn in_route(route: &str, name: &str) -> bool {
    let names = route.split('{').skip(1).filter_map(|part| part.split('}').next());
    names.map(|part| part.strip_prefix('*').unwrap_or(part)).any(|part| part == name)
}

/// A tree in a query, in PHP's notation: `name[key]=value`.
pub(super) fn branches_into(url: &mut String, name: &str, value: &Value) {
    branches(name, value, &mut |name, text| query_into(url, name, text));
}

/// Passes each leaf of a tree to `each`, with the leaf's name in PHP's notation.
fn branches(name: &str, value: &Value, each: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                branches(&format!("{name}[{key}]"), value, each);
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                branches(&format!("{name}[{at}]"), value, each);
            }
        }
        other => each(name, &scalar(other)),
    }
}

fn member_text(member: &RequestMember) -> String {
    match member {
        RequestMember::Plain(value) => scalar(value),
        RequestMember::Secret(secret) => secret.expose_secret().to_owned(),
    }
}

/// A value as text; a list becomes a comma-separated text.
fn scalar(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(scalar).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// A value in the form that the request requires.
fn formed(value: &Value, form: Form) -> Value {
    match form {
        Form::NumberOrFalse if value.as_i64() == Some(0) => Value::from(false),
        Form::Plain | Form::Spread | Form::Fields | Form::Unless(_) | Form::NumberOrFalse => value.clone(),
        Form::Single => Value::Array(vec![value.clone()]),
        Form::Bit => value.as_bool().map_or_else(|| value.clone(), |flag| Value::from(i64::from(flag))),
        Form::Words(pairs) => {
            let found = value.as_str().and_then(|text| pairs.iter().find(|(from, _)| *from == text));
            found.map_or_else(|| value.clone(), |(_, to)| Value::from(*to))
        }
        Form::Commas => match value {
            Value::String(text) => {
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                parts
                    .map(|part| part.parse::<u64>().map_or_else(|_| Value::from(part), Value::from))
                    .collect()
            }
            Value::Array(_) => value.clone(),
            other => Value::Array(vec![other.clone()]),
        },
    }
}

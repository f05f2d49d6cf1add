//! Resources and prompts of a server of tools: each resource is read by a request, and each prompt is a text with
//! placeholders.

use bytes::Bytes;
use proto::era::Era;
use proto::json::{Members, quote};
use proto::rpc::Frame;
use serde_json::{Map, Value, json};

use crate::arguments::argument::ToolArgument;
use crate::arguments::call_failure::CallFailure;
use crate::arguments::values::Values;
use crate::rest::{RestEnvironment, RunContext, Shape, Step};
use crate::server::{Mapped, NativeRefusal};

/// Resources and prompts of a server of tools.
#[derive(Debug)]
pub(crate) struct OfferTable {
    /// The resources and resource templates.
    pub(crate) resources: &'static [ResourceRow],
    /// The prompts.
    pub(crate) prompts: &'static [Prompt],
}

/// A resource; if its URI ends with `{name}`, a resource template.
#[derive(Debug)]
pub(crate) struct ResourceRow {
    /// The resource's URI, or its URI template.
    pub(crate) uri: &'static str,
    /// The resource's name.
    pub(crate) name: &'static str,
    /// The resource's description, for people and models.
    pub(crate) about: &'static str,
    /// The variable of the URI template.
    pub(crate) arguments: &'static [ToolArgument],
    /// The requests by which the resource is read.
    pub(crate) steps: &'static [Step],
    /// The shape in which the answer is shown.
    pub(crate) shape: Shape,
    /// The request for completions of the variable. The value `typed` contains the text that was typed so far; the
    /// answer contains the completions as `values`.
    pub(crate) completes: Option<(&'static [Step], Shape)>,
}

/// A prompt: a text with `{name}` in place of arguments.
#[derive(Debug)]
pub(crate) struct Prompt {
    /// The prompt's name.
    pub(crate) name: &'static str,
    /// The prompt's description, for people and models.
    pub(crate) about: &'static str,
    /// The prompt's arguments: a name, a description, and a default; an argument without a default is required.
    pub(crate) arguments: &'static [(&'static str, &'static str, Option<&'static str>)],
    /// The text of the prompt, with placeholders.
    pub(crate) text: &'static str,
}

/// The largest number of values in one completion (MCP, `completion/complete`).
const MOST_VALUES: usize = 100;
/// The longest argument of a prompt, in bytes.
const LONGEST: usize = 100_000;

impl ResourceRow {
    fn place(&self) -> Option<&'static str> {
        self.uri.split_once('{').map(|(_, rest)| rest.trim_end_matches('}'))
    }

    /// The value of the template's variable, if the URI names this resource.
    fn fits(&self, uri: &str) -> Option<Values> {
        let mut values = Values::default();
        match (self.place(), self.uri.split_once('{')) {
            (Some(name), Some((before, _))) => {
                let text = uri.strip_prefix(before)?;
                if text.is_empty() || text.contains(['/', '?', '#', '%']) {
                    return None;
                }
                values.set(name, Value::from(text));
            }
            _ if self.uri == uri => {}
            _ => return None,
        }
        Some(values)
    }
}

impl OfferTable {
    /// The members of the result of `resources/list`, or of `resources/templates/list`.
    pub(super) fn resources(&self, templates: bool) -> String {
        let fitting = self.resources.iter().filter(|resource| resource.place().is_some() == templates);
        let rows: Vec<Value> = fitting
            .map(|resource| {
                let uri = if templates { "uriTemplate" } else { "uri" };
                json!({
                    uri: resource.uri, "name": resource.name, "description": resource.about,
                    "mimeType": "application/json",
                })
            })
            .collect();
        format!("\"{}\":{}", if templates { "resourceTemplates" } else { "resources" }, Value::Array(rows))
    }

    /// The members of the result of `resources/read`.
    ///
    /// # Errors
    /// Fails if the resource does not exist (with the era's code, and with the URI in `data`), or with the site's error.
    pub(super) async fn read(
        &self,
        uri: &str,
        era: &Era,
        environment: &RestEnvironment,
        mapped: Option<&Mapped>,
    ) -> Result<String, NativeRefusal> {
        let missing = |why: &str| NativeRefusal {
            code: era.resource_not_found,
            message: format!("resource {uri:?} does not exist: {why}"),
            data: Some(format!("{{\"uri\":{}}}", quote(uri))),
        };
        let found = self.resources.iter().find_map(|resource| Some((resource, resource.fits(uri)?)));
        let Some((resource, values)) = found else {
            let known: Vec<&str> = self.resources.iter().map(|resource| resource.uri).collect();
            return Err(missing(&format!("the resources are {}", known.join(", "))));
        };
        let shape = (resource.steps, &resource.shape);
        let shown = environment.run(resource.arguments, shape, values, RunContext::of(mapped)).await;
        let shown = shown.map_err(|failure| {
            let is_gone = |(name, value): &(&str, Value)| *name == "status" && *value == 404;
            if failure.detail.iter().any(is_gone) { missing(&failure.message) } else { failure.refusal() }
        })?;
        let (uri, text) = (quote(uri), quote(&shown.text));
        Ok(format!("\"contents\":[{{\"uri\":{uri},\"mimeType\":\"application/json\",\"text\":{text}}}]"))
    }

    /// The members of the result of `completion/complete`.
    ///
    /// # Errors
    /// Fails if there is no such template, prompt or argument, or with the site's error.
    pub(super) async fn complete(
        &self,
        asked: &Completion,
        environment: &RestEnvironment,
        mapped: Option<&Mapped>,
    ) -> Result<String, NativeRefusal> {
        let (values, entries) = match asked.kind.as_str() {
            "ref/prompt" => {
                let prompt = self.prompts.iter().find(|prompt| prompt.name == asked.target);
                let has = |prompt: &&Prompt| prompt.arguments.iter().any(|(name, ..)| *name == asked.name);
                prompt.filter(has).ok_or_else(|| asked.unknown())?;
                (Vec::new(), None)
            }
            "ref/resource" => {
                let resource = self.resources.iter().find(|resource| resource.uri == asked.target);
                let resource = resource.filter(|resource| resource.place() == Some(asked.name.as_str()));
                let resource = resource.ok_or_else(|| asked.unknown())?;
                match &resource.completes {
                    None => (Vec::new(), None),
                    Some((steps, shape)) => {
                        let mut values = Values::default();
                        values.set("typed", Value::from(asked.typed.clone()));
                        let shown =
                            environment.run(&[], (steps, shape), values, RunContext::of(mapped)).await;
                        let shown = shown.map_err(CallFailure::refusal)?;
                        (found_values(&shown.structured.unwrap_or_default()), shown.entries)
                    }
                }
            }
            _ => {
                return Err(NativeRefusal::params("\"ref.type\" must be \"ref/prompt\" or \"ref/resource\""));
            }
        };
        // The service may have more values than it returned.
        let total = entries.unwrap_or_default().max(values.len() as u64);
        let shown: Vec<Value> = values.into_iter().take(MOST_VALUES).collect();
        let more = total > shown.len() as u64;
        Ok(format!(
            "\"completion\":{{\"values\":{},\"total\":{total},\"hasMore\":{more}}}",
            Value::from(shown)
        ))
    }

    /// The members of the result of `prompts/list`.
    pub(super) fn prompts(&self) -> String {
        let rows = self.prompts.iter().map(|prompt| {
            let arguments = prompt.arguments.iter().map(|(name, about, default)| {
                json!({"name": name, "description": about, "required": default.is_none()})
            });
            json!({"name": prompt.name, "description": prompt.about, "arguments": arguments.collect::<Value>()})
        });
        format!("\"prompts\":{}", rows.collect::<Value>())
    }

    /// The members of the result of `prompts/get`.
    ///
    /// # Errors
    /// Fails if there is no such prompt, or an argument is missing, not a text or too long.
    pub(super) fn prompt(&self, request: &Frame) -> Result<String, NativeRefusal> {
        let name = text_of(request, "name")?;
        let prompt = self.prompts.iter().find(|prompt| prompt.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.prompts.iter().map(|prompt| prompt.name).collect();
            NativeRefusal::params(format!("unknown prompt {name:?}; the prompts are {}", known.join(", ")))
        })?;
        let given: Map<String, Value> =
            match request.param("arguments").map_err(|e| NativeRefusal::params(e.to_string()))? {
                Some(span) => serde_json::from_slice(span.of(request.text()))
                    .map_err(|_| NativeRefusal::params("the arguments of a prompt must be an object"))?,
                None => Map::new(),
            };
        let mut texts: Vec<(&str, String)> = Vec::new();
        for (name, _, default) in prompt.arguments {
            let text = match given.get(*name) {
                None | Some(Value::Null) => "",
                Some(Value::String(text)) if text.len() <= LONGEST => text.trim(),
                Some(_) => {
                    return Err(NativeRefusal::params(format!(
                        "the argument {name:?} must be a string of at most {LONGEST} bytes"
                    )));
                }
            };
            // Clients send an empty text for an argument that their user has not filled in.
            let text = match default {
                Some(default) if text.is_empty() => *default,
                None if text.is_empty() => {
                    return Err(NativeRefusal::params(format!("the argument {name:?} is missing")));
                }
                _ => text,
            };
            texts.push((name, text.to_owned()));
        }
        let message =
            json!({"role": "user", "content": {"type": "text", "text": filled(prompt.text, &texts)}});
        Ok(format!("\"description\":{},\"messages\":[{message}]", quote(prompt.about)))
    }
}

/// The text with its placeholders replaced; inserted text is not searched for placeholders again.
fn filled(text: &str, texts: &[(&str, String)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        let (name, behind) = behind.split_once('}').unwrap_or((behind, ""));
        out.push_str(before);
        out.extend(texts.iter().find(|(found, _)| *found == name).map(|(_, text)| text.as_str()));
        rest = behind;
    }
    out + rest
}

fn found_values(answer: &Value) -> Vec<Value> {
    let values = answer.get("values").and_then(Value::as_array).into_iter().flatten();
    values
        .filter_map(|value| match value {
            Value::String(text) => Some(Value::from(text.as_str())),
            Value::Number(number) => Some(Value::from(number.to_string())),
            _ => None,
        })
        .collect()
}

/// The parameters of `completion/complete`.
#[derive(Debug, Clone)]
pub(super) struct Completion {
    kind: String,
    target: String,
    name: String,
    typed: String,
}

impl Completion {
    /// Reads the parameters of a request.
    ///
    /// # Errors
    /// Fails if a parameter is missing or invalid.
    pub(super) fn of(request: &Frame) -> Result<Self, NativeRefusal> {
        let (reference, argument) = (object(request, "ref")?, object(request, "argument")?);
        let kind = member(request, &reference, "type")?;
        let target = member(request, &reference, if kind == "ref/prompt" { "name" } else { "uri" })?;
        let (name, typed) = (member(request, &argument, "name")?, member(request, &argument, "value")?);
        Ok(Self { kind, target, name, typed })
    }

    fn unknown(&self) -> NativeRefusal {
        NativeRefusal::params(format!("nothing can be completed for {:?} of {:?}", self.name, self.target))
    }
}

/// A required string of `params`.
///
/// # Errors
/// Fails if it is missing.
pub(super) fn text_of(request: &Frame, key: &'static str) -> Result<String, NativeRefusal> {
    let span = request.param(key).map_err(|e| NativeRefusal::params(e.to_string()))?;
    let text = span.and_then(|span| request.string(span)).map(std::borrow::Cow::into_owned);
    text.ok_or_else(|| NativeRefusal::params(format!("\"{key}\" is required and must be a string")))
}

fn object(request: &Frame, key: &'static str) -> Result<Members, NativeRefusal> {
    let span = request.param(key).map_err(|e| NativeRefusal::params(e.to_string()))?;
    span.and_then(|span| Members::of_value(request.text(), span))
        .ok_or_else(|| NativeRefusal::params(format!("\"{key}\" is required and must be an object")))
}

fn member(request: &Frame, of: &Members, key: &'static str) -> Result<String, NativeRefusal> {
    let text: &Bytes = request.text();
    let span = of.unique(text, key).map_err(|e| NativeRefusal::params(e.to_string()))?;
    span.and_then(|span| request.string(span))
        .map(std::borrow::Cow::into_owned)
        .ok_or_else(|| NativeRefusal::params(format!("\"{key}\" is required and must be a string")))
}

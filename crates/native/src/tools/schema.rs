//! Rows as `tools/list` shows them: the annotations, and the input schema as a plain object schema (JSON Schema draft-07, and
//! therefore also 2020-12), in which `properties` and `required` are present even if they are empty.

use serde_json::{Map, Value, json};

use super::row::{Effect, ToolRow, Wording};
use crate::arguments::argument::{ArgumentType, Literal, ToolArgument};
use crate::unknown::UnknownArguments;

/// A tool as a list shows it, with arguments in addition to its own. The entry includes the schema of the tool's answers if they
/// are structured.
pub(super) fn described(
    (tool, wording): (&ToolRow, Option<&Wording>),
    more: &[ToolArgument],
    output: Option<Value>,
    unknown: UnknownArguments,
) -> Value {
    let arguments: Vec<ToolArgument> = tool.arguments.iter().chain(more).copied().collect();
    let mut described = json!({
        "name": tool.name,
        "description": wording.map(|wording| wording.about).filter(|about| !about.is_empty()).unwrap_or(tool.about),
        "inputSchema": schema(&arguments, unknown),
        "annotations": annotations(tool.does()),
    });
    let title = wording.map_or(tool.title, |wording| wording.title);
    if !title.is_empty() {
        described["title"] = Value::from(title);
    }
    if let Some(output) = output {
        described["outputSchema"] = output;
    }
    described
}

fn annotations(effect: Effect) -> Value {
    let (reads, destroys, again) = match effect {
        Effect::Computes | Effect::Reads => (true, false, true),
        Effect::Adds => (false, false, false),
        Effect::Changes | Effect::Removes => (false, true, true),
        Effect::Pays | Effect::Toggles => (false, true, false),
    };
    json!({
        "readOnlyHint": reads,
        "destructiveHint": destroys,
        "idempotentHint": again,
        "openWorldHint": effect != Effect::Computes,
    })
}

fn schema(arguments: &[ToolArgument], unknown: UnknownArguments) -> Value {
    let property = |argument: &ToolArgument| (argument.name.to_owned(), property(argument, unknown));
    let properties: Map<String, Value> = arguments.iter().map(property).collect();
    let required: Vec<&str> =
        arguments.iter().filter(|argument| argument.required).map(|argument| argument.name).collect();
    let mut schema = json!({"type": "object", "properties": properties, "required": required});
    if unknown == UnknownArguments::Reject {
        schema["additionalProperties"] = Value::from(false);
    }
    schema
}

/// The schema of an object that allows only these members. Any members are allowed if `members` is empty, or if unknown members
/// are ignored.
fn object(members: &[&str], unknown: UnknownArguments) -> Map<String, Value> {
    let mut object = Map::from_iter([("type".to_owned(), Value::from("object"))]);
    if unknown == UnknownArguments::Reject && !members.is_empty() {
        let properties: Map<String, Value> =
            members.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
        object.insert("properties".to_owned(), Value::Object(properties));
        object.insert("additionalProperties".to_owned(), Value::from(false));
    }
    object
}

fn property(argument: &ToolArgument, unknown: UnknownArguments) -> Value {
    let mut property = Map::new();
    property.insert("type".to_owned(), type_of(argument.kind));
    property.insert("description".to_owned(), Value::from(described_limits(argument)));
    match argument.kind {
        ArgumentType::Texts => drop(property.insert("items".to_owned(), json!({"type": "string"}))),
        ArgumentType::Integers => drop(property.insert("items".to_owned(), json!({"type": "integer"}))),
        ArgumentType::Objects => {
            drop(property.insert("items".to_owned(), Value::Object(object(argument.members, unknown))));
        }
        ArgumentType::Object => property.extend(object(argument.members, unknown)),
        ArgumentType::Any => drop(property.remove("type")),
        _ => {}
    }
    if !argument.words.is_empty() {
        property.insert("enum".to_owned(), Value::from(argument.words.to_vec()));
    }
    if let Some(default) = argument.default {
        property.insert("default".to_owned(), default.value());
    }
    Value::Object(property)
}

fn type_of(kind: ArgumentType) -> Value {
    Value::from(match kind {
        ArgumentType::Text | ArgumentType::Raw | ArgumentType::Html => "string",
        ArgumentType::Integer => "integer",
        ArgumentType::Number => "number",
        ArgumentType::User => return json!(["integer", "string"]),
        ArgumentType::Flag => "boolean",
        ArgumentType::Texts | ArgumentType::Integers | ArgumentType::Objects => "array",
        ArgumentType::Object | ArgumentType::Any => "object",
    })
}

/// The description of an argument, with its default and limits. Values beyond the limits are adjusted, so the schema
/// itself must allow them.
fn described_limits(argument: &ToolArgument) -> String {
    let mut limits = Vec::new();
    match argument.default {
        None | Some(Literal::Text("")) => {}
        Some(Literal::Text(text)) => limits.push(format!("default: {text}")),
        Some(Literal::Int(number)) => limits.push(format!("default: {number}")),
        Some(Literal::Flag(flag)) => limits.push(format!("default: {flag}")),
    }
    // Page 0 and negative amounts make no sense.
    limits.extend(argument.least.filter(|least| *least > 1).map(|least| format!("min: {least}")));
    limits.extend(argument.most.map(|most| format!("max: {most}")));
    if limits.is_empty() {
        argument.about.to_owned()
    } else {
        format!("{} ({})", argument.about.trim_end_matches('.'), limits.join(", "))
    }
}

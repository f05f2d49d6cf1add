//! Writes the `OpenAPI` document from the table of operations.

use schemars::Schema;
use schemars::generate::{Contract, SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use crate::api::operations;
use crate::api::table::{AnswerForm, Operation, QueryKind, QueryParameter, parameter};

/// The JSON pointer of the common schemas in the document.
const SCHEMAS: &str = "/components/schemas";

const ABOUT: &str = "Servers, profiles, clients and records of a running gateway. The API is served at the gateway's addresses if \
                     `management` is configured, and to the local user on the socket `control.sock` in the state folder.";

/// The schema generators, one for requests and one for answers: an omitted member has a different meaning in each.
struct Generators {
    requests: SchemaGenerator,
    answers: SchemaGenerator,
}

impl Generators {
    fn new() -> Self {
        let generator = |contract: Contract| {
            let mut settings = SchemaSettings::draft2020_12();
            settings.definitions_path = SCHEMAS.into();
            settings.meta_schema = None;
            settings.contract = contract;
            SchemaGenerator::new(settings)
        };
        Self { requests: generator(Contract::Deserialize), answers: generator(Contract::Serialize) }
    }

    fn definitions(mut self) -> Map<String, Value> {
        let mut all = self.answers.take_definitions(true);
        all.extend(self.requests.take_definitions(true));
        all
    }
}

fn build() -> Value {
    let (mut generators, mut paths) = (Generators::new(), Map::new());
    for row in operations::all() {
        let path = paths.entry(row.path).or_insert_with(|| json!({}));
        path[row.method.to_ascii_lowercase()] = operation(row, &mut generators);
    }
    let mut schemas = generators.definitions();
    schemas.insert("ErrorAnswer".to_owned(), error_answer());
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Dragoman", "version": "0", "description": ABOUT },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
                "basic": { "type": "http", "scheme": "basic" },
            },
        },
        "security": [{ "bearer": [] }, { "basic": [] }, {}],
    })
}

fn error_answer() -> Value {
    json!({
        "type": "object",
        "properties": { "error": {
            "type": "object",
            "properties": {
                "code": { "type": "string", "description": "The machine-readable code of the error." },
                "message": { "type": "string", "description": "The problem, and how to solve it." },
            },
            "required": ["code", "message"],
        } },
        "required": ["error"],
    })
}

fn operation(row: &Operation, generators: &mut Generators) -> Value {
    let steps = row.path.split('/').filter_map(parameter);
    let in_path = steps
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }));
    let parameters: Vec<Value> = in_path.chain(row.query.iter().map(in_query)).collect();
    let mut described = json!({
        "operationId": row.id,
        "summary": row.about,
        "tags": [row.path.split('/').nth(2).unwrap_or_default()],
        "responses": {
            row.status.to_string(): answer(row, generators),
            "default": {
                "description": "The request was refused.",
                "content": content("application/json", &json!({ "$ref": format!("#{SCHEMAS}/ErrorAnswer") })),
            },
        },
    });
    if !parameters.is_empty() {
        described["parameters"] = parameters.into();
    }
    if let Some(schema) = row.body {
        let schema = schema(&mut generators.requests).to_value();
        described["requestBody"] =
            json!({ "required": true, "content": content("application/json", &schema) });
    }
    if row.is_former {
        described["deprecated"] = true.into();
    }
    if row.is_local {
        described["description"] = "Only the control socket offers this operation.".into();
    }
    described
}

fn content(media: &str, schema: &Value) -> Value {
    json!({ media: { "schema": schema } })
}

fn in_query(row: &QueryParameter) -> Value {
    let schema = match row.kind {
        QueryKind::Text => json!({ "type": "string" }),
        QueryKind::Flag => json!({ "type": "boolean" }),
        QueryKind::Number(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        QueryKind::Word(words) => json!({ "type": "string", "enum": words }),
    };
    json!({ "name": row.name, "in": "query", "description": row.about, "schema": schema })
}

fn answer(row: &Operation, generators: &mut Generators) -> Value {
    let mut described = json!({ "description": "The request was carried out." });
    let value = |schema: Schema| schema.to_value();
    match row.answer {
        AnswerForm::Nothing => {}
        AnswerForm::Json(schema) => {
            described["content"] = content("application/json", &value(schema(&mut generators.answers)));
        }
        AnswerForm::Events(schema) => {
            // The schema describes the data of one event.
            described["content"] = content("text/event-stream", &value(schema(&mut generators.answers)));
        }
    }
    described
}

#[cfg(test)]
mod tests {
    use super::super::document;
    use super::*;
    use std::path::Path;

    /// Collects the names of referenced schemas.
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get("$ref") {
                    found.push(reference.clone());
                }
                members.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_operation_is_described_and_every_reference_leads_somewhere() {
        let document = document();
        let described: usize = document["paths"]
            .as_object()
            .expect("paths")
            .values()
            .map(|path| path.as_object().expect("methods").len())
            .sum();
        assert_eq!(described, operations::all().count());
        let mut found = Vec::new();
        references(document, &mut found);
        assert!(found.len() > 20, "{}", found.len());
        for reference in found {
            let pointer = reference.strip_prefix('#').expect("a local reference");
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
    }

    #[test]
    fn the_published_document_is_up_to_date() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dragoman.openapi.json");
        let text = format!("{:#}\n", build());
        if std::env::var_os("DRAGOMAN_BLESS").is_some() {
            std::fs::write(&path, &text).expect("it can be written");
        }
        let published = std::fs::read_to_string(&path).expect("it is there");
        assert!(published == text, "run: DRAGOMAN_BLESS=1 cargo test -p dragoman-admin published_document");
    }

    #[test]
    fn requests_and_answers_share_no_schema_with_two_meanings() {
        let mut generators = Generators::new();
        for row in operations::all() {
            operation(row, &mut generators);
        }
        let requests = generators.requests.take_definitions(true);
        let answers = generators.answers.take_definitions(true);
        for (name, schema) in requests {
            assert!(answers.get(&name).is_none_or(|other| *other == schema), "{name}");
        }
    }
}

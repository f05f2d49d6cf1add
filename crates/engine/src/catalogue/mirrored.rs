//! Arguments of a tool that an HTTP request mirrors in `Mcp-Param-*` headers (`x-mcp-header` in its input schema).

use proto::codec::headers::{check_annotations, decode_value, mirrors, param_header, value_of};
use proto::json::{Members, Span};
use serde_json::Value;

/// One annotated argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MirroredParam {
    /// The header's name in lower case.
    pub header: String,
    /// The property names that lead to the argument.
    pub path: Vec<String>,
}

impl MirroredParam {
    /// The argument's value as written; `None` if it is absent or null.
    pub fn value(&self, text: &[u8], arguments: Span) -> Option<Span> {
        let mut span = arguments;
        for key in &self.path {
            span = Members::of_value(text, span)?.get(text, key)?;
        }
        (span.of(text) != b"null").then_some(span)
    }

    /// The header's value for an argument, encoded; `None` if a header cannot carry the argument.
    pub fn encode(value: &[u8]) -> Option<String> {
        value_of(value).ok().flatten().map(std::borrow::Cow::into_owned)
    }

    /// Checks that a header agrees with the argument.
    ///
    /// # Errors
    /// Returns a description of the disagreement.
    pub fn agrees(&self, header: Option<&[u8]>, value: Option<&[u8]>) -> Result<(), String> {
        match (header, value) {
            (None, None) => Ok(()),
            (None, Some(_)) => Err(format!(
                "is missing; it must repeat the value of the argument `{}` in the body",
                self.path.join(".")
            )),
            (Some(_), None) => Err("has a value, but the body does not have this argument".to_owned()),
            (Some(header), Some(value)) => match decode_value(header) {
                Err(e) => Err(format!("cannot be read: {e}")),
                Ok(text) if mirrors(&text, value) => Ok(()),
                Ok(_) => Err("differs from the body".to_owned()),
            },
        }
    }
}

/// The annotated arguments of a schema.
///
/// # Errors
/// Returns the reason why a client must drop the tool: the position, name or type of an annotation is not allowed.
pub(super) fn annotated(schema: &[u8]) -> Result<Vec<MirroredParam>, String> {
    // Hardly any schema has an annotation, and this search is far cheaper than parsing the schema.
    if memchr::memmem::find(schema, b"x-mcp-header").is_none() {
        return Ok(Vec::new());
    }
    let schema: Value = serde_json::from_slice(schema).map_err(|e| e.to_string())?;
    let mut found = Vec::new();
    walk(&schema, &mut Vec::new(), true, &mut found)?;
    let paths: Vec<String> = found.iter().map(|(path, _)| path.join(".")).collect();
    check_annotations(paths.iter().map(String::as_str).zip(found.iter().map(|(_, name)| name.as_str())))
        .map_err(|e| e.to_string())?;
    Ok(found
        .into_iter()
        .filter_map(|(path, name)| Some(MirroredParam { header: param_header(&name)?, path }))
        .collect())
}

/// Collects annotations; `plain` is true while only `properties` keys lead from the root to here.
fn walk(
    schema: &Value,
    path: &mut Vec<String>,
    plain: bool,
    found: &mut Vec<(Vec<String>, String)>,
) -> Result<(), String> {
    let Value::Object(members) = schema else {
        if let Value::Array(items) = schema {
            return items.iter().try_for_each(|item| walk(item, path, false, found));
        }
        return Ok(());
    };
    if let Some(annotation) = members.get("x-mcp-header") {
        let place = path.join(".");
        let Value::String(name) = annotation else {
            return Err(format!("{place}: x-mcp-header is not a string"));
        };
        if !plain || path.is_empty() {
            return Err(format!("{place}: x-mcp-header {name:?} is not on an argument"));
        }
        if !matches!(members.get("type").and_then(Value::as_str), Some("string" | "integer" | "boolean")) {
            return Err(format!(
                "{place}: x-mcp-header {name:?} must be on a string, an integer or a boolean"
            ));
        }
        found.push((path.clone(), name.clone()));
    }
    for (key, value) in members {
        if key == "properties" && plain {
            let Value::Object(properties) = value else { continue };
            for (name, property) in properties {
                path.push(name.clone());
                walk(property, path, true, found)?;
                path.pop();
            }
        } else if !matches!(key.as_str(), "enum" | "const" | "default" | "examples") {
            walk(value, path, false, found)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_annotations_on_arguments_only() {
        let schema = br#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},
            "in":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}},
            "d":{"type":"string","default":{"x-mcp-header":"no"}}}}"#;
        let found = annotated(schema).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(
            found[0],
            MirroredParam { header: "mcp-param-region".into(), path: vec!["region".into()] }
        );
        assert_eq!(found[1].path, ["in", "n"]);
        let body = br#"{"in":{"n":42}}"#;
        let value = found[1].value(body, Span::new(0, body.len())).unwrap();
        assert!(found[1].agrees(Some(b" 42.0 "), Some(value.of(body))).is_ok());
        assert!(found[1].agrees(None, Some(value.of(body))).is_err());
        assert!(found[1].agrees(Some(b"43"), Some(value.of(body))).is_err());
    }

    #[test]
    fn refuses_what_clients_must_leave_out() {
        for schema in [
            r#"{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}"#,
            r#"{"properties":{"a":{"type":"string","x-mcp-header":"A b"}}}"#,
            r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}"#,
            r#"{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}"#,
            r#"{"properties":{"a":{"type":"string","x-mcp-header":1}}}"#,
            r#"{"type":"string","x-mcp-header":"A"}"#,
        ] {
            assert!(annotated(schema.as_bytes()).is_err(), "{schema}");
        }
    }
}

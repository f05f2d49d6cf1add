//! The arguments of a tool or a prompt for people: names, types, defaults and meanings, from a schema that may be hostile.
//!
//! This file is pure: it does not print the lines itself.

use serde_json::Value;

use super::detail::quoted;
use crate::output::console::one_line;
use crate::output::layout::{columns, cut, cut_words, wrap};

/// The maximum number of arguments that are shown.
const MOST: usize = 100;

/// The maximum number of values that a type names.
const MOST_VALUES: usize = 8;

/// The maximum length of a name, of a type and of a value, in columns.
const LONGEST: usize = 40;

/// The maximum length of a description that is read, in bytes.
const LONGEST_TEXT: usize = 8 << 10;

/// The maximum number of references that are followed in a row.
const DEEPEST: usize = 4;

/// One argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// The name.
    pub(crate) name: String,
    /// The type, in the terms of the schema: `string`, `a|b`, `list of integer`.
    pub(crate) kind: String,
    /// True if a call must contain it.
    pub(crate) is_required: bool,
    default: Option<String>,
    description: String,
}

/// The arguments of a tool, the required ones first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parameters {
    all: Vec<Parameter>,
    /// The number of arguments that are not shown.
    hidden: usize,
}

impl Parameters {
    /// Reads the arguments of a tool from its input schema.
    pub(crate) fn of_schema(schema: &Value) -> Self {
        let required = schema["required"].as_array();
        let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
        let properties = schema["properties"].as_object();
        let read = |(name, own): (&String, &Value)| Parameter {
            name: name.clone(),
            kind: cut(&one_line(&kind(own, schema, 0)), LONGEST),
            is_required: is_required(name),
            default: own
                .get("default")
                .filter(|value| !value.is_null())
                .map(|value| value_text(value, LONGEST)),
            description: text(&own["description"]),
        };
        Self::of(properties.into_iter().flatten().map(read), properties.map_or(0, serde_json::Map::len))
    }

    /// Reads the arguments of a prompt from its `arguments`.
    pub(crate) fn of_prompt(arguments: &Value) -> Self {
        let listed = arguments.as_array().map_or(&[][..], Vec::as_slice);
        let read = |one: &Value| Parameter {
            name: one["name"].as_str().unwrap_or_default().to_owned(),
            kind: "string".to_owned(),
            is_required: one["required"] == true,
            default: None,
            description: text(&one["description"]),
        };
        Self::of(listed.iter().map(read), listed.len())
    }

    fn of(all: impl Iterator<Item = Parameter>, count: usize) -> Self {
        let mut all: Vec<Parameter> = all.take(MOST).collect();
        all.sort_by_key(|one| !one.is_required);
        Self { all, hidden: count.saturating_sub(MOST) }
    }

    /// Returns the required arguments.
    pub(crate) fn required(&self) -> impl Iterator<Item = &Parameter> {
        self.all.iter().filter(|one| one.is_required)
    }

    /// Returns one line for each argument, cut to `width` columns if the width is known; with `is_full`, descriptions continue on
    /// further lines.
    pub(crate) fn lines(&self, indent: usize, width: Option<usize>, is_full: bool) -> Vec<String> {
        let shown: Vec<[String; 3]> = self.all.iter().map(Parameter::cells).collect();
        let widest = |column: usize| shown.iter().map(|cells| columns(&cells[column])).max().unwrap_or(0);
        let mut widths = [widest(0), widest(1), widest(2)];
        if width.is_some_and(|width| indent + widths.iter().sum::<usize>() + 4 > width) {
            // There is no room for columns.
            widths = [0; 3];
        }
        let line = |(one, cells): (&Parameter, &[String; 3])| {
            let mut line = " ".repeat(indent);
            for (cell, wide) in cells.iter().zip(widths) {
                line.push_str(cell);
                line.push_str(&" ".repeat(wide.saturating_sub(columns(cell)) + 2));
            }
            one.described(&line, indent, width, is_full)
        };
        let more = (self.hidden > 0).then(|| format!("{}… and {} more", " ".repeat(indent), self.hidden));
        self.all.iter().zip(&shown).map(line).chain(more).collect()
    }

    /// Returns the words for an example of a call: the required arguments with their types. Each word is quoted for a shell,
    /// because names and values come from the server.
    pub(crate) fn example(&self) -> String {
        let word =
            |one: &Parameter| format!(" {}", quoted(&format!("{}={}", one.shown_name(), one.sample())));
        self.required().map(word).collect()
    }
}

impl Parameter {
    /// Returns the name as people see it.
    pub(crate) fn shown_name(&self) -> String {
        cut(&one_line(&self.name), LONGEST)
    }

    fn cells(&self) -> [String; 3] {
        let need = match (&self.default, self.is_required) {
            (Some(value), _) => format!("default {value}"),
            (None, true) => "required".to_owned(),
            (None, false) => "optional".to_owned(),
        };
        [self.shown_name(), self.kind.clone(), need]
    }

    /// Returns the type as a placeholder for a value.
    fn sample(&self) -> String {
        match self.kind.split('|').next().filter(|_| self.kind.contains('|')) {
            Some(first) if !first.contains(' ') => first.to_owned(),
            _ => self.kind.split(' ').next().unwrap_or_default().to_uppercase(),
        }
    }

    /// Adds the description to the line of the other cells.
    fn described(&self, line: &str, indent: usize, width: Option<usize>, is_full: bool) -> String {
        let one = one_line(&self.description);
        let at = columns(line);
        match width {
            None => format!("{line}{one}").trim_end().to_owned(),
            Some(width) if !is_full => cut_words(format!("{line}{one}").trim_end(), width),
            Some(width) if at + columns(&one) <= width => format!("{line}{one}").trim_end().to_owned(),
            Some(width) => {
                let head = cut(line.trim_end(), width);
                let below = indent + 4;
                format!("{head}\n{}{}", " ".repeat(below), wrap(&one, width, below, below))
            }
        }
    }
}

fn text(value: &Value) -> String {
    let text = value.as_str().unwrap_or_default();
    text[..text.floor_char_boundary(LONGEST_TEXT)].to_owned()
}

fn value_text(value: &Value, most: usize) -> String {
    let text = match value {
        Value::String(text) if !text.is_empty() => text[..text.floor_char_boundary(most * 4)].to_owned(),
        other => other.to_string(),
    };
    cut(&one_line(&text[..text.floor_char_boundary(most * 4)]), most)
}

/// Returns the type of a value in the terms of its schema.
fn kind(own: &Value, root: &Value, depth: usize) -> String {
    if depth > DEEPEST {
        return "any".to_owned();
    }
    let target = own["$ref"].as_str().and_then(|path| root.pointer(path.strip_prefix('#')?));
    if let Some(meant) = target {
        return kind(meant, root, depth + 1);
    }
    if let Some(values) = own["enum"].as_array() {
        let shown: Vec<String> =
            values.iter().take(MOST_VALUES).map(|value| value_text(value, LONGEST)).collect();
        let more = if values.len() > MOST_VALUES { "|…" } else { "" };
        return shown.join("|") + more;
    }
    if let Some(value) = own.get("const") {
        return value_text(value, LONGEST);
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(several) = own[key].as_array() {
            let mut kinds: Vec<String> =
                several.iter().take(MOST_VALUES).map(|one| kind(one, root, depth + 1)).collect();
            // A value that may be null need not be given; people read this from `optional`.
            kinds.retain(|one| one != "null");
            kinds.dedup();
            return if kinds.is_empty() { "null".to_owned() } else { kinds.join(" or ") };
        }
    }
    let with_items = |name: &str| match (name, own["format"].as_str()) {
        ("array", _) if own["items"].is_object() => {
            format!("list of {}", kind(&own["items"], root, depth + 1))
        }
        ("array", _) => "list".to_owned(),
        ("string", Some(format)) => format!("string ({format})"),
        (name, _) => name.to_owned(),
    };
    match &own["type"] {
        Value::String(one) => with_items(one),
        Value::Array(several) => {
            let names = several.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            names.take(MOST_VALUES).map(with_items).collect::<Vec<_>>().join(" or ")
        }
        _ if own["properties"].is_object() => "object".to_owned(),
        _ => "any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "required": ["timezone"],
            "$defs": {"Unit": {"enum": ["c", "f"]}, "Loop": {"$ref": "#/$defs/Loop"}},
            "properties": {
                "count": {"type": "integer", "default": 10, "description": "How many\nto return"},
                "timezone": {"type": "string", "description": "IANA name of the time zone, such as Europe/Berlin"},
                "unit": {"$ref": "#/$defs/Unit"},
                "loop": {"$ref": "#/$defs/Loop"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "since": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}], "default": null},
                "any": {},
            },
        })
    }

    #[test]
    fn each_argument_is_a_line() {
        let lines = Parameters::of_schema(&schema()).lines(2, None, false);
        assert_eq!(
            lines,
            [
                "  timezone  string              required    IANA name of the time zone, such as Europe/Berlin",
                "  count     integer             default 10  How many to return",
                "  unit      c|f                 optional",
                "  loop      any                 optional",
                "  tags      list of string      optional",
                "  since     string (date-time)  optional",
                "  any       any                 optional",
            ]
        );
        assert_eq!(Parameters::of_schema(&schema()).example(), " timezone=STRING");
    }

    #[test]
    fn lines_fit_at_every_width() {
        for width in [20, 40, 80, 200] {
            for is_full in [false, true] {
                let lines = Parameters::of_schema(&schema()).lines(2, Some(width), is_full);
                let all = lines.join("\n");
                assert!(all.lines().all(|line| columns(line) <= width), "{width}:\n{all}");
                assert!(is_full || lines.iter().all(|line| !line.contains('\n')));
            }
        }
        let narrow = Parameters::of_schema(&schema()).lines(2, Some(60), true).join("\n");
        assert!(narrow.contains("\n      IANA name of the time zone, such as Europe/Berlin\n"), "{narrow}");
    }

    #[test]
    fn arguments_of_prompts_are_texts() {
        let arguments =
            json!([{"name": "topic", "description": "what about"}, {"name": "who", "required": true}]);
        let lines = Parameters::of_prompt(&arguments).lines(0, None, false);
        assert_eq!(lines, ["who    string  required", "topic  string  optional  what about"]);
    }

    #[test]
    fn an_example_is_one_command_for_a_shell() {
        for (name, own, want) in [
            ("a", json!({"type": "string"}), " a=STRING"),
            ("a;reboot", json!({"type": "string"}), " 'a;reboot=STRING'"),
            ("$(id)", json!({"enum": ["x", "y"]}), " '$(id)=x'"),
            ("it's", json!({"type": "integer"}), " 'it'\\''s=INTEGER'"),
            ("mode", json!({"enum": ["`id`", "y"]}), " 'mode=`id`'"),
            ("mode", json!({"enum": ["';reboot;'", "y"]}), " 'mode='\\'';reboot;'\\'''"),
            ("mode", json!({"enum": [">/etc/x", "y"]}), " 'mode=>/etc/x'"),
            ("kind", json!({"type": "$(id)"}), " 'kind=$(ID)'"),
        ] {
            let schema = json!({"required": [name], "properties": {name: own}});
            assert_eq!(Parameters::of_schema(&schema).example(), want);
        }
        let arguments = json!([{"name": "&& reboot", "required": true}]);
        assert_eq!(Parameters::of_prompt(&arguments).example(), " '&& reboot=STRING'");
    }

    #[test]
    fn a_hostile_schema_stays_small() {
        let many: serde_json::Map<String, Value> = (0..5000)
            .map(|n| {
                (format!("{n}\u{1b}[2J{}", "x".repeat(1000)), json!({"description": "y".repeat(100_000)}))
            })
            .collect();
        let lines = Parameters::of_schema(&json!({"properties": many})).lines(0, Some(80), true);
        let all = lines.join("\n");
        assert!(all.len() < 2_000_000 && !all.contains('\u{1b}'), "{}", all.len());
        assert!(all.ends_with("… and 4900 more"));
        let deep =
            (0..100).fold(json!({"type": "string"}), |inner, _| json!({"type": "array", "items": inner}));
        Parameters::of_schema(&json!({"properties": {"deep": deep}})).lines(0, Some(80), true);
    }
}

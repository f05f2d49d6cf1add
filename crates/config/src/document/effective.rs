//! The configuration as it takes effect, for people and scripts: the settings of the file without secrets, and the
//! defaults of everything else. This module must not know any key, except for those of sections with defaults of their own.

use serde_json::{Map, Value};

use super::model::Config;
use crate::file_edit;
use crate::reading::section::{Section as _, SectionKey};
use crate::serving::limits::Limits;
use crate::syntax::json_comments::without_comments;
use crate::syntax::mask;
use crate::syntax::parse::{Entry, Node, NodeKind, parse};
use crate::syntax::source::{Source, Span};

/// The placeholder for a secret.
const HIDDEN: &str = "***";

/// A configuration as it takes effect.
#[derive(Debug, Clone, PartialEq)]
pub struct Effective {
    /// The settings of the file. Secrets are written as asterisks, and `${…}` stays as it is.
    pub settings: Value,
    /// The settings that the file does not contain, with their values.
    pub defaults: Value,
}

impl Effective {
    /// Reads the text of a valid configuration.
    pub fn of(text: &str) -> Self {
        let root = parse(&without_comments(text)).ok().flatten();
        let Some(root) = root else {
            return Self { settings: Value::Object(Map::new()), defaults: defaults(&Map::new()) };
        };
        let source = Source::new(text);
        let mut secrets = mask::secrets_of(&source, &root);
        secrets.sort_by_key(|span| span.start);
        let settings = MaskedSource { source: &source, secrets: &secrets }.value(&root);
        let written = settings.as_object().cloned().unwrap_or_default();
        Self { settings, defaults: defaults(&written) }
    }

    /// Returns the configuration as YAML: the settings, and the defaults as comments.
    pub fn to_yaml(&self) -> String {
        let mut text = file_edit::yaml(&self.settings);
        let defaults = file_edit::yaml(&self.defaults);
        if !defaults.is_empty() {
            text.push_str("\n# Defaults:\n");
            for line in defaults.lines() {
                text.extend(["# ", line, "\n"]);
            }
        }
        text
    }
}

/// Returns a configuration or a part of it as YAML, without comments.
pub fn yaml_of(value: &Value) -> String {
    file_edit::yaml(value)
}

fn defaults(written: &Map<String, Value>) -> Value {
    let mut all = Map::new();
    for row in Config::ROWS {
        let is_written =
            written.contains_key(row.key) || (row.key == "mcpServers" && written.contains_key("servers"));
        if row.key == "limits" {
            let set = written.get("limits").and_then(Value::as_object);
            let rows = Limits::ROWS.iter().filter(|row| set.is_none_or(|set| !set.contains_key(row.key)));
            let limits: Map<String, Value> = rows.filter_map(|row| entry(row, &Limits::default())).collect();
            all.insert("limits".to_owned(), limits.into());
        } else if !is_written && row.absent.is_empty() {
            all.extend(entry(row, &Config::default()));
        }
    }
    all.into()
}

fn entry<S>(row: &SectionKey<S>, section: &S) -> Option<(String, Value)> {
    let value = (row.written)(section);
    (!value.is_null()).then(|| (row.key.to_owned(), value))
}

/// The parts of a file that may be shown.
struct MaskedSource<'s> {
    source: &'s Source<'s>,
    secrets: &'s [Span],
}

impl MaskedSource<'_> {
    fn value(&self, node: &Node) -> Value {
        match &node.kind {
            NodeKind::Null => Value::Null,
            NodeKind::Scalar { text, quoted } => self.scalar(node, text, *quoted),
            NodeKind::List(items) => items.iter().map(|item| self.value(item)).collect(),
            NodeKind::Map(entries) => {
                let one = |entry: &Entry| (entry.key.clone(), self.value(&entry.value));
                Value::Object(entries.iter().map(one).collect())
            }
        }
    }

    fn scalar(&self, node: &Node, text: &str, quoted: bool) -> Value {
        let inside = |span: &&Span| span.start < node.at.end && span.end > node.at.start && !span.is_empty();
        let hidden: Vec<&Span> = self.secrets.iter().filter(inside).collect();
        if !hidden.is_empty() {
            let raw = self.source.slice(&node.at);
            let mut shown = String::new();
            let mut at = node.at.start;
            for span in hidden {
                shown.push_str(self.source.slice(&(at..span.start.max(at))));
                shown.push_str(HIDDEN);
                at = span.end;
            }
            shown.push_str(self.source.slice(&(at..node.at.end.max(at))));
            // A text with escapes or several lines is hidden as a whole.
            let is_simple = !raw.contains(['\\', '\n']);
            let bare = shown.trim_matches(['"', '\'']).to_owned();
            return if is_simple { bare.into() } else { HIDDEN.into() };
        }
        match text {
            "true" | "false" if !quoted => (text == "true").into(),
            _ => match text.parse::<i64>() {
                // Any other spelling, such as 0644, may mean something else.
                Ok(number) if !quoted && number.to_string() == text => number.into(),
                _ => text.into(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_are_shown_without_secrets_and_with_defaults() {
        let text = "listen: 9000\nmcpServers:\n  docs:\n    url: 'https://h.example/mcp?key=s3cret'\n    headers: { Authorization: 'Bearer ${T}', X: s3cret }\n  hub: { command: npx, args: [-y, hub], env: { TOKEN: \"s3\\u0063ret\" } }\nlimits: { callTimeout: 9m }\n";
        let effective = Effective::of(text);
        assert_eq!(
            effective.settings,
            json!({
                "listen": 9000,
                "mcpServers": {
                    "docs": {"url": "https://h.example/mcp?***", "headers": {"Authorization": "***${T}", "X": "***"}},
                    "hub": {"command": "npx", "args": ["-y", "hub"], "env": {"TOKEN": "***"}},
                },
                "limits": {"callTimeout": "9m"},
            })
        );
        let defaults = &effective.defaults;
        assert!(
            defaults.get("listen").is_none() && defaults["limits"].get("callTimeout").is_none(),
            "{defaults}"
        );
        assert!(defaults["limits"].as_object().unwrap().len() > 20, "{defaults}");
        assert_eq!(defaults["definitions"], "warn");
        let yaml = effective.to_yaml();
        assert!(
            yaml.starts_with("listen: 9000\nmcpServers:\n  docs:\n    url: https://h.example/mcp?***\n"),
            "{yaml}"
        );
        assert!(yaml.contains("\n# Defaults:\n# ") && !yaml.contains("s3"), "{yaml}");
    }

    #[test]
    fn secrets_are_hidden_however_they_are_written() {
        for (args, shown) in [
            ("[-y, hub, --api-key, s3cret]", json!(["-y", "hub", "--api-key", "***"])),
            ("[--api-key, '${KEY}', s3]", json!(["--api-key", "${KEY}", "s3"])),
            ("[--token=s3cret, --verbose]", json!(["--token=***", "--verbose"])),
            ("['--token=Bearer ${T}', \"--\\u0074oken=s3cret\"]", json!(["--token=***${T}", "***"])),
            ("[--no-password, --verbose]", json!(["--no-password", "--verbose"])),
            ("[--header, 'Authorization: Bearer s3cret']", json!(["--header", "Authorization:***"])),
            (
                "[-e, GITHUB_TOKEN=s3cret, -e, HUB_TOKEN]",
                json!(["-e", "GITHUB_TOKEN=***", "-e", "HUB_TOKEN"]),
            ),
            ("[\"http:\\/\\/u:s3cret@h\", 'http://u:s3cret@h/x']", json!(["***", "http://***@h/x"])),
            (
                "[a=b, --port, 8080, 'https://h.example/x']",
                json!(["a=b", "--port", 8080, "https://h.example/x"]),
            ),
        ] {
            let text = format!("mcpServers: {{ a: {{ command: x, args: {args} }} }}\n");
            let effective = Effective::of(&text);
            assert_eq!(effective.settings["mcpServers"]["a"]["args"], shown, "{args}");
            assert!(!effective.to_yaml().contains("s3cret") && !file_edit::masked(&text).contains("s3cret"));
        }
        let text = "{\"mcpServers\": {\"a\": {\"url\": \"https:\\/\\/h.example\\/mcp?key=s3cret\"}}}";
        assert_eq!(Effective::of(text).settings["mcpServers"]["a"]["url"], "***");
        let multiline = "mcpServers: { a: { url: \"https://h.example/mcp?key=\n      s3cret\" } }\n";
        let block = "mcpServers:\n  a:\n    url: >-\n      https://h.example/mcp?key=s3cret\n";
        for text in [multiline, block] {
            assert!(!Effective::of(text).to_yaml().contains("s3cret"), "{text}");
        }
    }

    #[test]
    fn numbers_are_shown_as_they_were_written() {
        let shown = Effective::of("x-a: [0644, 644, -1, +1, 1_000, 1.0, '7', -0]\n").settings;
        assert_eq!(shown["x-a"], json!(["0644", 644, -1, "+1", "1_000", "1.0", "7", "-0"]));
    }

    #[test]
    fn the_shown_form_is_a_configuration() {
        let text = "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": [\"true\", \"1.5\", \"\"]}}, \"auth\": {\"keys\": true}}";
        let yaml = Effective::of(text).to_yaml();
        assert_eq!(Effective::of(&yaml).settings, Effective::of(text).settings, "{yaml}");
        assert_eq!(Effective::of("").settings, json!({}));
        assert_eq!(Effective::of("").defaults["listen"], "127.0.0.1:8808");
    }
}

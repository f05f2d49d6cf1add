//! Redacts secrets in arguments: every value under a name that matches a rule becomes `"[redacted]"`, at any depth,
//! including in JSON inside a string. This module works on text, so everything else stays exactly as written.

use config::Glob;
use proto::json::{Elements, MAX_DEPTH, Members, Scanner, Span, quote, unquote};

/// The text that replaces a secret.
const COVER: &[u8] = b"\"[redacted]\"";
/// The text that replaces arguments that are not JSON.
const NO_JSON: &str = "\"[not JSON]\"";
/// The maximum length of recorded arguments, in bytes.
const MAX_KEPT: usize = 8 << 10;
/// The maximum nesting of JSON in strings that is searched; strings nested more deeply are redacted.
const MAX_NESTED: u32 = 3;

/// The names whose values are redacted. Only letters and digits count; case does not matter.
#[derive(Debug)]
pub struct Redaction(Vec<RedactionRule>);

#[derive(Debug)]
enum RedactionRule {
    /// A substring of a name.
    Part(String),
    /// A whole name.
    Whole(Glob),
}

impl Redaction {
    /// Creates the rules from the configuration: substrings of names, or patterns with `*` and `?` for whole names.
    pub fn new(rules: &[String]) -> Self {
        let rule = |text: &String| {
            let text = folded(text);
            match Glob::parse(&text) {
                Ok(glob) if text.contains(['*', '?']) => RedactionRule::Whole(glob),
                _ => RedactionRule::Part(text),
            }
        };
        Self(rules.iter().map(rule).collect())
    }

    /// Redacts a JSON text, and truncates the result if it is very long.
    pub fn apply(&self, text: &str) -> String {
        let mut out = Vec::with_capacity(text.len());
        if !self.document(text, 0, &mut out) {
            return NO_JSON.to_owned();
        }
        let mut text = String::from_utf8_lossy(&out).into_owned();
        if text.len() > MAX_KEPT {
            text.truncate(text.floor_char_boundary(MAX_KEPT));
            text.push('…');
        }
        text
    }

    fn covers(&self, key: &str) -> bool {
        let key = folded(key);
        self.0.iter().any(|rule| match rule {
            RedactionRule::Part(part) => key.contains(part),
            RedactionRule::Whole(glob) => glob.matches(&key),
        })
    }

    /// Appends a whole text with its secrets redacted; returns true if it is JSON.
    fn document(&self, text: &str, nested: u32, out: &mut Vec<u8>) -> bool {
        let bytes = text.as_bytes();
        let sound = Scanner::new(bytes, MAX_DEPTH).and_then(|scanner| scanner.document()).is_ok();
        if sound {
            let trimmed = text.trim_matches([' ', '\t', '\n', '\r']);
            let start = text.len() - text.trim_start_matches([' ', '\t', '\n', '\r']).len();
            self.value(bytes, Span::new(start, start + trimmed.len()), nested, out);
        }
        sound
    }

    /// Appends the value at `span` of valid text.
    fn value(&self, text: &[u8], span: Span, nested: u32, out: &mut Vec<u8>) {
        let mut done = span.start();
        match text.get(span.start()) {
            Some(b'{') => {
                for member in Members::of_value(text, span).iter().flat_map(Members::iter) {
                    out.extend_from_slice(&text[done..member.value.start()]);
                    // A name that is not valid text cannot be checked.
                    let covered = unquote(member.key.of(text)).is_none_or(|key| self.covers(&key));
                    if covered {
                        out.extend_from_slice(COVER);
                    } else {
                        self.value(text, member.value, nested, out);
                    }
                    done = member.value.end();
                }
            }
            Some(b'[') => {
                for element in Elements::of_value(text, span).iter().flat_map(Elements::iter) {
                    out.extend_from_slice(&text[done..element.start()]);
                    self.value(text, element, nested, out);
                    done = element.end();
                }
            }
            Some(b'"') if self.string(&text[span.start() + 1..span.end() - 1], nested, out) => {
                done = span.end();
            }
            _ => {}
        }
        out.extend_from_slice(&text[done..span.end()]);
    }

    /// Appends the redacted form of a string that contains JSON with secrets, or JSON that is nested too deeply. For any other
    /// string, appends nothing and returns false.
    fn string(&self, written: &[u8], nested: u32, out: &mut Vec<u8>) -> bool {
        let Some(inner) = unquote(written) else { return false };
        // A byte order mark at the start is not part of JSON, but many parsers skip it.
        let inner = inner.trim_start_matches(['\u{feff}', ' ', '\t', '\n', '\r']);
        if !inner.starts_with(['{', '[', '"']) {
            return false;
        }
        let mut covered = Vec::new();
        if nested == MAX_NESTED {
            out.extend_from_slice(COVER);
            return true;
        }
        let is_json = self.document(inner, nested + 1, &mut covered);
        // A string without secrets stays exactly as written.
        let changed = is_json && covered != inner.trim_matches([' ', '\t', '\n', '\r']).as_bytes();
        if changed {
            out.extend_from_slice(quote(&String::from_utf8_lossy(&covered)).as_bytes());
        }
        changed
    }
}

/// Normalizes a name or a rule for comparison: removes word separators and replaces full-width letters with plain
/// ones.
fn folded(name: &str) -> String {
    let plain = name.chars().map(|c| match u32::from(c) {
        wide @ 0xff01..=0xff5e => char::from_u32(wide - 0xfee0).unwrap_or(c),
        _ => c,
    });
    let plain: String = plain.filter(|c| c.is_alphanumeric() || matches!(c, '*' | '?')).collect();
    // A name or a rule that consists only of separators stands for these characters themselves.
    if plain.is_empty() { name.to_lowercase() } else { plain.to_lowercase() }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn redaction(rules: &[&str]) -> Redaction {
        Redaction::new(&rules.iter().map(|rule| (*rule).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn names_are_covered_at_any_depth_and_the_rest_stays() {
        let rules = redaction(&["password", "api_key", "x-*-auth", "tok?n"]);
        let cases = [
            (r#"{"a":1.0,"b":[1e3,"\u0041"]}"#, r#"{"a":1.0,"b":[1e3,"\u0041"]}"#),
            (r#"{"password":"x"}"#, r#"{"password":"[redacted]"}"#),
            (r#"{ "oldPassword" : {"deep": [1]} , "b":2}"#, r#"{ "oldPassword" : "[redacted]" , "b":2}"#),
            (r#"[[{"PASS-WORD":null}]]"#, r#"[[{"PASS-WORD":"[redacted]"}]]"#),
            (r#"{"p\u0061ssword":"x"}"#, r#"{"p\u0061ssword":"[redacted]"}"#),
            (r#"{"apiKey":"x","API KEY":"y"}"#, r#"{"apiKey":"[redacted]","API KEY":"[redacted]"}"#),
            (r#"{"X-My-Auth":"x","my-auth":"y"}"#, r#"{"X-My-Auth":"[redacted]","my-auth":"y"}"#),
            (
                r#"{"pass/word":"x","pass:\tword":"y"}"#,
                r#"{"pass/word":"[redacted]","pass:\tword":"[redacted]"}"#,
            ),
            ("{\"pass\u{ad}word\":1,\"ｐass\":2}", "{\"pass\u{ad}word\":\"[redacted]\",\"ｐass\":2}"),
            ("{\"ｐａssＷord\":1}", "{\"ｐａssＷord\":\"[redacted]\"}"),
            (r#"{"token":"x","tokens":"y"}"#, r#"{"token":"[redacted]","tokens":"y"}"#),
            (r#"{"password":"x","password":"y"}"#, r#"{"password":"[redacted]","password":"[redacted]"}"#),
            (r#"{"\ud800":"x"}"#, r#"{"\ud800":"[redacted]"}"#),
            ("  \"plain\" \n", "\"plain\""),
            ("{}", "{}"),
            ("{\"password\":", NO_JSON),
            ("", NO_JSON),
        ];
        for (text, wanted) in cases {
            assert_eq!(rules.apply(text), wanted, "{text}");
        }
    }

    #[test]
    fn json_in_strings_is_looked_into() {
        let rules = redaction(&["password"]);
        let inner = json!({"password": "sesame", "other": 1}).to_string();
        let mut text =
            json!({"body": format!(" {inner}"), "note": "{not json", "list": "[1, 2]"}).to_string();
        let read: Value = serde_json::from_str(&rules.apply(&text)).unwrap();
        assert_eq!(read["body"], r#"{"password":"[redacted]","other":1}"#);
        assert_eq!((read["note"].as_str(), read["list"].as_str()), (Some("{not json"), Some("[1, 2]")));
        let marked = json!({"body": format!("\u{feff}{inner}")}).to_string();
        assert!(!rules.apply(&marked).contains("sesame"));
        // In strings nested in strings, with and without an enclosing object.
        let mut bare = inner;
        for _ in 0..6 {
            assert!(!rules.apply(&text).contains("sesame"), "{text}");
            text = json!({ "body": text }).to_string();
            bare = Value::from(bare).to_string();
            assert!(!rules.apply(&bare).contains("sesame"), "{bare}");
        }
    }

    #[test]
    fn a_secret_is_nowhere_in_what_is_kept() {
        let rules = redaction(&["secret"]);
        let mut value = json!({"secret": "sesame"});
        for depth in 0..40 {
            value =
                if depth % 2 == 0 { json!([value, {"my_Secret": ["sesame"]}]) } else { json!({"in": value}) };
            let kept = rules.apply(&value.to_string());
            assert!(!kept.contains("sesame"), "{kept}");
            assert!(serde_json::from_str::<Value>(&kept).is_ok());
        }
    }

    #[test]
    fn long_and_deep_arguments_do_no_harm() {
        let rules = redaction(&["secret", "_"]);
        let long = json!({"text": "é".repeat(10_000)}).to_string();
        let kept = rules.apply(&long);
        assert!(kept.len() <= MAX_KEPT + 3 && kept.ends_with('…'));
        assert_eq!(rules.apply(&"[".repeat(60_000)), NO_JSON);
        let deep = format!("{}{}", "[".repeat(127), "]".repeat(127));
        assert_eq!(rules.apply(&deep), deep);
        assert_eq!(rules.apply(r#"{"_":1,"a":2}"#), r#"{"_":"[redacted]","a":2}"#);
    }
}

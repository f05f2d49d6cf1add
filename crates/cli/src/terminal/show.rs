//! Shows results to people: content blocks, resources and prompts. Values whose form the protocol leaves open are shown as JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proto::json::{Elements, MAX_DEPTH, Members, Span};
use serde_json::Value;

use super::pretty::pretty;
use super::save::Folder;
use crate::output::console::{Console, one_line};
use crate::output::failure::Failure;

/// The display of results, and the folder for files.
#[derive(Debug)]
pub(crate) struct Show<'a> {
    /// The console.
    pub(crate) console: &'a Console,
    /// The folder for files; `None` if files are not saved.
    pub(crate) save: Option<Folder>,
    /// The name for a file that has no name of its own.
    pub(crate) name: &'a str,
}

impl Show<'_> {
    /// Shows the result of a tool call; returns true if the tool reported an error.
    ///
    /// # Errors
    /// Fails if the result cannot be printed or saved.
    pub(crate) fn tool_result(&self, result: &str) -> Result<bool, Failure> {
        let text = result.as_bytes();
        let members = members(text);
        let get = |key| members.as_ref().and_then(|members| members.get(text, key));
        let blocks: Vec<&[u8]> = elements(text, get("content")).iter().map(|block| block.of(text)).collect();
        // Content and structured content often say the same: then only one of them is shown.
        let structured = get("structuredContent").map(|span| span.of(text));
        let structured = structured.filter(|structured| !is_wrapped(&blocks, structured));
        for block in &blocks {
            if structured.is_none_or(|structured| !repeats(block, structured)) {
                self.block(block)?;
            }
        }
        if let Some(structured) = structured {
            self.print(&pretty(structured))?;
        }
        if get("content").is_none() && get("structuredContent").is_none() {
            self.print(&pretty(text))?;
        }
        Ok(get("isError").is_some_and(|span| span.of(text) == b"true"))
    }

    /// Shows the result of `resources/read`.
    ///
    /// # Errors
    /// Fails if the result cannot be printed or saved.
    pub(crate) fn resource(&self, result: &str) -> Result<(), Failure> {
        let text = result.as_bytes();
        let contents = members(text).and_then(|members| members.get(text, "contents"));
        let all = elements(text, contents);
        if all.is_empty() {
            return self.print(&pretty(text));
        }
        for content in &all {
            let Ok(value) = serde_json::from_slice::<Value>(content.of(text)) else { continue };
            match (value["text"].as_str(), value["blob"].as_str()) {
                (Some(words), _) if self.save.is_none() => self.print(words)?,
                // A pipe gets the resource's raw content.
                (_, Some(blob)) if self.save.is_none() && !self.console.out_is_terminal => {
                    self.console.write(&decoded(blob)?)?;
                }
                _ => self.embedded(&value)?,
            }
        }
        Ok(())
    }

    /// Shows the result of `prompts/get`.
    ///
    /// # Errors
    /// Fails if the result cannot be printed or saved.
    pub(crate) fn prompt(&self, result: &str) -> Result<(), Failure> {
        let text = result.as_bytes();
        let members = members(text);
        let get = |key| members.as_ref().and_then(|members| members.get(text, key));
        let messages = elements(text, get("messages"));
        if messages.is_empty() {
            return self.print(&pretty(text));
        }
        for (index, message) in messages.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n" };
            let members = Members::of_value(text, *message);
            let get = |key| members.as_ref().and_then(|members| members.get(text, key));
            let role = get("role")
                .map(|span| String::from_utf8_lossy(span.of(text)).into_owned())
                .unwrap_or_default();
            let head = format!("{}:", one_line(role.trim_matches('"')));
            self.console.print(&format!("{gap}{}", self.console.out.bold(&head)))?;
            match get("content") {
                Some(content) => self.block(content.of(text))?,
                None => self.print(&pretty(message.of(text)))?,
            }
        }
        Ok(())
    }

    /// Shows one content block (JSON text).
    fn block(&self, json: &[u8]) -> Result<(), Failure> {
        let Ok(block) = serde_json::from_slice::<Value>(json) else { return self.print(&pretty(json)) };
        let field = |key: &str| block[key].as_str();
        match (field("type"), field("text"), field("data")) {
            (Some("text"), Some(text), _) => self.prose(text),
            (Some(kind @ ("image" | "audio")), _, Some(data)) => {
                self.blob(kind, self.name, field("mimeType").unwrap_or_default(), data)
            }
            (Some("resource"), ..) if block["resource"].is_object() => self.embedded(&block["resource"]),
            (Some("resource_link"), ..) => {
                let name = field("title").or(field("name")).unwrap_or_default();
                self.line(&format!(
                    "[link to {}: {}]",
                    one_line(name),
                    one_line(field("uri").unwrap_or_default())
                ))
            }
            _ => self.print(&pretty(json)),
        }
    }

    /// Shows the content of a resource: a header line, then the resource's text, or the type and size of its bytes.
    fn embedded(&self, resource: &Value) -> Result<(), Failure> {
        let uri = resource["uri"].as_str().unwrap_or(self.name);
        let mime = resource["mimeType"].as_str().unwrap_or_default();
        if let Some(blob) = resource["blob"].as_str() {
            return self.blob(&format!("resource {}", one_line(uri)), uri, mime, blob);
        }
        let text = resource["text"].as_str().unwrap_or_default();
        if let Some(folder) = &self.save {
            let path =
                folder.save(uri, if mime.is_empty() { "text/plain" } else { mime }, text.as_bytes())?;
            return self.line(&format!("[resource {}, saved as {}]", one_line(uri), path.display()));
        }
        let mime = if mime.is_empty() { String::new() } else { format!(", {}", one_line(mime)) };
        self.line(&format!("[resource {}{mime}]", one_line(uri)))?;
        self.print(text)
    }

    /// Shows the type and size of binary content, and saves the content if there is a folder for files.
    fn blob(&self, what: &str, name: &str, mime: &str, base64: &str) -> Result<(), Failure> {
        let bytes = decoded(base64)?;
        let kind = if mime.is_empty() { "unknown type".to_owned() } else { one_line(mime) };
        let place = match &self.save {
            Some(folder) => format!(", saved as {}", folder.save(name, mime, &bytes)?.display()),
            None => "; --save FOLDER keeps it".to_owned(),
        };
        self.line(&format!("[{what}, {kind}, {}{place}]", size(bytes.len())))
    }

    /// Prints a text from the server.
    fn print(&self, text: &str) -> Result<(), Failure> {
        self.console.print(&self.console.shown(text))
    }

    /// Prints a text from the server that is for people, in lines that fit the terminal.
    fn prose(&self, text: &str) -> Result<(), Failure> {
        self.console.print(&self.console.fitted(&self.console.shown(text)))
    }

    /// Prints a line that is not from the server.
    fn line(&self, text: &str) -> Result<(), Failure> {
        self.console.print(&self.console.out.dim(&self.console.fitted(text)))
    }
}

/// Returns a number of bytes in readable form.
fn size(bytes: usize) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        ..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

fn decoded(base64: &str) -> Result<Vec<u8>, Failure> {
    STANDARD
        .decode(base64)
        .map_err(|e| Failure::new(format!("the server sent bytes that are not valid Base64: {e}")))
}

fn members(text: &[u8]) -> Option<Members> {
    Members::of_document(text, MAX_DEPTH).ok()
}

fn elements(text: &[u8], list: Option<Span>) -> Vec<Span> {
    list.and_then(|span| Elements::of_value(text, span)).map(|all| all.iter().collect()).unwrap_or_default()
}

/// Returns true if structured content only repeats the text blocks inside `{"result": …}`. Some SDKs wrap every
/// value that is not an object in this way; for a list, there is one text block for each item.
fn is_wrapped(blocks: &[&[u8]], structured: &[u8]) -> bool {
    let Ok(Value::Object(members)) = serde_json::from_slice::<Value>(structured) else { return false };
    let Some(result) = members.get("result").filter(|_| members.len() == 1) else { return false };
    let is_told = |block: &[u8], value: &Value| {
        let block: Value = serde_json::from_slice(block).unwrap_or_default();
        let Some(text) = block["text"].as_str() else { return false };
        value.as_str().is_some_and(|value| value == text)
            || serde_json::from_str::<Value>(text).is_ok_and(|told| told == *value)
    };
    match (blocks, result) {
        ([block], value) if is_told(block, value) => true,
        (_, Value::Array(items)) => {
            items.len() == blocks.len() && blocks.iter().zip(items).all(|(block, item)| is_told(block, item))
        }
        ([], Value::Null) => true,
        _ => false,
    }
}

/// Returns true if a content block is a text with the same content as `structured`.
fn repeats(block: &[u8], structured: &[u8]) -> bool {
    let Ok(block) = serde_json::from_slice::<Value>(block) else { return false };
    let text = block["text"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    text.is_some_and(|text| serde_json::from_slice(structured).is_ok_and(|same: Value| same == text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_readable() {
        for (bytes, want) in
            [(0, "0 bytes"), (1, "1 byte"), (9999, "9999 bytes"), (10_000, "10 kB"), (12_345_678, "12 MB")]
        {
            assert_eq!(size(bytes), want);
        }
    }

    #[test]
    fn wrapped_values_are_recognised() {
        let text = |text: &str| serde_json::json!({"type": "text", "text": text}).to_string().into_bytes();
        for (texts, structured, want) in [
            (vec!["done"], r#"{"result": "done"}"#, true),
            (vec!["5"], r#"{"result": 5}"#, true),
            (vec![r#"["a", "b"]"#], r#"{"result": ["a", "b"]}"#, true),
            (vec!["a", r#"{"b": 1}"#], r#"{"result": ["a", {"b": 1}]}"#, true),
            (vec![], r#"{"result": []}"#, true),
            (vec![], r#"{"result": null}"#, true),
            (vec!["done"], r#"{"result": "other"}"#, false),
            (vec!["done"], r#"{"result": "done", "more": 1}"#, false),
            (vec!["a"], r#"{"result": ["a", "b"]}"#, false),
            (vec!["1"], r#"{"value": 1}"#, false),
            (vec!["[1]"], "[1]", false),
        ] {
            let blocks: Vec<Vec<u8>> = texts.iter().map(|one| text(one)).collect();
            let blocks: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
            assert_eq!(is_wrapped(&blocks, structured.as_bytes()), want, "{texts:?} {structured}");
        }
    }

    #[test]
    fn repeated_content_is_recognised() {
        assert!(repeats(br#"{"type":"text","text":"{\"a\": 1}"}"#, br#"{"a":1}"#));
        assert!(!repeats(br#"{"type":"text","text":"a is 1"}"#, br#"{"a":1}"#));
        assert!(!repeats(br#"{"type":"image","data":""}"#, br#"{"a":1}"#));
    }
}

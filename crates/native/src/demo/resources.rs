//! The resources: a welcome page, and a template of greetings.

use proto::era::Era;
use proto::json::quote;
use proto::rpc::Frame;

use super::{required, tools::greeting};
use crate::server::NativeRefusal;

/// The URI of the welcome page.
const WELCOME: &str = "demo://welcome";
/// The prefix of the URIs of greetings.
const GREETING: &str = "demo://greeting/";
/// The URI template of greetings.
pub(super) const GREETING_TEMPLATE: &str = "demo://greeting/{name}";

/// The members of the result of `resources/list`.
pub(super) const LIST: &str = r#""resources":[{"uri":"demo://welcome","name":"welcome","title":"Welcome to Dragoman","description":"An introduction to Dragoman, with steps to add your own servers.","mimeType":"text/markdown"}]"#;

/// The members of the result of `resources/templates/list`.
pub(super) const TEMPLATES: &str = r#""resourceTemplates":[{"uriTemplate":"demo://greeting/{name}","name":"greeting","title":"A greeting","description":"A greeting for the named person.","mimeType":"text/plain"}]"#;

const WELCOME_TEXT: &str = "\
# Welcome to Dragoman

A dragoman was an interpreter who spoke the languages of both courts. This one connects MCP clients to MCP servers:
it offers all of your servers at one endpoint and translates between protocol versions.

You are looking at the embedded demo server. To add your own servers, write a `dragoman.yaml`:

```yaml
mcpServers:
  files: { command: npx, args: [-y, \"@modelcontextprotocol/server-filesystem\", \".\"] }
  docs: { url: https://docs.example.com/mcp, headers: { Authorization: \"Bearer ${DOCS_TOKEN}\" } }
```

You can paste an `mcpServers` block unchanged from any MCP client. Then:

- `dragoman check` reports every error in the file with its line number and a suggested fix,
- `dragoman` starts the gateway and prints how to connect Claude Code, Claude Desktop, Cursor, VS Code and the Inspector,
- `dragoman list files` lists what a server offers; `dragoman call files TOOL key=value` calls a tool.
";

/// The members of the result of `resources/read`.
///
/// # Errors
/// Fails if the resource does not exist, with the era's code and the URI in `data`.
pub(super) fn read(request: &Frame, era: &Era) -> Result<String, NativeRefusal> {
    let uri = required(request, "uri")?;
    let (mime, text) = if uri == WELCOME {
        ("text/markdown", WELCOME_TEXT.to_owned())
    } else if let Some(name) = uri.strip_prefix(GREETING).and_then(decoded) {
        ("text/plain", greeting(Some(&name)))
    } else {
        return Err(NativeRefusal {
            code: era.resource_not_found,
            message: format!("resource {uri:?} does not exist; available: {WELCOME} and {GREETING_TEMPLATE}"),
            data: Some(format!("{{\"uri\":{}}}", quote(&uri))),
        });
    };
    Ok(format!(
        "\"contents\":[{{\"uri\":{},\"mimeType\":\"{mime}\",\"text\":{}}}]",
        quote(&uri),
        quote(&text)
    ))
}

/// One path segment without its percent-encoding (RFC 3986, 2.1); `None` if the text is empty, has several
/// segments, or is not valid UTF-8.
fn decoded(segment: &str) -> Option<String> {
    if segment.is_empty() || segment.contains(['/', '?', '#']) {
        return None;
    }
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let [first, behind @ ..] = rest {
        rest = behind;
        if *first == b'%' {
            let digits = behind.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = &behind[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

//! The resources: a welcome page, and greetings by a template.

use proto::era::Era;
use proto::json::quote;
use proto::rpc::Frame;

use super::{required, tools::greeting};
use crate::server::Refusal;

/// The URI of the welcome page.
const WELCOME: &str = "demo://welcome";
/// What the URIs of greetings begin with.
const GREETING: &str = "demo://greeting/";
/// The URI template of greetings.
pub(super) const GREETING_TEMPLATE: &str = "demo://greeting/{name}";

/// The members of the result of `resources/list`.
pub(super) const LIST: &str = r#""resources":[{"uri":"demo://welcome","name":"welcome","title":"Welcome to Dragoman","description":"What Dragoman is, and how to put servers behind it.","mimeType":"text/markdown"}]"#;

/// The members of the result of `resources/templates/list`.
pub(super) const TEMPLATES: &str = r#""resourceTemplates":[{"uriTemplate":"demo://greeting/{name}","name":"greeting","title":"A greeting","description":"A greeting for somebody by name.","mimeType":"text/plain"}]"#;

const WELCOME_TEXT: &str = "\
# Welcome to Dragoman

A dragoman was the interpreter between courts who spoke the languages of both. This one stands between MCP clients and
MCP servers: one endpoint, and every server behind it, for clients and servers of any protocol version.

What you see now is the embedded demo server. To put servers of your own behind Dragoman, write a `dragoman.yaml`:

```yaml
mcpServers:
  files: { command: npx, args: [-y, \"@modelcontextprotocol/server-filesystem\", \".\"] }
  docs: { url: https://docs.example.com/mcp, headers: { Authorization: \"Bearer ${DOCS_TOKEN}\" } }
```

An `mcpServers` block from any MCP client can be pasted in as it is. Then:

- `dragoman check` reads the file and names every fault with its line and a mend,
- `dragoman` serves it and prints how to connect Claude Code, Claude Desktop, Cursor, VS Code and the Inspector,
- `dragoman list files` shows what a server offers, `dragoman call files TOOL key=value` calls a tool.
";

/// The members of the result of `resources/read`.
///
/// # Errors
/// For a resource that does not exist, with the era's code and the URI in `data`.
pub(super) fn read(request: &Frame, era: &Era) -> Result<String, Refusal> {
    let uri = required(request, "uri")?;
    let (mime, text) = if uri == WELCOME {
        ("text/markdown", WELCOME_TEXT.to_owned())
    } else if let Some(name) = uri.strip_prefix(GREETING).and_then(decoded) {
        ("text/plain", greeting(Some(&name)))
    } else {
        return Err(Refusal {
            code: era.resource_not_found,
            message: format!("resource {uri:?} does not exist; there are {WELCOME} and {GREETING_TEMPLATE}"),
            data: Some(format!("{{\"uri\":{}}}", quote(&uri))),
        });
    };
    Ok(format!(
        "\"contents\":[{{\"uri\":{},\"mimeType\":\"{mime}\",\"text\":{}}}]",
        quote(&uri),
        quote(&text)
    ))
}

/// One path segment without its percent-encoding (RFC 3986, 2.1); `None` when it is empty, is more than one segment or
/// is no text.
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

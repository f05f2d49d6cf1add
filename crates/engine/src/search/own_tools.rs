//! The two tools with which clients find and call the tools of a profile: their definitions, and the answers of `find_tools`.
//! This module must not know how tools are found or called.

use std::fmt::Write as _;

use bytes::Bytes;
use proto::json::{Members, Span, quote};

use crate::access::Annotations;
use crate::injected_arguments::INJECTED_ARGUMENTS;
use crate::tokens::tokens_of_tool;

/// The tool that finds tools.
pub const FIND_TOOLS: &str = "find_tools";

/// The tool that calls a tool.
pub const CALL_TOOL: &str = "call_tool";

/// The names of the gateway's own tools, which no other tool of the same profile can have.
pub const OWN_TOOLS: [&str; 2] = [FIND_TOOLS, CALL_TOOL];

/// The maximum length of a request to `find_tools`, in characters.
const MAX_QUERY: usize = 1000;

/// The number of tools that `find_tools` returns by default, and at most.
const LIMIT: (usize, usize) = (5, 20);

/// The maximum number of servers that a description names.
const NAMED_SERVERS: usize = 20;

/// The size of an answer, in bytes, above which no further definition is added.
const MAX_ANSWER: usize = 64 << 10;

/// The members of a tool that a model needs to call it.
const SHOWN_MEMBERS: &[&str] = &["title", "description", "inputSchema", "annotations", "execution"];

/// The facts about a profile's tools that appear in the definitions of the gateway's own tools.
#[derive(Debug, Clone)]
pub struct Searchable<'a> {
    /// The servers, each with the number of its tools.
    pub servers: Vec<(&'a str, usize)>,
    /// The worst case of the tools' annotations.
    pub annotations: Annotations,
}

impl Searchable<'_> {
    /// The definition of `find_tools`, in the form of the newest era.
    pub fn find_tools(&self) -> String {
        let tools: usize = self.servers.iter().map(|(_, tools)| tools).sum();
        let named = self.servers.iter().take(NAMED_SERVERS).map(|(name, tools)| format!("{name} ({tools})"));
        let mut servers = named.collect::<Vec<_>>().join(", ");
        if let Some(more @ 1..) = self.servers.len().checked_sub(NAMED_SERVERS) {
            let _ = write!(servers, " and {more} more");
        }
        let description = format!(
            "Searches the {tools} tools that are available here and returns the best matches with their input schemas. \
             Describe one action in a few English words, such as \"list open pull requests\", or give the name of a tool or \
             server. Search again for each further action, and call the tools with {CALL_TOOL}. Servers, with their number \
             of tools: {servers}."
        );
        let (default, most) = LIMIT;
        format!(
            r#"{{"name":"{FIND_TOOLS}","title":"Find tools","description":{},"inputSchema":{{"type":"object","properties":{{"query":{{"type":"string","minLength":1,"maxLength":{MAX_QUERY},"description":"The action, or the name of a tool or server"}},"limit":{{"type":"integer","minimum":1,"maximum":{most},"default":{default},"description":"The maximum number of tools to return"}}}},"required":["query"],"additionalProperties":false}},"annotations":{{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}}}"#,
            quote(&description)
        )
    }

    /// The definition of `call_tool`, in the form of the newest era. The annotations are the worst case of all tools'
    /// annotations.
    pub fn call_tool(&self) -> String {
        let Annotations { read_only, destructive, idempotent, open_world } = self.annotations;
        format!(
            r#"{{"name":"{CALL_TOOL}","title":"Call a tool","description":"Calls a tool that {FIND_TOOLS} has returned, and returns its result.","inputSchema":{{"type":"object","properties":{{"name":{{"type":"string","description":"The name of the tool, exactly as {FIND_TOOLS} returned it"}},"arguments":{{"type":"object","description":"The arguments, as the tool's inputSchema describes them"}}}},"required":["name"],"additionalProperties":false}},"annotations":{{"readOnlyHint":{read_only},"destructiveHint":{destructive},"idempotentHint":{idempotent},"openWorldHint":{open_world}}}}}"#
        )
    }
}

/// A request to `find_tools`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindTools {
    /// The words to search for.
    pub query: String,
    /// The maximum number of tools.
    pub limit: usize,
}

impl FindTools {
    /// Reads the arguments of a call, validated JSON text.
    ///
    /// # Errors
    /// Returns a description of the argument that cannot be used.
    pub fn of(arguments: Option<&[u8]>) -> Result<Self, String> {
        let fault = |what: &str| format!("the arguments do not fit the tool's input schema: {what}");
        let text = arguments.unwrap_or(b"{}");
        let members = Members::of_value(text, Span::new(0, text.len()));
        let members = members.ok_or_else(|| fault("they are not an object"))?;
        let member = |key: &'static str| {
            let found = members.unique(text, key).map_err(|repeated| fault(&repeated.to_string()))?;
            Ok::<_, String>(found.map(|span| span.of(text)).filter(|written| *written != b"null"))
        };
        let query = member("query")?.and_then(|written| serde_json::from_slice::<String>(written).ok());
        let query = query.filter(|query| !query.trim().is_empty());
        let query = query.ok_or_else(|| fault("\"query\" must be a string that is not blank"))?;
        if query.chars().count() > MAX_QUERY {
            return Err(fault(&format!("\"query\" can have at most {MAX_QUERY} characters")));
        }
        let (default, most) = LIMIT;
        let limit = match member("limit")? {
            None => default,
            Some(written) => {
                let limit =
                    serde_json::from_slice::<usize>(written).ok().filter(|limit| (1..=most).contains(limit));
                limit.ok_or_else(|| fault(&format!("\"limit\" must be a whole number from 1 to {most}")))?
            }
        };
        let is_known = |key: &str| matches!(key, "query" | "limit") || INJECTED_ARGUMENTS.contains(&key);
        let mut keys =
            members.iter().map(|member| std::str::from_utf8(member.key.of(text)).unwrap_or_default());
        if !keys.all(is_known) {
            return Err(fault("the only arguments are \"query\" and \"limit\""));
        }
        Ok(Self { query, limit })
    }
}

/// A tool that was found.
#[derive(Debug, Clone, Copy)]
pub struct FoundTool<'t> {
    /// The name by which clients call the tool.
    pub name: &'t str,
    /// The listed object, validated JSON text.
    pub text: &'t Bytes,
}

impl FoundTool<'_> {
    /// The definition for a model: the members that it needs for a call, and the tokens that they take.
    fn definition(self) -> String {
        let mut out = format!("{{\"name\":{}", quote(self.name));
        let members = Members::of_value(self.text, Span::new(0, self.text.len()));
        for key in SHOWN_MEMBERS {
            let value = members.as_ref().and_then(|members| members.get(self.text, key));
            if let Some(value) = value.and_then(|span| std::str::from_utf8(span.of(self.text)).ok()) {
                let _ = write!(out, ",\"{key}\":{value}");
            }
        }
        let _ = write!(out, ",\"tokens\":{}}}", tokens_of_tool(self.name, self.text));
        out
    }
}

/// The text of the answer to `find_tools`: a JSON object with the tools that were found, the best one first. If not all of them
/// fit into the answer, the answer names the others.
pub fn found_text<'t>(tools: impl Iterator<Item = FoundTool<'t>>) -> String {
    let (mut out, mut omitted) = (String::from("{\"tools\":["), Vec::new());
    let mut is_first = true;
    for tool in tools {
        let definition = tool.definition();
        if !is_first && out.len() + definition.len() > MAX_ANSWER {
            omitted.push(quote(tool.name));
            continue;
        }
        if !std::mem::take(&mut is_first) {
            out.push(',');
        }
        out.push_str(&definition);
    }
    out.push(']');
    if is_first {
        let help = "no tool matches; describe the action in other words, or give the name of a server";
        let _ = write!(out, ",\"note\":{}", quote(help));
    }
    if !omitted.is_empty() {
        let help = "these matches are too long to be shown; search for one of them by its name";
        let _ = write!(out, ",\"omitted\":[{}],\"note\":{}", omitted.join(","), quote(help));
    }
    out.push('}');
    out
}

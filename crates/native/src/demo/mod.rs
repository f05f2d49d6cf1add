//! The demo server: harmless tools, a resource and a prompt, so that Dragoman works before anybody configures it.
//!
//! | file | is for |
//! |---|---|
//! | `tools` | the tools, one table row each |
//! | `arguments` | a tool's arguments: rows that define both the schema and the check |
//! | `resources` | a welcome page and a template of greetings |
//! | `prompts` | one prompt |
//! | `params` | required members of requests |
//! | `completion` | values for the arguments of the prompt and the template |

mod arguments;
mod completion;
mod params;
mod prompts;
mod resources;
mod tools;

#[cfg(test)]
mod tests;

use bytes::Bytes;
use proto::era::{CacheHint, CacheScope, Era, ServerHello, complete};
use proto::mcp::Method;
use proto::rpc::Frame;

use params::required;

use crate::server::{Answering, NativeCall, NativeRefusal, NativeServer, respond};

const CAPABILITIES: &str = r#"{"tools":{},"resources":{},"prompts":{},"completions":{}}"#;
const INFO: &str = concat!(
    r#"{"name":"dragoman-demo","title":"Dragoman demo","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}"#
);
const INSTRUCTIONS: &str = "Harmless tools for testing a connection: they greet, echo a text, add numbers, and \
                            join texts. Read demo://welcome for an introduction to Dragoman.";

/// The cache hint for the demo server's lists and texts, which change only with the binary.
const KEEP: CacheHint = CacheHint { ttl_ms: 3_600_000, scope: CacheScope::Public };

/// The demo server.
#[derive(Debug, Clone, Copy, Default)]
pub struct Demo;

impl NativeServer for Demo {
    fn hello(&self, era: &'static Era) -> ServerHello {
        ServerHello {
            era,
            capabilities: Bytes::from_static(CAPABILITIES.as_bytes()),
            info: Bytes::from_static(INFO.as_bytes()),
            instructions: Some(INSTRUCTIONS.to_owned()),
        }
    }

    fn answer(&self, call: NativeCall<'_>) -> Answering {
        Answering::Ready(respond(call.request, result(call.request, call.era)))
    }

    fn unknown_arguments(&self, tool: &str, arguments: &[u8]) -> Option<String> {
        tools::unknown_arguments(tool, arguments)
    }
}

fn result(request: &Frame, era: &Era) -> Result<Bytes, NativeRefusal> {
    let method = request.method();
    let known = Method::from_name(&method).filter(|method| era.knows(*method));
    match known {
        Some(Method::Ping) => Ok(dressed(era, "", None)),
        Some(Method::ToolsList) => list(request, era, &tools::list()),
        Some(Method::ToolsCall) => tools::call(request, era).map(|members| dressed(era, &members, None)),
        Some(Method::ResourcesList) => list(request, era, resources::LIST),
        Some(Method::TemplatesList) => list(request, era, resources::TEMPLATES),
        Some(Method::ResourcesRead) => {
            resources::read(request, era).map(|members| dressed(era, &members, Some(KEEP)))
        }
        Some(Method::PromptsList) => list(request, era, prompts::LIST),
        Some(Method::PromptsGet) => prompts::get(request).map(|members| dressed(era, &members, None)),
        Some(Method::Complete) => completion::complete(request).map(|members| dressed(era, &members, None)),
        _ => Err(NativeRefusal::method(&method)),
    }
}

/// The result of a list request: a list with a single page.
fn list(request: &Frame, era: &Era, members: &str) -> Result<Bytes, NativeRefusal> {
    match request.param("cursor").map_err(|e| NativeRefusal::params(e.to_string()))? {
        Some(_) => Err(NativeRefusal::params("this list has one page only: leave \"cursor\" out")),
        None => Ok(dressed(era, members, Some(KEEP))),
    }
}

/// The result with these members, in the form of `era`.
fn dressed(era: &Era, members: &str, cache: Option<CacheHint>) -> Bytes {
    complete(era, members.as_bytes(), cache, INFO)
}

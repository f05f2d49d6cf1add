//! The answer to one message. This module must not know stdio or HTTP.

use serde_json::value::RawValue;
use std::{
    fmt::Write,
    sync::atomic::{AtomicU64, Ordering},
};

use super::{
    act::Act,
    message::{Message, Meta, Params, error, read, result, string},
    tools::{self, Call, TOOLS},
};

/// The era of the handshake that this upstream prefers.
const LEGACY: &str = "2025-11-25";

/// Older versions that it accepts.
const OLDER: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18"];

/// The stateless era.
const MODERN: &str = "2026-07-28";

/// The answers to a handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Init {
    /// A proper result.
    #[default]
    Proper,
    /// Nothing.
    Silent,
    /// Text that is not JSON.
    Garbage,
    /// An exit (HTTP: a closed connection).
    Die,
    /// An error.
    Error,
}

/// The kinds of endless lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Pages {
    /// Every page has the same cursor and the same tools.
    Same,
    /// Every page has a cursor and a tool that never occurred before.
    Fresh,
}

/// An upstream that answers message by message.
#[derive(Debug)]
pub struct Server {
    modern: bool,
    init: Init,
    loop_pages: Option<Pages>,
    pages: AtomicU64,
}

impl Server {
    /// Creates a server. `modern` is true if it also supports the stateless era; `init` specifies its answer to the
    /// handshake, and `loop_pages` the kind of its endless lists, if any.
    pub fn new(modern: bool, init: Init, loop_pages: Option<Pages>) -> Self {
        Self { modern, init, loop_pages, pages: AtomicU64::new(0) }
    }

    /// The reaction to one message; empty for a notification or a response.
    pub(super) fn answer(&self, received: &str) -> Vec<Act> {
        let Ok(message) = serde_json::from_str::<Message<'_>>(received) else {
            return vec![Act::Send(error("null", -32700, "this is not a JSON-RPC message that I can read"))];
        };
        let (Some(id), Some(method)) = (message.id, &message.method) else { return Vec::new() };
        let params = read::<Params<'_>>(message.params);
        let modern = read::<Meta<'_>>(params.meta).version.is_some();
        let send = |result_text: &str| vec![Act::Send(result(id, result_text))];
        match &**method {
            "initialize" => self.shake_hands(id, &initialized(params.version)),
            "server/discover" if self.modern => self.shake_hands(id, &discovered()),
            "ping" => send("{}"),
            "tools/list" => send(&self.list(modern)),
            "tools/call" => {
                let name = params.name.as_deref().unwrap_or_default();
                let call = Call { id, received, modern, arguments: params.arguments };
                tools::call(name, &call).unwrap_or_else(|| {
                    vec![Act::Send(error(id.get(), -32602, &format!("there is no tool {name}")))]
                })
            }
            _ => vec![Act::Send(error(id.get(), -32601, &format!("there is no method {method}")))],
        }
    }

    fn shake_hands(&self, id: &RawValue, proper: &str) -> Vec<Act> {
        match self.init {
            Init::Proper => vec![Act::Send(result(id, proper))],
            Init::Silent => vec![Act::Silence],
            Init::Garbage => vec![Act::Garbage("Welcome! This is not JSON.")],
            Init::Die => vec![Act::Die(3)],
            Init::Error => vec![Act::Send(error(id.get(), -32603, "no hands to shake"))],
        }
    }

    fn list(&self, modern: bool) -> String {
        let mut list = String::from(r#"{"tools":["#);
        for (index, tool) in TOOLS.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write_tool(&mut list, comma, tool.name, tool.description);
        }
        let page = self.pages.fetch_add(1, Ordering::Relaxed);
        if self.loop_pages == Some(Pages::Fresh) {
            write_tool(&mut list, ",", &format!("page_{page}"), "Another page's tool.");
        }
        list.push(']');
        match self.loop_pages {
            Some(Pages::Same) => list.push_str(r#","nextCursor":"again""#),
            // Writing to a String cannot fail.
            Some(Pages::Fresh) => drop(write!(list, r#","nextCursor":"page-{page}""#)),
            None => {}
        }
        if modern {
            list.push_str(r#","resultType":"complete","ttlMs":0,"cacheScope":"private""#);
        }
        list.push('}');
        list
    }
}

fn write_tool(list: &mut String, comma: &str, name: &str, description: &str) {
    let description = string(description);
    // Writing to a String cannot fail.
    let _ = write!(
        list,
        r#"{comma}{{"name":"{name}","description":{description},"inputSchema":{{"type":"object"}}}}"#
    );
}

fn initialized(asked: Option<&RawValue>) -> String {
    let asked = asked.map_or("", |version| version.get().trim_matches('"'));
    let version = OLDER.iter().find(|known| **known == asked).unwrap_or(&LEGACY);
    format!(
        r#"{{"protocolVersion":"{version}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"odd","version":"1"}}}}"#
    )
}

fn discovered() -> String {
    let info = r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"odd","version":"1"}}"#;
    format!(
        r#"{{"resultType":"complete","supportedVersions":["{MODERN}"],"capabilities":{{"tools":{{}}}},"ttlMs":0,"cacheScope":"private",{info}}}"#
    )
}

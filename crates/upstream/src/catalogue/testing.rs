//! Catalogues for tests.

use bytes::Bytes;
use engine::catalogue::{Gather, GatherLimits, UpstreamCatalogue};
use proto::era::{ServerHello, V2025_11_25};
use proto::rpc::{Frame, FrameLimits};

/// Returns the catalogue of a server that lists these tools, which are separated by commas.
pub(super) fn catalogue(tools: &str) -> UpstreamCatalogue {
    let hello = ServerHello {
        era: &V2025_11_25,
        capabilities: Bytes::from_static(br#"{"tools":{}}"#),
        info: Bytes::from_static(b"{}"),
        instructions: None,
    };
    let mut gather = Gather::new(hello, GatherLimits { pages: 1, entries: 10 }, "{}");
    while gather.wants().is_some() {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{tools}]}}}}"#);
        gather.feed(&Frame::parse(text.into(), FrameLimits::default()).unwrap()).unwrap();
    }
    gather.finish()
}

/// Returns a tool as a server lists it.
pub(super) fn tool(name: &str, description: &str) -> String {
    format!(r#"{{"name":"{name}","description":"{description}","inputSchema":{{"type":"object"}}}}"#)
}

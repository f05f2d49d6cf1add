//! The lists of embedded servers that are available without a request to another server. They are used for warnings
//! about a configuration that is not being served yet.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use config::{EmbeddedItems, NativeLink};
use native::{
    Answering, HttpClient, HttpFault, HttpFaultKind, HttpRequest, HttpResponse, NativeCall, NativeServer,
    OpenedResponse, Pending,
};
use proto::era::newest_handshake;
use proto::mcp::Method;
use proto::rpc::{Frame, FrameLimits};
use serde_json::{Value, json};

/// Returns the names of the server's tools and prompts; `None` if its site may have more, or if its settings are
/// invalid.
pub fn offered(link: &NativeLink) -> Option<EmbeddedItems> {
    if super::is_on(link, "discover") {
        return None;
    }
    let server = super::made(link, || Ok(Arc::new(UnansweringPort))).ok()?;
    let tools = names(&*server, Method::ToolsList, "tools")?;
    Some(EmbeddedItems { tools, prompts: names(&*server, Method::PromptsList, "prompts")? })
}

/// Returns the names in a list that the server can provide without a request to another server; `None` if the
/// server has no such list.
fn names(server: &dyn NativeServer, list: Method, member: &str) -> Option<Vec<String>> {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": list.name() }).to_string();
    let request = Frame::parse(Bytes::from(request), FrameLimits::default()).ok()?;
    let Answering::Ready(answer) = server.answer(NativeCall::new(&request, newest_handshake())) else {
        return None;
    };
    let answer: Value = serde_json::from_slice(&answer).ok()?;
    let items = answer["result"][member].as_array().into_iter().flatten();
    Some(items.filter_map(|item| item["name"].as_str()).map(str::to_owned).collect())
}

/// A port to other servers that never answers.
struct UnansweringPort;

impl HttpClient for UnansweringPort {
    fn send(&self, _: HttpRequest) -> Pending<Result<HttpResponse, HttpFault>> {
        Box::pin(std::future::ready(Err(unsent())))
    }

    fn open(&self, _: HttpRequest, _: Duration) -> Pending<Result<OpenedResponse, HttpFault>> {
        Box::pin(std::future::ready(Err(unsent())))
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn digest(&self, _: &[u8]) -> [u8; 32] {
        [0; 32]
    }

    fn pause(&self, _: Duration) -> Pending<()> {
        Box::pin(std::future::ready(()))
    }
}

fn unsent() -> HttpFault {
    HttpFault { kind: HttpFaultKind::Unconnected, message: "this server sends no requests".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::{Config, Link, Lookup, Native, load};

    fn config(servers: &str) -> Config {
        let nothing = Lookup { env: &|_| None, file: &|_| Err("no files".to_owned()) };
        load(&format!("mcpServers:\n{servers}"), "test", &nothing).unwrap().config
    }

    fn of(config: &Config, server: &str) -> Option<EmbeddedItems> {
        let Link::Native(link) = &config.mcp_servers[server].link else { panic!("{server} is not embedded") };
        offered(link)
    }

    #[test]
    fn each_embedded_server_says_what_it_offers() {
        let one = |(name, native): &(&str, Native)| {
            let site = if native.needs_site() { ", site: { url: 'https://h.example' }" } else { "" };
            format!("  {name}: {{ native: {name}{site} }}\n")
        };
        let config = config(&Native::ALL.iter().map(one).collect::<String>());
        for (server, tool) in [
            ("demo", "hello"),
            ("plain", "hello"),
            ("wordpress", "wp_get_posts"),
            ("buddyboss", "buddyboss_list_members"),
            ("buddypress", "buddypress_list_members"),
            ("heritage", "example-ping"),
        ] {
            let offered = of(&config, server).unwrap();
            assert!(offered.tools.iter().any(|name| name == tool), "{server}: {:?}", offered.tools);
        }
        assert_eq!(of(&config, "demo").unwrap().prompts, ["introduce"]);
    }

    #[test]
    fn what_may_be_found_at_a_site_is_not_known_beforehand() {
        let config =
            config("  blog: { native: wordpress, phases: [discover], site: { url: 'https://h' } }\n");
        assert_eq!(of(&config, "blog"), None);
    }
}

//! Servers behind a proxy, which the environment or the configuration names; also for the terminal and for authorization servers.

use serde_json::json;

use crate::called;
use crate::forward::{ForwardProxy, TlsFront};
use crate::support::*;
use crate::tls::Authority;

async fn puppet() -> Puppet {
    Puppet::start(|_, _| Said::Proper).await
}

fn address(puppet: &Puppet) -> std::net::SocketAddr {
    puppet.url()["http://".len()..].trim_end_matches("/mcp").parse().expect("an address")
}

#[tokio::test]
async fn the_environment_names_a_proxy_for_hosts_that_this_machine_cannot_resolve() {
    let puppet = puppet().await;
    let proxy = ForwardProxy::start(address(&puppet), "Basic YTpiIHNlY3JldA==").await;
    let url = format!("http://a:b%20secret@{}", proxy.address);
    let config =
        format!("mcpServers: {{ far: {{ url: 'http://mcp.invalid/mcp' }}, near: {} }}\n", puppet.config());
    let env = [("HTTP_PROXY", &*url), ("NO_PROXY", "x.invalid")];
    let gateway = Gateway::start_with(&Start { config: &config, env: &env, ..Start::default() }).await;
    assert_eq!(
        (called(&gateway, "far__ok").await, called(&gateway, "near__ok").await),
        ("ok".into(), "ok".into())
    );
    let lines = proxy.lines();
    assert!(lines.iter().all(|line| line.contains(" http://mcp.invalid/mcp HTTP/1.1")), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("POST ")), "{lines:?}");
    // The terminal's commands use the same proxy.
    let before = proxy.heads().len();
    let with = Start { config: &config, args: &["far"], env: &env, ..Start::default() };
    let listed = run_to_end("list", &with).await;
    assert!(listed.out.contains("ok"), "{} {}", listed.out, listed.err);
    let named = ["http://mcp.invalid/mcp"];
    let by_url = run_to_end("list", &Start { args: &named, ..with }).await;
    assert!(by_url.out.contains("ok"), "{} {}", by_url.out, by_url.err);
    assert!(proxy.heads().len() > before);
    // Hosts that are exempt are not found.
    let exempt = [("HTTP_PROXY", &*url), ("NO_PROXY", ".invalid")];
    let refused =
        run_to_end("list", &Start { config: &config, args: &["far"], env: &exempt, ..Start::default() })
            .await;
    assert!(refused.err.contains("cannot resolve mcp.invalid:80"), "{}", refused.err);
    let log = gateway.log().text();
    assert!(!log.contains("b secret") && !log.contains("b%20secret") && !log.contains("YTpi"), "{log}");
}

#[tokio::test]
async fn a_server_can_have_a_proxy_of_its_own_or_none() {
    let (puppet, authority) = (puppet().await, Authority::new());
    let front = TlsFront::open(address(&puppet), &authority, None).await;
    let proxy = ForwardProxy::start(front.address, "Basic YTpi").await;
    let server =
        |proxy: &str| format!("{{ url: 'https://mcp.invalid/mcp', tls: {{ ca: ca.pem }}, proxy: {proxy} }}");
    let port = proxy.address.port();
    let config = format!(
        "mcpServers:\n  own: {}\n  wrong: {}\n  none: {}\n  gone: {}\n",
        server(&format!("'http://a:${{WORD}}@127.0.0.1:{port}'")),
        server(&format!("'http://a:wrong-word@127.0.0.1:{port}'")),
        server("none"),
        server("'http://127.0.0.1:1'"),
    );
    let files = [("ca.pem", &*authority.pem())];
    let env = [("WORD", "b"), ("HTTPS_PROXY", "http://127.0.0.1:2"), ("DRAGOMAN_LOG", "debug")];
    let with = Start { config: &config, files: &files, env: &env, ..Start::default() };
    let gateway = Gateway::start_with(&with).await;
    assert_eq!(called(&gateway, "own__ok").await, "ok");
    assert_eq!(
        proxy.lines(),
        ["CONNECT mcp.invalid:443 HTTP/1.1"],
        "the proxy sees the host and nothing else"
    );
    for (name, says) in [
        ("wrong", "did not connect to mcp.invalid:443: HTTP 407; write the user name and password"),
        ("none", "cannot resolve mcp.invalid:443"),
        ("gone", "cannot reach mcp.invalid:443 through its proxy: 127.0.0.1:1 refused the connection"),
    ] {
        let listed = run_to_end("list", &Start { args: &[name], ..with.clone() }).await;
        assert!(listed.err.contains(says), "{name}: {}", listed.err);
        gateway.log().has(says).await;
        for text in [listed.err, listed.out, gateway.log().text()] {
            assert!(!text.contains("wrong-word") && !text.contains("YTp3cm9uZy13b3Jk"), "{text}");
        }
    }
}

#[tokio::test]
async fn a_proxy_that_cannot_be_used_is_no_reason_to_do_without() {
    let puppet = puppet().await;
    let config =
        format!("mcpServers: {{ far: {{ url: 'http://mcp.invalid/mcp' }}, near: {} }}\n", puppet.config());
    let env = [("ALL_PROXY", "socks5://me:my-word@proxy.invalid:1080")];
    let with = Start { config: &config, env: &env, ..Start::default() };
    let checked = run_to_end("check", &with).await;
    let said =
        "the environment variable ALL_PROXY does not name a usable proxy: only HTTP proxies are supported";
    assert!(checked.err.contains(said) && checked.code == Some(0), "{}", checked.err);
    let gateway = Gateway::start_with(&with).await;
    gateway.log().has(said).await;
    assert_eq!(called(&gateway, "near__ok").await, "ok");
    let listed = run_to_end("list", &Start { args: &["far"], ..with.clone() }).await;
    assert!(
        listed.err.contains("cannot reach mcp.invalid:80: the environment variable ALL_PROXY"),
        "{}",
        listed.err
    );
    for text in [checked.err, listed.err, gateway.log().text()] {
        assert!(!text.contains("my-word"), "{text}");
    }
}

/// A server names an authorization server in the inner network, or a name that only the proxy could resolve.
#[tokio::test]
async fn behind_a_proxy_no_server_sends_us_into_the_inner_network() {
    for (issuer, says, line) in [
        ("https://169.254.169.254/latest", "is not an address on the public network", None),
        ("https://10.0.0.1", "is not an address on the public network", None),
        ("https://[::ffff:10.0.0.1]", "is not an address on the public network", None),
        ("https://127.0.0.1", "is not allowed", None),
        ("https://inner.invalid", "cannot resolve inner.invalid:443", None),
        // A public address is asked through the proxy, which has no name to resolve.
        ("https://9.9.9.9", "HTTP 401", Some("CONNECT 9.9.9.9:443 HTTP/1.1")),
    ] {
        let puppet = Puppet::start(move |_, request| {
            if request.path.contains("/.well-known/oauth-protected-resource") {
                let metadata =
                    json!({"resource": "https://mcp.invalid/mcp", "authorization_servers": [issuer]});
                return Said::Status(200, "application/json", metadata.to_string());
            }
            let place = "https://1.1.1.1/.well-known/oauth-protected-resource";
            let challenge = format!("WWW-Authenticate: Bearer resource_metadata=\"{place}\"\r\n");
            Said::Raw(format!("HTTP/1.1 401 No\r\n{challenge}Content-Length: 0\r\n\r\n").into_bytes())
        })
        .await;
        // The certificate is for the server, for the public address at which its metadata are, and for that of the last issuer.
        let authority = Authority::new();
        let front = TlsFront::open(address(&puppet), &authority, None).await;
        let proxy = ForwardProxy::start(front.address, "").await;
        let url = format!("http://{}", proxy.address);
        let files = [("ca.pem", &*authority.pem())];
        let config = "mcpServers: { far: { url: 'https://mcp.invalid/mcp', tls: { ca: ca.pem } } }\n";
        let env = [("ALL_PROXY", &*url)];
        let with = Start { config, files: &files, env: &env, ..Start::default() };
        let gateway = Gateway::start_with(&with).await;
        gateway.log().has(says).await;
        let to_issuer = || {
            let mut lines = proxy.lines();
            lines.retain(|line| {
                line != "CONNECT mcp.invalid:443 HTTP/1.1" && line != "CONNECT 1.1.1.1:443 HTTP/1.1"
            });
            lines
        };
        if let Some(line) = line {
            until(line, || to_issuer().iter().any(|one| one == line)).await;
        }
        assert_eq!(to_issuer(), Vec::from_iter(line), "{issuer}");
    }
}

//! Real proxies with the snippets of `deploy/proxies`, in front of Dragoman. Each of them must pass the events of a
//! stream on to the client immediately. This module must not know what a proxy's settings mean, beyond the
//! addresses and files in them.

use super::judged;
use crate::auth::free_address;
use crate::reach::Certificates;
use crate::root::Programs;
use crate::run::{Log, Service};
use crate::stage::{Gateway, Serving, configured, scratch};
use crate::tally::Tally;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The time within which the first event of a stream arrives, in seconds.
const AT_ONCE: &str = "3";

/// The message with which a client begins.
const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"deploy","version":"1"}}}"#;

/// A proxy: its snippet, the changes for a test, and its start.
struct Proxy {
    snippet: &'static str,
    adapt: fn(&str, &Places<'_>) -> String,
    command: fn(&Path) -> Command,
    /// A part of the line that the proxy prints once it listens.
    ready: &'static str,
}

/// The addresses and files of a test.
struct Places<'a> {
    listen: &'a str,
    gateway: &'a str,
    folder: &'a str,
}

const PROXIES: [Proxy; 3] = [
    Proxy {
        snippet: "nginx.conf",
        adapt: |text, places| {
            let Places { listen, gateway, folder } = places;
            let server = text
                .replace("listen 443 ssl", &format!("listen {listen} ssl"))
                .replace("/etc/ssl/mcp.example.com.pem", &format!("{folder}/server.pem"))
                .replace("/etc/ssl/mcp.example.com.key", &format!("{folder}/server-key.pem"))
                .replace("127.0.0.1:8808", gateway);
            format!(
                "daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr notice; events {{}}\n\
                 http {{ access_log off; client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder}; \
                 uwsgi_temp_path {folder}; scgi_temp_path {folder};\n{server}}}\n"
            )
        },
        command: |file| {
            let mut command = Command::new("/usr/sbin/nginx");
            command.arg("-c").arg(file);
            command
        },
        ready: "getrlimit",
    },
    Proxy {
        snippet: "haproxy.cfg",
        adapt: |text, places| {
            text.replace("bind :443", &format!("bind {}", places.listen))
                .replace("/etc/ssl/mcp.example.com.pem", &format!("{}/both.pem", places.folder))
                .replace("127.0.0.1:8808", places.gateway)
        },
        command: |file| {
            let mut command = Command::new("haproxy");
            command.args(["-db", "-V", "-f"]).arg(file);
            command
        },
        ready: "as the polling mechanism",
    },
    Proxy {
        snippet: "Caddyfile",
        adapt: |text, places| {
            let Places { listen, gateway, folder } = places;
            let port = listen.rsplit(':').next().unwrap_or_default();
            let site =
                format!("https://localhost:{port} {{\n\ttls {folder}/server.pem {folder}/server-key.pem");
            let site = text.replace("mcp.example.com {", &site).replace("127.0.0.1:8808", gateway);
            format!("{{\n\tadmin off\n\tauto_https off\n\tstorage file_system {folder}/caddy\n}}\n{site}")
        },
        command: |file| {
            let mut command = Command::new("caddy");
            command.args(["run", "--adapter", "caddyfile", "--config"]).arg(file);
            command
        },
        ready: "serving initial configuration",
    },
];

/// Runs every proxy in front of a gateway.
pub(super) fn pass_streams(programs: &Programs, snippets: &Path, log: &Log) -> Result<Tally, String> {
    let folder = scratch("deploy-proxies")?;
    Certificates::create(&folder, log)?;
    let own = folder.display().to_string();
    let failed = |error: std::io::Error| format!("{own}: {error}");
    let read = |name: &str| fs::read_to_string(folder.join(name)).map_err(failed);
    fs::write(folder.join("both.pem"), read("server.pem")? + &read("server-key.pem")?).map_err(failed)?;
    let config = json!({
        "mcpServers": { "demo": { "native": "demo" } },
        "trustForwardedFor": "127.0.0.1",
        "allowedHosts": ["localhost"],
    });
    let told = Serving { args: configured("deploy", &config)?.into(), ..Serving::default() };
    let gateway = Gateway::start_as(programs, told, log)?;
    let address = gateway.at("").trim_start_matches("http://").trim_end_matches('/').to_owned();
    let mut tally = Tally::default();
    for proxy in &PROXIES {
        let listen = free_address()?;
        let text = fs::read_to_string(snippets.join(proxy.snippet))
            .map_err(|error| format!("{}: {error}", proxy.snippet))?;
        let file = folder.join(proxy.snippet);
        let places = Places { listen: &listen, gateway: &address, folder: &own };
        fs::write(&file, (proxy.adapt)(&text, &places)).map_err(failed)?;
        let ready = |line: &str| line.contains(proxy.ready).then(String::new);
        let (service, _) = Service::start(&mut (proxy.command)(&file), log, ready)?;
        let port = listen.rsplit(':').next().unwrap_or_default();
        let good = passes(proxy.snippet, &format!("https://localhost:{port}"), &folder.join("ca.pem"), log)?;
        if good.failed > 0 {
            service.tell(log);
        }
        tally += good;
    }
    Ok(tally)
}

fn passes(name: &str, origin: &str, authority: &Path, log: &Log) -> Result<Tally, String> {
    let curl = |more: &[&str]| {
        let mut command = Command::new("curl");
        command.args(["--silent", "--show-error", "--no-buffer", "--max-time", AT_ONCE, "--cacert"]);
        command.arg(authority).args(more);
        command
    };
    // The proxy may need a moment until it knows that Dragoman is there.
    let patient = ["--fail", "--retry", "20", "--retry-connrefused", "--retry-delay", "1"];
    log.status(&mut curl(&[&patient[..], &[&format!("{origin}/health")]].concat()))?;
    let headers = [
        "--header",
        "Content-Type: application/json",
        "--header",
        "Accept: application/json, text/event-stream",
    ];
    let url = format!("{origin}/mcp");
    let (_, answer) = log.status(&mut curl(&[&headers[..], &["--data", HELLO, &url]].concat()))?;
    let mut tally = judged(answer.contains("\"serverInfo\""), &format!("{name}: a client is answered"), log);
    // The stream does not end, so curl ends after its time; only what has arrived until then counts.
    let url = format!("{origin}/sse");
    let (_, stream) = log.status(&mut curl(&["--header", "Accept: text/event-stream", &url]))?;
    tally += judged(
        stream.contains("event: endpoint"),
        &format!("{name}: the first event of a stream arrives"),
        log,
    );
    Ok(tally)
}

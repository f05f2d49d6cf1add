//! `cargo xtask reach`: servers that Dragoman reaches through real third-party programs: a proxy (tinyproxy), a
//! server with TLS that requires client certificates (nginx, with certificates made by openssl), and an identity
//! provider (npm `oidc-provider`) that issues tokens to Dragoman itself, and accepts the document in which Dragoman
//! describes itself as a client.
//!
//! | file | is for |
//! |---|---|
//! | `counterparts` | the programs: their configurations, certificates, start |

mod counterparts;

use crate::auth::{free_address, start_gateway, start_provider};
use crate::root::Programs;
use crate::run::{Log, Service};
use crate::scripts::Scripts;
use crate::stage::scratch;
use crate::tally::Tally;
use crate::tools::{Tools, for_reach};
pub(crate) use counterparts::Certificates;
use counterparts::{PROXY_USER, nginx, tinyproxy};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The cases. Those that need a browser are in a script.
pub(crate) const REACH: Scripts = Scripts { name: "reach", lanes: &[&["described"]], run: with_counterparts };

/// The address at which the identity provider fetches Dragoman's document; the provider's `fetch` is replaced by
/// one that connects to this machine.
const PUBLIC: &str = "https://gate.example.test";

/// The client of the identity provider for requests without a user, as in `provider.mjs`.
const MACHINE: (&str, &str) = ("robot", "a-secret-that-only-tests-know");

/// Starts all programs, and reaches servers through each.
pub(crate) fn with_counterparts(
    tools: &Tools,
    programs: &Programs,
    only: &[&str],
    log: &Log,
) -> Result<Tally, String> {
    for_reach(log)?;
    let folder = scratch("reach")?;
    let certificates = Certificates::create(&folder, log)?;
    let (plain_server, open) = serve(programs, &folder.join("open.json"), &json!({}), log)?;
    let (tls_server, secured) = nginx(&folder, &certificates, &open, log)?;
    let (forward_proxy, proxy) = tinyproxy(&folder, log)?;
    let (provider, issuer) = start_provider(tools, log)?;
    let (protected, locked) = start_gateway(programs, &issuer, log)?;
    let mut tally = Tally::default();
    let servers = servers(&Addresses {
        open: &open,
        secured: &secured,
        proxy: &proxy,
        locked: &locked,
        issuer: &issuer,
    });
    let file = folder.join("servers.json");
    write(&file, &json!({ "mcpServers": servers }))?;
    for (name, says) in CASES {
        let mut command = Command::new(programs.dragoman());
        command.args(["list", name, "--config"]).arg(&file);
        // The environment of this command must not name a proxy.
        for variable in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            command.env_remove(variable);
        }
        let (_, said) = log.status(&mut command)?;
        let good = said.contains(says);
        log.note(&if good {
            format!("ok {name}")
        } else {
            format!("not ok {name}: it does not say {says:?}")
        });
        tally += Tally::one(good);
    }
    let (gateway, url) = consenting(programs, &folder, &locked, log)?;
    tally += REACH.each((&tools.auth, &[&url, &issuer, PUBLIC]), only, log)?;
    if tally.failed > 0 {
        for service in [&plain_server, &tls_server, &forward_proxy, &provider, &protected, &gateway] {
            service.tell(log);
        }
    }
    Ok(tally)
}

/// The servers whose lists are requested on the command line, each with a text that the output must contain.
const CASES: &[(&str, &str)] = &[
    ("proxied", "echo"),
    ("tunnelled", "echo"),
    ("wrong-password", "HTTP 401; write the user name and password"),
    ("no-password", "HTTP 407; write the user name and password"),
    ("certified", "echo"),
    ("no-certificate", "No required SSL certificate was sent"),
    ("strange-authority", "`tls: { ca: FILE }`"),
    ("machine", "echo"),
    ("wrong-secret", "invalid_client"),
];

/// The addresses of the programs.
struct Addresses<'a> {
    open: &'a str,
    secured: &'a str,
    proxy: &'a str,
    locked: &'a str,
    issuer: &'a str,
}

fn servers(at: &Addresses<'_>) -> Value {
    let proxy = |user: &str| format!("http://{user}{}", at.proxy);
    let own = json!({ "ca": "ca.pem", "cert": "client.pem", "key": "client-key.pem" });
    let machine = |secret: &str| {
        let (id, issuer) = (MACHINE.0, at.issuer);
        let oauth =
            json!({ "grant": "clientCredentials", "clientId": id, "clientSecret": secret, "issuer": issuer });
        json!({ "url": at.locked, "oauth": oauth })
    };
    json!({
        "proxied": { "url": at.open, "proxy": proxy(PROXY_USER) },
        "tunnelled": { "url": at.secured, "proxy": proxy(PROXY_USER), "tls": own },
        "wrong-password": { "url": at.secured, "proxy": proxy("dragoman:wrong@"), "tls": own },
        "no-password": { "url": at.open, "proxy": proxy("") },
        "certified": { "url": at.secured, "tls": own },
        "no-certificate": { "url": at.secured, "tls": { "ca": "ca.pem" } },
        "strange-authority": { "url": at.secured },
        "machine": machine(MACHINE.1),
        "wrong-secret": machine("another-secret"),
    })
}

/// Starts a gateway in front of the protected gateway, with a public URL from which the identity provider can
/// fetch.
fn consenting(
    programs: &Programs,
    folder: &Path,
    locked: &str,
    log: &Log,
) -> Result<(Service, String), String> {
    let host = PUBLIC.trim_start_matches("https://");
    let more = json!({
        "mcpServers": { "locked": { "url": locked } }, "publicUrl": PUBLIC, "allowedHosts": [host],
        "stateFolder": folder.join("state"),
    });
    serve(programs, &folder.join("consenting.json"), &more, log)
}

/// Starts a gateway with this configuration; without servers, it serves the embedded demo.
fn serve(programs: &Programs, file: &Path, more: &Value, log: &Log) -> Result<(Service, String), String> {
    let mut config = json!({ "mcpServers": { "demo": { "native": "demo" } }, "profiles": { "default": { "names": "plain" } } });
    for (key, value) in more.as_object().into_iter().flatten() {
        config[key] = value.clone();
    }
    write(file, &config)?;
    let address = free_address()?;
    let url = format!("http://{address}/mcp");
    let mut command = Command::new(programs.dragoman());
    command.args(["serve", "--listen", &address, "--config"]).arg(file);
    Service::start(&mut command, log, |line| line.contains(" serves ").then(|| url.clone()))
}

fn write(file: &Path, config: &Value) -> Result<(), String> {
    fs::write(file, config.to_string()).map_err(|error| format!("{}: {error}", file.display()))
}

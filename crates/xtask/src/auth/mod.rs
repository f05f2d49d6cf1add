//! `cargo xtask auth`: a real identity provider (npm `oidc-provider`) that issues tokens for Dragoman, clients that
//! complete the provider's whole sign-in flow, and tokens that must be rejected.

use crate::root::Programs;
use crate::run::{Log, Service};
use crate::scripts::Scripts;
use crate::stage::scratch;
use crate::tally::Tally;
use crate::tools::Tools;
use serde_json::json;
use std::fs;
use std::net::TcpListener;
use std::process::Command;

/// The scripts. The first one makes the provider change its signing keys.
pub(crate) const AUTH: Scripts =
    Scripts { name: "auth", lanes: &[&["attacks", "flow-v1", "flow-v2"]], run: with_provider };

/// The number of attempts to start: another program may take the free port before the gateway listens there.
const ATTEMPTS: usize = 3;

/// Starts a provider and a gateway that accepts its tokens, and runs all scripts, or some, against both.
pub(crate) fn with_provider(
    tools: &Tools,
    programs: &Programs,
    only: &[&str],
    log: &Log,
) -> Result<Tally, String> {
    let (provider, issuer) = start_provider(tools, log)?;
    let (gateway, url) = start_gateway(programs, &issuer, log)?;
    let tally = AUTH.each((&tools.auth, &[&url, &issuer]), only, log)?;
    if tally.failed > 0 {
        gateway.tell(log);
        provider.tell(log);
    }
    Ok(tally)
}

/// Starts the provider; returns its issuer.
pub(crate) fn start_provider(tools: &Tools, log: &Log) -> Result<(Service, String), String> {
    let said = |line: &str| line.strip_prefix("provider at ").map(str::to_owned);
    Service::start(&mut tools.auth.script("provider.mjs")?, log, said)
}

/// Starts a gateway that accepts tokens from `issuer`. The gateway must know its own URL before it listens, because
/// the tokens contain that URL.
pub(crate) fn start_gateway(
    programs: &Programs,
    issuer: &str,
    log: &Log,
) -> Result<(Service, String), String> {
    let file = scratch("auth")?.join("dragoman.json");
    let mut why = String::new();
    for _ in 0..ATTEMPTS {
        let address = free_address()?;
        let url = format!("http://{address}/mcp");
        let config = json!({
            "mcpServers": { "demo": { "native": "demo" } },
            "profiles": { "default": { "names": "plain" } },
            "auth": {
                "jwt": { "issuer": issuer, "algorithms": ["RS256", "ES256"], "clockSkew": "0s" },
                "oauth": { "resource": url, "requiredScopes": ["mcp"] },
            },
        });
        fs::write(&file, config.to_string()).map_err(|error| format!("{}: {error}", file.display()))?;
        let mut command = Command::new(programs.dragoman());
        command.args(["serve", "--listen", &address, "--config"]).arg(&file);
        match Service::start(&mut command, log, |line| line.contains(" serves ").then(|| url.clone())) {
            Ok(started) => return Ok(started),
            Err(error) => why = error,
        }
    }
    Err(why)
}

pub(crate) fn free_address() -> Result<String, String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|error| format!("no free port: {error}"))?;
    listener.local_addr().map(|address| address.to_string()).map_err(|error| format!("no free port: {error}"))
}

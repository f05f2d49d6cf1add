//! Networks of sites: a main site, and sites in subfolders or on subdomains.

use super::database::Database;
use super::site::{Site, SiteKind};
use crate::root::Programs;
use crate::run::Log;
use crate::stage::{Gateway, Serving, configured};
use serde_json::{Value, json};
use std::path::Path;

/// The networks, by name.
pub(super) const NETWORKS: [(&str, SiteKind); 2] =
    [("network", SiteKind::Folders), ("subdomains", SiteKind::Subdomains)];
/// The account for which the gateway serves all sites.
const ACCOUNT: &str = "ann";

/// Starts a network.
pub(super) fn start(
    network: (&str, SiteKind),
    wordpress: &Path,
    folder: &Path,
    database: &Database,
    log: &Log,
) -> Result<Site, String> {
    let mut site = Site::start_as(network, wordpress, folder, database, log)?;
    site.told["address"] = json!(site.address());
    Ok(site)
}

/// Starts a gateway with one server for each site of the network, which all use the same account, and a profile `named`
/// whose requests name their site.
pub(super) fn gateway(
    kind: SiteKind,
    network: &Site,
    programs: &Programs,
    log: &Log,
) -> Result<Gateway, String> {
    let password = network.told.pointer(&format!("/people/{ACCOUNT}/password"));
    let sites = network.told.get("sites").and_then(Value::as_object).ok_or("the network has no sites")?;
    let server = |site: Value| {
        let phases = ["core", "extended", "discover"];
        let mut server = json!({ "native": "wordpress", "phases": phases, "site": site });
        if kind == SiteKind::Subdomains {
            server["proxy"] = json!(format!("http://{}", network.address()));
        }
        server
    };
    let of_site = |name: &str, url: &Value| {
        let mut site = json!({ "url": url, "username": ACCOUNT, "password": password });
        // On this site, abilities that change something are offered as well.
        if name == "one" {
            site["requests"] = json!({ "write": true });
        }
        server(site)
    };
    let mut servers: Value =
        sites.iter().map(|(name, site)| (name.clone(), of_site(name, &site["url"]))).collect();
    let names: Vec<&String> = sites.keys().collect();
    let profiles =
        json!({ "default": { "servers": names }, "named": { "servers": ["named"], "names": "plain" } });
    servers["named"] = server(json!({ "headers": true, "privateSites": true }));
    let config = json!({ "mcpServers": servers, "profiles": profiles });
    let name = network.told.get("name").and_then(Value::as_str).unwrap_or_default();
    let mut args = vec!["-vvv".to_owned()];
    args.extend(configured(&format!("sites-{name}"), &config)?);
    Gateway::start_as(programs, Serving { args, ..Serving::default() }, log)
}

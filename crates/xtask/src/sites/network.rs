//! A network of sites at one address: a main site, and sites in subfolders.

use super::database::Database;
use super::site::{Site, SiteKind};
use crate::root::Programs;
use crate::run::Log;
use crate::stage::{Gateway, Serving, configured};
use serde_json::{Value, json};
use std::path::Path;

/// The account for which the gateway serves all sites.
const ACCOUNT: &str = "ann";

/// Starts the network.
pub(super) fn start(wordpress: &Path, folder: &Path, database: &Database, log: &Log) -> Result<Site, String> {
    Site::start_as(("network", SiteKind::Network), wordpress, folder, database, log)
}

/// Starts a gateway with one server for each site of the network; all servers use the same account.
pub(super) fn gateway(network: &Site, programs: &Programs, log: &Log) -> Result<Gateway, String> {
    let password = network.told.pointer(&format!("/people/{ACCOUNT}/password"));
    let sites = network.told.get("sites").and_then(Value::as_object).ok_or("the network has no sites")?;
    let server = |url: &Value| {
        json!({
            "native": "wordpress", "phases": ["core", "extended", "discover"],
            "site": { "url": url, "username": ACCOUNT, "password": password },
        })
    };
    let servers: Value = sites.iter().map(|(name, site)| (name.clone(), server(&site["url"]))).collect();
    let config = json!({ "mcpServers": servers, "profiles": { "default": {} } });
    let mut args = vec!["-vvv".to_owned()];
    args.extend(configured("sites-network", &config)?);
    Gateway::start_as(programs, Serving { args, ..Serving::default() }, log)
}

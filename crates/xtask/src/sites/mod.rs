//! `cargo xtask sites`: real WordPress sites with Dragoman in front of them, to test its WordPress tools.
//!
//! All sites share one WordPress and one database server. Each has its own database, folder, users and port.
//! Everything is below one temporary folder, which is deleted when the run ends.
//!
//! | file | concern |
//! |---|---|
//! | `database` | the database server |
//! | `folder` | the folder of a run |
//! | `network` | networks of sites, and the gateway with the servers of a network's sites |
//! | `plugin` | plugins from folders |
//! | `site` | one site: created, filled, served |

mod database;
mod folder;
mod network;
mod plugin;
mod site;

use crate::root::Programs;
use crate::run::Log;
use crate::scripts::Scripts;
use crate::stage::{Gateway, Serving, configured};
use crate::tally::Tally;
use crate::tools::{Tools, wordpress};
pub(crate) use database::Database;
pub(crate) use folder::Folder;
use network::NETWORKS;
pub(crate) use plugin::{copy, main_file};
use serde_json::{Value, json};
pub(crate) use site::Site;
use site::SiteKind;
use std::fs;
use std::path::Path;
use std::thread;

/// The scripts of this command.
pub(crate) const SITES: Scripts = Scripts {
    name: "sites",
    lanes: &[
        &["tools", "account", "answers", "tenants", "login", "subdomains", "abilities"],
        &["network", "story", "extended", "seo"],
    ],
    run: with_sites,
};

/// The sites, by name.
const NAMES: [&str; 2] = ["north", "south"];

const USAGE: &str = "
  --wordpress FOLDER  another WordPress than Debian's: wp-load.php is at its top, and a wp-config.php for these sites is put
                      beside it. From 6.9 on, the cases of newer tools run as well
  --adapter FOLDER    the MCP adapter for WordPress (mcp-adapter.php is at its top), for a WordPress from 6.9 on: the script
                      `abilities` then also calls abilities through Dragoman in front of this MCP server
  --yoast FOLDER      Yoast SEO (wp-seo.php is at its top), for the script `seo`; without it, a stand-in has the same fields
";

/// The folders that the command line names.
#[derive(Debug, Clone, Copy, Default)]
struct OwnFolders<'a> {
    wordpress: Option<&'a Path>,
    adapter: Option<&'a Path>,
    yoast: Option<&'a Path>,
}

/// Runs the command.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    let mut own = OwnFolders::default();
    let mut rest = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut folder = || args.next().map(Path::new).ok_or_else(|| format!("{arg} wants a value\n{USAGE}"));
        match arg.as_str() {
            "--wordpress" => own.wordpress = Some(folder()?),
            "--adapter" => own.adapter = Some(folder()?),
            "--yoast" => own.yoast = Some(folder()?),
            _ => rest.push(arg.clone()),
        }
    }
    SITES.run_by(&rest, USAGE, |tools, programs, only, log| with_folders(tools, programs, only, own, log))
}

/// Starts the sites with Debian's WordPress, and runs all scripts, or the selected ones.
pub(crate) fn with_sites(
    tools: &Tools,
    programs: &Programs,
    only: &[&str],
    log: &Log,
) -> Result<Tally, String> {
    with_folders(tools, programs, only, OwnFolders::default(), log)
}

/// Starts the sites and the gateways in front of them, and runs all scripts, or the selected ones.
fn with_folders(
    tools: &Tools,
    programs: &Programs,
    only: &[&str],
    own: OwnFolders<'_>,
    log: &Log,
) -> Result<Tally, String> {
    let folder = Folder::new("sites")?;
    let wordpress = wordpress(own.wordpress, log)?;
    let database = Database::start(&folder.0, log)?;
    let (sites, networks) = started(&wordpress, &folder.0, &database, log);
    let (sites, networks) = (sites?, networks?);
    let mut gateways = gateways(&sites, &networks, programs, &folder.0, log)?;
    for ((name, kind), network) in NETWORKS.into_iter().zip(&networks) {
        gateways.push((name, network::gateway(kind, network, programs, log)?));
    }
    // The other site is the one whose lists are measured.
    if let Some(site) = sites.last() {
        plugin::install_yoast(own.yoast, site, &wordpress, log)?;
    }
    if let (Some(adapter), Some(site)) = (own.adapter, sites.last()) {
        plugin::install_adapter(adapter, site, &wordpress, log)?;
        gateways.push(("adapter", before_adapter(site, programs, log)?));
    }
    let world = json!({
        "python": tools.python("sdk-v1")?,
        "sites": sites.iter().map(|site| &site.told).collect::<Vec<_>>(),
        "networks": networks.iter().map(|network| &network.told).collect::<Vec<_>>(),
        "gateways": gateways.iter().map(|(name, gateway)| ((*name).to_owned(), json!(gateway.url))).collect::<Value>(),
    });
    let file = folder.0.join("world.json");
    fs::write(&file, world.to_string()).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut tally = SITES.each((&tools.sites, &[&file]), only, log)?;
    let sites: Vec<Site> = sites.into_iter().chain(networks).collect();
    tally += silent(&sites, &gateways, log);
    if tally.failed > 0 {
        for (_, gateway) in &gateways {
            gateway.tell(log);
        }
        for site in &sites {
            site.tell(log);
        }
    }
    Ok(tally)
}

/// Starts a gateway in front of the MCP adapter of a site, which the site's administrator uses.
fn before_adapter(site: &Site, programs: &Programs, log: &Log) -> Result<Gateway, String> {
    let url = format!("{}/wp-json/mcp/mcp-adapter-default-server", site.url);
    let password = site.told.pointer("/people/admin/password").and_then(Value::as_str).unwrap_or_default();
    let pair =
        log.run(site.php().args(["-r", "echo base64_encode($argv[1]);", &format!("admin:{password}")]))?;
    let server = json!({ "url": url, "headers": { "Authorization": format!("Basic {pair}") } });
    let config =
        json!({ "mcpServers": { "adapter": server }, "profiles": { "default": { "names": "plain" } } });
    let mut args = vec!["-vvv".to_owned()];
    args.extend(configured("sites-adapter", &config)?);
    Gateway::start_as(programs, Serving { args, ..Serving::default() }, log)
}

/// Starts the sites and the networks at the same time. Each has its own log, because the output of its set-up is
/// read from the text that is added to its log.
fn started(
    wordpress: &Path,
    folder: &Path,
    database: &Database,
    log: &Log,
) -> (Result<Vec<Site>, String>, Result<Vec<Site>, String>) {
    let start = |name: &str, start: &dyn Fn(&Log) -> Result<Site, String>| {
        let own = log.part(&format!("sites-{name}"))?;
        let site = start(&own);
        log.take(&own);
        site
    };
    let panicked = |_| Err("a set-up panicked".to_owned());
    thread::scope(|scope| {
        let one = |name| {
            scope.spawn(move || start(name, &|log| Site::start(name, wordpress, folder, database, log)))
        };
        let net = |network: (&'static str, SiteKind)| {
            let start =
                move || start(network.0, &|log| network::start(network, wordpress, folder, database, log));
            scope.spawn(start)
        };
        let (sites, networks) = (NAMES.map(one), NETWORKS.map(net));
        let sites = sites.into_iter().map(|site| site.join().unwrap_or_else(panicked)).collect();
        (sites, networks.into_iter().map(|site| site.join().unwrap_or_else(panicked)).collect())
    })
}

/// Checks that no gateway has logged a password, or data that only one account may see, although its log
/// level is the highest.
fn silent(sites: &[Site], gateways: &[(&str, Gateway)], log: &Log) -> Tally {
    let people = sites
        .iter()
        .filter_map(|site| site.told.pointer("/people")?.as_object())
        .flat_map(|all| all.values());
    let of = |person: &Value, what: &str| person.get(what).and_then(Value::as_str).map(str::to_owned);
    let passwords: Vec<String> = people.clone().filter_map(|person| of(person, "password")).collect();
    let bare = passwords.iter().map(|password| password.replace(' ', ""));
    let secrets: Vec<String> =
        people.filter_map(|person| of(person, "secret")).chain(bare).chain(passwords.clone()).collect();
    let mut tally = Tally::default();
    for (name, gateway) in gateways {
        let said = gateway.said();
        let leaks = secrets.iter().filter(|secret| said.contains(secret.as_str())).count();
        // Sites send new application passwords in addresses.
        let good = leaks == 0 && !said.contains("password=") && secrets.len() >= 60 && !said.is_empty();
        log.note(&format!("{} the log of {name} holds no secret", if good { "ok" } else { "not ok" }));
        tally += Tally::one(good);
    }
    tally
}

/// Starts the gateways: one with the preset whose requests name their site, unchanged; one with this preset, all
/// tools, and files from this machine; two with the preset for a single site, which is a site of a network for the second
/// one; one with all tools and no preset; and one where people sign in.
fn gateways(
    sites: &[Site],
    networks: &[Site],
    programs: &Programs,
    folder: &Path,
    log: &Log,
) -> Result<Vec<(&'static str, Gateway)>, String> {
    let preset = |name: &str| ["-vvv", "--preset", name].map(str::to_owned).to_vec();
    let files = json!({
        "native": "wordpress", "phases": ["core", "extended"],
        "site": { "privateSites": true, "privateFiles": true },
    });
    let all = json!({
        "native": "wordpress", "phases": ["core", "extended", "discover"],
        "site": {
            "headers": true, "privateSites": true,
            "requests": { "write": true, "allow": ["/wp/v2/*"] },
        },
    });
    let profiles = json!({ "default": { "servers": ["wordpress"], "names": "plain" } });
    let mut extended = vec!["-vvv".to_owned()];
    let config = json!({ "mcpServers": { "wordpress": all }, "profiles": &profiles });
    extended.extend(configured("sites-extended", &config)?);
    let config = json!({
        "stateFolder": folder.join("login"),
        "auth": { "login": { "privateSites": true, "cache": "0s" } },
        "mcpServers": { "wordpress": { "native": "wordpress", "site": { "login": true, "privateSites": true } } },
        "profiles": profiles,
    });
    let mut with_login = vec!["-vvv".to_owned()];
    with_login.extend(configured("sites-login", &config)?);
    let mut with_files = preset("wordpress");
    with_files.extend(configured("sites-files", &json!({ "mcpServers": { "wordpress": files } }))?);
    let mut on_this_machine = preset("wordpress");
    on_this_machine.push("--allow-private-sites".to_owned());
    let first = sites.first().map(|site| site.url.clone()).unwrap_or_default();
    let in_network = networks.first().map(|network| format!("{}/one", network.url)).unwrap_or_default();
    let told = [
        ("wordpress", on_this_machine, Vec::new()),
        ("files", with_files, Vec::new()),
        ("extended", extended, Vec::new()),
        ("login", with_login, Vec::new()),
        ("buddyboss", preset("buddyboss"), vec![("WORDPRESS_URL", first)]),
        ("owners", preset("buddyboss"), vec![("WORDPRESS_URL", in_network)]),
    ];
    let start = |(name, args, env)| {
        Gateway::start_as(programs, Serving { args, env }, log).map(|gateway| (name, gateway))
    };
    told.into_iter().map(start).collect()
}

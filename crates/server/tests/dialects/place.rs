//! A running set-up: the sites, the servers behind the gateway, and the gateway.

use std::net::{Ipv4Addr, SocketAddr};

use testkit::client::within;
use testkit::fixture::{self, Eras};
use testkit::site::{self, Options, Received, Site, accounts};

use crate::file::SetUp;
use crate::process::Process;
use crate::words::Names;

/// The processes and servers of one set-up.
pub(crate) struct Place {
    pub(crate) names: Names,
    sites: Vec<Site>,
    /// The gateway; over pipes, the process that is tested.
    pub(crate) process: Process,
    /// Its address, if it listens.
    pub(crate) address: Option<SocketAddr>,
    /// The gateway that a bridge leads to, and its servers.
    behind: Option<Box<Self>>,
    _upstreams: Vec<fixture::Running>,
}

impl Place {
    /// Starts everything.
    pub(crate) async fn start(setup: &SetUp) -> Result<Self, String> {
        let Some(path) = &setup.bridge else { return Self::plain(setup).await };
        let serve = SetUp { bridge: None, pipes: false, ..setup.clone() };
        let behind = Box::pin(Self::plain(&serve)).await?;
        let address = behind.address.ok_or("the name has no address")?;
        let url = format!("http://{address}{path}");
        let header = accounts::ADMIN.basic();
        let config = format!(
            "mcpServers: {{ site: {{ url: '{url}', headers: {{ Authorization: '{header}' }} }} }}\n\
                     profiles: {{ default: {{ names: plain }} }}\n"
        );
        let process = Process::start(&["stdio"], &[], &config)?;
        let names = behind.names.clone();
        let sites = Vec::new();
        Ok(Self {
            names,
            sites,
            process,
            address: None,
            behind: Some(Box::new(behind)),
            _upstreams: Vec::new(),
        })
    }

    async fn plain(setup: &SetUp) -> Result<Self, String> {
        let mut names = Names::default();
        let sites = start_sites(&setup.site, &mut names).await?;
        for (name, account) in
            [("admin", accounts::ADMIN), ("editor", accounts::EDITOR), ("subscriber", accounts::SUBSCRIBER)]
        {
            names.set(name, account.basic());
            names.set(&format!("{name} password"), account.password);
            names.set(&format!("{name} bare password"), account.password.replace(' ', ""));
        }
        let upstreams = start_upstreams(&format!("{}{:?}", setup.config, setup.env), &mut names).await?;
        let mut env = Vec::new();
        for (name, value) in &setup.env {
            env.push((name.clone(), names.fill(value)?));
        }
        let config = names.fill(&setup.config)?;
        let mut args = vec![if setup.pipes { "stdio" } else { "serve" }];
        if setup.preset != "none" {
            args.extend(["--preset", &setup.preset]);
        }
        if !setup.pipes {
            args.extend(["--listen", "127.0.0.1:0", "--json", "--allow-private-sites"]);
        }
        let mut process = Process::start(&args, &env, &config)?;
        let mut address = None;
        if !setup.pipes {
            let found = listening(&mut process).await?;
            names.set("address", found.to_string());
            address = Some(found);
        }
        Ok(Self { names, sites, process, address, behind: None, _upstreams: upstreams })
    }

    /// The requests that a site received, by its number.
    pub(crate) fn received(&self, site: usize) -> Vec<Received> {
        let behind = self.behind.as_ref().map_or(&self.sites, |behind| &behind.sites);
        behind.get(site).map(Site::received).unwrap_or_default()
    }
}

async fn start_sites(kind: &str, names: &mut Names) -> Result<Vec<Site>, String> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let mut sites = Vec::new();
    for (name, key) in [("one", "site"), ("two", "site2")] {
        let options = match kind {
            "" => Options::default(),
            "without-buddyboss" => Options { without_buddyboss: true, ..Options::default() },
            "broken" => Options { broken: true, ..Options::default() },
            other => return Err(format!("there is no site {other}")),
        };
        let options = Options { name: name.to_owned(), ..options };
        let site = site::serve(any, options).await.map_err(|e| e.to_string())?;
        names.set(key, site.url());
        sites.push(site);
    }
    // A port on which nothing listens.
    let port = std::net::TcpListener::bind(any).and_then(|listener| listener.local_addr());
    names.set("nowhere", format!("http://{}", port.map_err(|e| e.to_string())?));
    Ok(sites)
}

/// Starts or builds the servers that a configuration names.
async fn start_upstreams(wanted: &str, names: &mut Names) -> Result<Vec<fixture::Running>, String> {
    let mut running = Vec::new();
    if wanted.contains("‹fixture›") {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let options = fixture::Options { eras: Eras::Legacy, ..fixture::Options::default() };
        let (_, fixture) = fixture::serve_http(any, options).await.map_err(|e| e.to_string())?;
        names.set("fixture", fixture.url());
        running.push(fixture);
    }
    if wanted.contains("‹odd›") {
        let built =
            transport::task::spawn_blocking(testkit::odd::program).await.map_err(|e| e.to_string())?;
        names.set("odd", built.display().to_string());
    }
    if wanted.contains("‹fixture program›") {
        let built = transport::task::spawn_blocking(fixture::program).await.map_err(|e| e.to_string())?;
        names.set("fixture program", built.display().to_string());
    }
    Ok(running)
}

/// The address that a server prints when it is ready.
async fn listening(process: &mut Process) -> Result<SocketAddr, String> {
    let line = within("the first line", process.line()).await??;
    let Some(line) = line else {
        let rest = process.rest().await.unwrap_or_else(|why| why);
        return Err(format!("it does not start: {rest}"));
    };
    let hello: serde_json::Value = serde_json::from_str(&line).map_err(|e| format!("{e}: {line}"))?;
    let url = hello["urls"][0].as_str().ok_or_else(|| format!("no URL: {line}"))?;
    let rest = url.strip_prefix("http://").ok_or_else(|| format!("its form: {url}"))?;
    let authority = rest.split('/').next().unwrap_or_default();
    authority.parse().map_err(|e| format!("{authority}: {e}"))
}

//! A preset as standard clients meet it: what stands behind it, where its endpoints are, and what its clients show.
//!
//! No client leaves this machine: behind a preset with a site there is a fake one.

use crate::root::Programs;
use crate::run::Log;
use crate::stage::{Gateway, HttpUpstream, Serving, configured};
use serde_json::{Value, json};
use std::process::Command;

/// A preset, served for visits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Preset {
    pub(super) name: &'static str,
    /// Where messages are posted by clients of Streamable HTTP.
    pub(super) path: &'static str,
    /// Where clients of HTTP+SSE open their stream; none of them visits where there is none.
    pub(super) stream: &'static str,
    /// What `dragoman stdio` is told besides.
    pub(super) piped: &'static [&'static str],
    behind: Behind,
}

/// What stands behind a preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// Nothing: its tools are its own.
    Nothing,
    /// A site, for whose administrator each request speaks.
    SiteOfCallers,
    /// A site that each request names.
    SiteOfRequests,
    /// Services of others.
    Services,
    /// The servers of its world.
    Servers,
}

/// The administrator of the fake site, with an application password as a site shows it.
const ADMIN: (&str, &str) = ("admin", "abcd efgh ijkl mnop qrst uvwx");
/// The same as HTTP's Basic scheme has it, the password without spaces.
const BASIC: &str = "Basic YWRtaW46YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4";
const TOKEN: &str = "a-token-that-only-tests-know";

impl Preset {
    pub(super) const BB: Self =
        Self { name: "bb", path: "/mcp", stream: "", piped: &[], behind: Behind::Nothing };
    pub(super) const BUDDYBOSS: Self = Self {
        name: "buddyboss",
        path: "/wp-json/buddyboss-mcp/v1/mcp",
        behind: Behind::SiteOfCallers,
        ..Self::BB
    };
    pub(super) const WORDPRESS: Self = Self { name: "wordpress", behind: Behind::SiteOfRequests, ..Self::BB };
    pub(super) const GATEWAY: Self = Self {
        name: "gateway",
        path: "/mcp/team",
        stream: "/mcp/team",
        piped: &["--profile", "team"],
        behind: Behind::Servers,
    };
    pub(super) const KULTURARV: Self =
        Self { name: "kulturarv", stream: "/sse", behind: Behind::Services, ..Self::BB };
}

/// A preset that is served.
pub(super) struct Served {
    pub(super) gateway: Gateway,
    /// What requests over HTTP carry, by name.
    pub(super) headers: Value,
    /// The environment of a `dragoman stdio` for one client.
    pub(super) env: Vec<(&'static str, String)>,
    site: Option<HttpUpstream>,
}

impl Served {
    /// A gateway without a preset, whose clients show nothing.
    pub(super) fn plain(gateway: Gateway) -> Self {
        Self { gateway, headers: json!({}), env: Vec::new(), site: None }
    }

    /// Starts the preset, and the site that it needs.
    pub(super) fn start(
        preset: &Preset,
        folder: &str,
        upstreams: &Value,
        programs: &Programs,
        log: &Log,
    ) -> Result<Self, String> {
        let site = match preset.behind {
            Behind::Nothing | Behind::Servers => None,
            Behind::SiteOfCallers | Behind::SiteOfRequests | Behind::Services => Some(site(programs, log)?),
        };
        let url = site.as_ref().map_or("", |site| site.url.as_str());
        let mut args = vec!["--preset".to_owned(), preset.name.to_owned()];
        if let Some(config) = preset.config(url, upstreams) {
            args.extend(configured(folder, &config)?);
        }
        let told = Serving { args, env: preset.env(url) };
        let gateway = Gateway::start_as(programs, told, log)?;
        Ok(Self { gateway, headers: preset.headers(url), env: preset.piped_env(url), site })
    }

    /// Writes what was said into a log.
    pub(super) fn tell(&self, log: &Log) {
        self.gateway.tell(log);
        self.site.iter().for_each(|site| site.tell(log));
    }
}

fn site(programs: &Programs, log: &Log) -> Result<HttpUpstream, String> {
    let ready = |line: &str| line.strip_prefix("listening ").map(str::to_owned);
    HttpUpstream::start(&mut Command::new(programs.site()), ready, log)
}

impl Preset {
    /// What extends it.
    fn config(&self, site: &str, upstreams: &Value) -> Option<Value> {
        match self.behind {
            Behind::Nothing | Behind::SiteOfCallers => None,
            // The site is on this machine.
            Behind::SiteOfRequests => Some(
                json!({ "mcpServers": { "wordpress": { "native": "wordpress", "site": { "privateSites": true } } } }),
            ),
            Behind::Services => {
                Some(json!({ "mcpServers": { "heritage": { "native": "heritage", "sources": {
                "wikipedia": site, "snl": site, "riksantikvaren": site, "arcgis": format!("{site}/arcgis"),
            } } } }))
            }
            Behind::Servers => {
                let names: Vec<&String> =
                    upstreams.as_object().into_iter().flatten().map(|(name, _)| name).collect();
                let profiles = json!({ "default": { "servers": [] }, "team": { "servers": names } });
                let limits = json!({ "listWait": "30s" });
                Some(json!({ "mcpServers": upstreams, "profiles": profiles, "limits": limits }))
            }
        }
    }

    /// What `serve` finds in its environment: no account, since its callers bring one.
    fn env(&self, site: &str) -> Vec<(&'static str, String)> {
        match self.behind {
            Behind::SiteOfCallers => vec![("WORDPRESS_URL", site.to_owned())],
            Behind::Services => vec![("MCP_AUTH_TOKEN", TOKEN.to_owned())],
            Behind::Nothing | Behind::SiteOfRequests | Behind::Servers => Vec::new(),
        }
    }

    /// What `stdio` finds there: over a pipe nobody can show an account.
    fn piped_env(&self, site: &str) -> Vec<(&'static str, String)> {
        match self.behind {
            Behind::SiteOfCallers | Behind::SiteOfRequests => vec![
                ("WORDPRESS_URL", site.to_owned()),
                ("WORDPRESS_USERNAME", ADMIN.0.to_owned()),
                ("WORDPRESS_APP_PASSWORD", ADMIN.1.to_owned()),
            ],
            Behind::Nothing | Behind::Services | Behind::Servers => Vec::new(),
        }
    }

    fn headers(&self, site: &str) -> Value {
        match self.behind {
            Behind::SiteOfCallers => json!({ "Authorization": BASIC }),
            Behind::SiteOfRequests => json!({
                "x-wordpress-url": site, "x-wordpress-username": ADMIN.0, "x-wordpress-password": ADMIN.1,
            }),
            Behind::Services => json!({ "Authorization": format!("Bearer {TOKEN}") }),
            Behind::Nothing | Behind::Servers => json!({}),
        }
    }
}

//! A preset as standard clients see it: its backend, its endpoints, and the credentials of its clients.
//!
//! No request leaves this machine: a preset with a site uses a fake site.

use crate::root::Programs;
use crate::run::Log;
use crate::stage::{Gateway, HttpUpstream, Serving, configured};
use serde_json::{Value, json};
use std::process::Command;

/// A preset that serves visits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Preset {
    pub(super) name: &'static str,
    /// The path to which clients of Streamable HTTP post messages.
    pub(super) path: &'static str,
    /// The path at which clients of HTTP+SSE open their stream; empty if there are no such clients.
    pub(super) stream: &'static str,
    /// The additional options of `dragoman stdio`.
    pub(super) piped: &'static [&'static str],
    behind: Behind,
}

/// The backend of a preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// No backend: the tools are embedded.
    Nothing,
    /// A site; each request acts on behalf of its administrator.
    SiteOfCallers,
    /// The site that each request names.
    SiteOfRequests,
    /// Third-party services.
    Services,
    /// The servers of the preset's world.
    Servers,
}

/// The administrator of the fake site, with an application password as the site displays it.
const ADMIN: (&str, &str) = ("admin", "abcd efgh ijkl mnop qrst uvwx");
/// The administrator's credentials for HTTP's Basic scheme; the password has no spaces.
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

/// A running preset.
pub(super) struct Served {
    pub(super) gateway: Gateway,
    /// The headers of requests over HTTP, by name.
    pub(super) headers: Value,
    /// The environment of a `dragoman stdio` for one client.
    pub(super) env: Vec<(&'static str, String)>,
    site: Option<HttpUpstream>,
}

impl Served {
    /// A gateway without a preset, for clients that send no credentials.
    pub(super) fn plain(gateway: Gateway) -> Self {
        Self { gateway, headers: json!({}), env: Vec::new(), site: None }
    }

    /// Starts the preset and, if needed, its site.
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

    /// Writes all output into a log.
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
    /// The configuration that extends the preset.
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

    /// The environment of `serve`. It contains no account, because callers send theirs.
    fn env(&self, site: &str) -> Vec<(&'static str, String)> {
        match self.behind {
            Behind::SiteOfCallers => vec![("WORDPRESS_URL", site.to_owned())],
            Behind::Services => vec![("MCP_AUTH_TOKEN", TOKEN.to_owned())],
            Behind::Nothing | Behind::SiteOfRequests | Behind::Servers => Vec::new(),
        }
    }

    /// The environment of `stdio`: a client over a pipe cannot send an account.
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

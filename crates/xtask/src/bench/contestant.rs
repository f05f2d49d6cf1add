//! Who stands between client and upstream, and how each is configured and started.

use super::guards::{self, Key};
use super::plain_http::{ask, is};
use super::programs::Programs;
use super::service::Service;
use serde_json::{Value, json};
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// A gateway must answer `/health` within this.
const READY_WITHIN: Duration = Duration::from_secs(20);
/// How often it is asked.
const ASK_AGAIN: Duration = Duration::from_micros(500);

/// One column of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contestant {
    /// Nobody: the client talks to the upstream.
    Direct,
    /// nginx as a plain reverse proxy.
    Nginx,
    /// Dragoman as it comes.
    Dragoman,
    /// Dragoman with one single-threaded runtime per core.
    PerCore,
    /// Dragoman with one runtime whose threads take work from each other.
    WorkStealing,
    /// Dragoman that asks who calls, holds calls against rules and a limit, and records them.
    Guarded,
    /// Another build of Dragoman that this one is compared with.
    Old,
    /// The other build, guarded as [`Self::Guarded`] is.
    OldGuarded,
}

impl Contestant {
    pub(crate) const BESIDE_NGINX: [Self; 3] = [Self::Direct, Self::Nginx, Self::Dragoman];
    pub(crate) const VERSIONS: [Self; 2] = [Self::Old, Self::Dragoman];
    pub(crate) const RUNTIMES: [Self; 2] = [Self::PerCore, Self::WorkStealing];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Nginx => "nginx",
            Self::Dragoman => "dragoman",
            Self::PerCore => "per-core",
            Self::WorkStealing => "work-stealing",
            Self::Guarded => "guarded",
            Self::Old => "old",
            Self::OldGuarded => "old-guarded",
        }
    }

    /// Further flags of `dragoman serve`; `None` when this is no Dragoman.
    pub(crate) fn runtime(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Direct | Self::Nginx => None,
            Self::Dragoman | Self::Guarded | Self::Old | Self::OldGuarded => Some(&[]),
            Self::PerCore => Some(&["--runtime", "per-core"]),
            Self::WorkStealing => Some(&["--runtime", "work-stealing"]),
        }
    }

    /// True of the build that this one is compared with.
    pub(crate) fn is_old(self) -> bool {
        matches!(self, Self::Old | Self::OldGuarded)
    }

    /// True when calls pass all guards.
    pub(crate) fn is_guarded(self) -> bool {
        matches!(self, Self::Guarded | Self::OldGuarded)
    }

    /// What a tool of the upstream called `server` is called here.
    pub(crate) fn tool(self, server: &str, tool: &str) -> String {
        if self.runtime().is_some() { format!("{server}__{tool}") } else { tool.to_owned() }
    }
}

/// What a gateway has behind it.
#[derive(Clone, Debug)]
pub(crate) enum Backend {
    /// Addresses, `HOST:PORT`, whose endpoint is `/mcp`.
    Http(Vec<String>),
    /// `bench_upstream` with these flags.
    Stdio(Vec<String>),
}

impl Backend {
    /// The names of the upstreams in Dragoman's config.
    pub(crate) fn names(&self) -> Vec<String> {
        match self {
            Self::Http(addresses) if addresses.len() > 1 => {
                (1..=addresses.len()).map(|number| format!("up{number}")).collect()
            }
            Self::Http(_) | Self::Stdio(_) => vec!["up".to_owned()],
        }
    }
}

/// A running gateway.
#[derive(Debug)]
pub(crate) struct Gateway {
    pub(crate) contestant: Contestant,
    pub(crate) service: Service,
    pub(crate) url: String,
    /// What requests must carry, where it asks for that.
    pub(crate) key: Option<Key>,
    /// From the start of the process to its first good answer on `/health`.
    pub(crate) ready: Duration,
}

impl Gateway {
    /// Starts a gateway in `folder` and waits until it is ready.
    pub(crate) fn start(
        contestant: Contestant,
        backend: &Backend,
        programs: &Programs,
        folder: &Path,
    ) -> Result<Self, String> {
        let folder = folder.join(contestant.name());
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let address = free_address()?;
        let program = programs.dragoman(contestant);
        let key = contestant.is_guarded().then(|| Key::make(program, &folder)).transpose()?;
        let mut command = match (contestant.runtime(), backend) {
            (Some(flags), _) => {
                let mut config = json!({ "mcpServers": servers(programs, backend) });
                if key.is_some() {
                    guards::add(&mut config, &folder);
                }
                dragoman(program, &config, flags, address, &folder)?
            }
            (None, Backend::Http(upstreams)) => nginx(programs, &upstreams[0], address, &folder)?,
            (None, Backend::Stdio(_)) => return Err("nginx cannot front a stdio upstream".into()),
        };
        let started = Instant::now();
        let mut service = Service::start(&mut command, &folder.join("stderr"))?;
        let until = started + READY_WITHIN;
        while !answers(address) {
            if service.ended(Duration::ZERO) || service.ended(ASK_AGAIN) {
                return Err(service.fault("ended before it was ready"));
            }
            if Instant::now() > until {
                return Err(service.fault("did not answer 200 on /health within 20 s"));
            }
        }
        let ready = started.elapsed();
        if let Some(key) = &key {
            key.is_asked_for(address).map_err(|why| service.fault(&why))?;
        }
        Ok(Self { contestant, service, url: format!("http://{address}/mcp"), key, ready })
    }

    /// The processes whose cost is the gateway's: not the children that it serves.
    pub(crate) fn pids(&self) -> Vec<u32> {
        let pid = self.service.pid();
        match self.contestant {
            Contestant::Nginx => super::procfs::with_children(pid),
            _ => vec![pid],
        }
    }
}

/// An address that nobody listens on now. Somebody else may take it first, which then shows as a failed start.
fn free_address() -> Result<SocketAddr, String> {
    let listener = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    listener.map_err(|error| format!("no free port: {error}"))
}

/// One try of `GET /health`.
fn answers(address: SocketAddr) -> bool {
    ask(address, "GET /health", "", "").is_some_and(|answer| is(&answer, 200))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The upstreams in Dragoman's config.
fn servers(programs: &Programs, backend: &Backend) -> serde_json::Map<String, Value> {
    match backend {
        Backend::Http(addresses) => backend
            .names()
            .into_iter()
            .zip(addresses)
            .map(|(name, address)| (name, json!({"url": format!("http://{address}/mcp")})))
            .collect(),
        Backend::Stdio(flags) => backend
            .names()
            .into_iter()
            .map(|name| (name, json!({"command": programs.upstream, "args": flags})))
            .collect(),
    }
}

fn dragoman(
    program: &Path,
    config: &Value,
    flags: &[&str],
    address: SocketAddr,
    folder: &Path,
) -> Result<Command, String> {
    let path = folder.join("dragoman.json");
    write(&path, &config.to_string())?;
    let mut command = Command::new(program);
    command.args(["serve", "--config"]).arg(path).args(["--listen", &address.to_string()]).args(flags);
    Ok(command)
}

fn nginx(programs: &Programs, upstream: &str, address: SocketAddr, folder: &Path) -> Result<Command, String> {
    let config = folder.join("nginx.conf");
    write(&config, &nginx_config(upstream, address, folder))?;
    let mut command = Command::new(&programs.nginx);
    command.arg("-p").arg(folder).arg("-c").arg(&config).arg("-e").arg(folder.join("error.log"));
    Ok(command)
}

/// A plain reverse proxy with nginx's defaults, but for what would close connections in the middle of a run.
fn nginx_config(upstream: &str, address: SocketAddr, folder: &Path) -> String {
    let folder = folder.display();
    // As root its workers would become another user, who may not reach our folder.
    let user = if rustix::process::geteuid().is_root() { "user root;" } else { "" };
    format!(
        "daemon off;
{user}
worker_processes auto;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 16384; }}
http {{
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  upstream up {{ server {upstream}; keepalive 256; keepalive_requests 1000000000; }}
  server {{
    listen {address};
    location = /health {{ return 200; }}
    location / {{
      proxy_pass http://up;
      proxy_http_version 1.1;
      proxy_set_header Connection \"\";
      proxy_read_timeout 600s;
    }}
  }}
}}
"
    )
}

/// Lets what was just started settle down.
pub(crate) fn settle(time: Duration) {
    thread::sleep(time);
}

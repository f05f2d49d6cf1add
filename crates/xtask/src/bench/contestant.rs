//! The contestants between client and upstream, and how each is configured and started.

use super::addition::{Addition, Beside};
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

/// The time within which a gateway must answer `/health`.
const READY_WITHIN: Duration = Duration::from_secs(20);
/// The interval between two requests to `/health`.
const ASK_AGAIN: Duration = Duration::from_micros(500);

/// One column of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contestant {
    /// No gateway: the client talks to the upstream directly.
    Direct,
    /// nginx as a plain reverse proxy.
    Nginx,
    /// Dragoman with its defaults.
    Dragoman,
    /// Dragoman with one single-threaded runtime per core.
    PerCore,
    /// Dragoman with one runtime whose threads steal work from each other.
    WorkStealing,
    /// Dragoman with an addition.
    With(Addition),
    /// The other build of Dragoman, which is compared with this one.
    Old,
    /// The other build, with the same addition as [`Self::With`].
    OldWith(Addition),
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
            Self::With(addition) => addition.name(),
            Self::Old => "old",
            Self::OldWith(_) => "old-with",
        }
    }

    /// Additional flags for `dragoman serve`; `None` if this is not Dragoman.
    pub(crate) fn runtime(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Direct | Self::Nginx => None,
            Self::Dragoman | Self::With(_) | Self::Old | Self::OldWith(_) => Some(&[]),
            Self::PerCore => Some(&["--runtime", "per-core"]),
            Self::WorkStealing => Some(&["--runtime", "work-stealing"]),
        }
    }

    /// Returns true for the build with which this one is compared.
    pub(crate) fn is_old(self) -> bool {
        matches!(self, Self::Old | Self::OldWith(_))
    }

    /// The addition of this Dragoman, if it has one.
    pub(crate) fn addition(self) -> Option<Addition> {
        match self {
            Self::With(addition) | Self::OldWith(addition) => Some(addition),
            _ => None,
        }
    }

    /// The public name of a tool of the upstream called `server`.
    pub(crate) fn tool(self, server: &str, tool: &str) -> String {
        if self.runtime().is_some() { format!("{server}__{tool}") } else { tool.to_owned() }
    }
}

/// The upstreams behind a gateway.
#[derive(Clone, Debug)]
pub(crate) enum Backend {
    /// Addresses, `HOST:PORT`, with the endpoint `/mcp`.
    Http(Vec<String>),
    /// `bench_upstream` with these flags.
    Stdio(Vec<String>),
}

impl Backend {
    /// The names of the upstreams, as in Dragoman's configuration.
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
    /// Everything that the gateway's addition needs.
    pub(crate) beside: Beside,
    /// The time from the start of the process to the first successful answer at `/health`.
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
        let mut beside = Beside::prepare(contestant.addition(), program, &folder)?;
        let mut command = match (contestant.runtime(), backend) {
            (Some(flags), _) => {
                let mut config = json!({ "mcpServers": servers(programs, backend) });
                beside.add(&mut config, &folder);
                let mut command = dragoman(program, &config, flags, address, &folder)?;
                command.envs(beside.variables());
                if let Some(threads) = programs.threads {
                    command.args(["--threads", &threads.to_string()]);
                }
                command
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
        beside.begin(address, &mut service).map_err(|why| service.fault(&why))?;
        Ok(Self { contestant, service, url: format!("http://{address}/mcp"), beside, ready })
    }

    /// The processes whose CPU time is measured as the gateway's, without the servers that the gateway starts.
    pub(crate) fn pids(&self) -> Vec<u32> {
        let pid = self.service.pid();
        match self.contestant {
            Contestant::Nginx => super::procfs::with_children(pid),
            _ => vec![pid],
        }
    }
}

/// An address on which no program listens now. If another program takes it first, the start fails.
fn free_address() -> Result<SocketAddr, String> {
    let listener = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    listener.map_err(|error| format!("no free port: {error}"))
}

/// Requests `GET /health` once.
fn answers(address: SocketAddr) -> bool {
    ask(address, "GET /health", "", "").is_some_and(|answer| is(&answer, 200))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The upstreams in Dragoman's configuration.
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

/// A plain reverse proxy with nginx's defaults, except for settings that would close connections during a
/// run.
fn nginx_config(upstream: &str, address: SocketAddr, folder: &Path) -> String {
    let folder = folder.display();
    // As root, its workers would change to another user, who may not have access to our folder.
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

/// Waits until newly started programs are idle.
pub(crate) fn settle(time: Duration) {
    thread::sleep(time);
}

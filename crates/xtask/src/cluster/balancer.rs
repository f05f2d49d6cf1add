//! nginx and `HAProxy` in front of the replicas: each request goes to the next replica, whatever session it belongs to.

use crate::chaos::process::{MARK, Process, until};
use crate::chaos::stage::{SOON, Stage, free_address};
use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;

/// A running balancer.
#[derive(Debug)]
pub(super) struct Balancer {
    pub(super) address: SocketAddr,
    _process: Process,
}

impl Balancer {
    /// Starts nginx in front of these addresses.
    pub(super) fn nginx(stage: &Stage<'_>, replicas: &[SocketAddr]) -> Result<Self, String> {
        let folder = stage.folder.join("nginx");
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let file = folder.join("nginx.conf");
        let mut command = Command::new("/usr/sbin/nginx");
        command.arg("-e").arg("stderr").arg("-c").arg(&file);
        Self::start(stage, "nginx", &file, &mut command, |listen| nginx_config(&folder, listen, replicas))
    }

    /// Starts `HAProxy` in front of these addresses.
    pub(super) fn haproxy(stage: &Stage<'_>, replicas: &[SocketAddr]) -> Result<Self, String> {
        let file = stage.folder.join("haproxy.cfg");
        let mut command = Command::new("haproxy");
        command.args(["-db", "-f"]).arg(&file);
        Self::start(stage, "haproxy", &file, &mut command, |listen| haproxy_config(listen, replicas))
    }

    /// Starts nginx with the documented settings.
    pub(super) fn documented_nginx(
        stage: &Stage<'_>,
        name: &str,
        replicas: &[SocketAddr],
    ) -> Result<Self, String> {
        let folder = stage.folder.join(name);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let file = folder.join("nginx.conf");
        let mut command = Command::new("/usr/sbin/nginx");
        command.arg("-e").arg("stderr").arg("-c").arg(&file);
        let block = documented("nginx")?;
        Self::start(stage, name, &file, &mut command, |listen| {
            let block = with_servers(block, replicas);
            nginx_around(&folder, &block.replace("listen 443 ssl;", &format!("listen {listen};")))
        })
    }

    /// Starts `HAProxy` with the documented settings.
    pub(super) fn documented_haproxy(
        stage: &Stage<'_>,
        name: &str,
        replicas: &[SocketAddr],
    ) -> Result<Self, String> {
        let file = stage.folder.join(format!("{name}.cfg"));
        let mut command = Command::new("haproxy");
        command.args(["-db", "-f"]).arg(&file);
        let block = documented("haproxy")?;
        Self::start(stage, name, &file, &mut command, |listen| {
            let block = with_servers(block, replicas);
            format!(
                "global\n    maxconn 1000\n{block}\nfrontend mcp\n    bind {listen}\n    default_backend dragoman\n"
            )
        })
    }

    fn start(
        stage: &Stage<'_>,
        name: &str,
        file: &Path,
        command: &mut Command,
        config: impl Fn(SocketAddr) -> String,
    ) -> Result<Self, String> {
        let address = free_address()?;
        fs::write(file, config(address)).map_err(|error| format!("{}: {error}", file.display()))?;
        let log = stage.folder.join(format!("{name}.log"));
        let mut process = Process::start(command.env(MARK, &stage.mark), &log)?;
        let listens = until(SOON, || {
            if !process.runs() {
                return Some(false);
            }
            TcpStream::connect(address).is_ok().then_some(true)
        });
        match listens {
            Some(true) => Ok(Self { address, _process: process }),
            _ => Err(format!("{name} does not listen: {}", process.words())),
        }
    }
}

/// The documentation of clusters.
const PAGE: &str = include_str!("../../../../docs/cluster.md");

/// Returns the documented settings of a balancer.
fn documented(language: &str) -> Result<&'static str, String> {
    let block = PAGE.split_once(&format!("\n```{language}\n")).and_then(|(_, rest)| rest.split_once("```"));
    block.map(|(block, _)| block).ok_or_else(|| format!("docs/cluster.md has no settings of {language}"))
}

/// The name and the address of the first server in documented settings.
const EXAMPLE: (&str, &str) = ("one", "10.0.0.1:8808");

/// Replaces the servers of documented settings by these ones, with the parameters of the first documented server.
fn with_servers(block: &str, replicas: &[SocketAddr]) -> String {
    let is_server = |line: &&str| line.trim_start().starts_with("server ") && !line.ends_with('{');
    let example = block.lines().find(is_server).unwrap_or_default();
    let servers = replicas.iter().enumerate().map(|(number, address)| {
        example.replace(EXAMPLE.1, &address.to_string()).replace(EXAMPLE.0, &format!("gw{number}"))
    });
    let before: Vec<_> = block.lines().take_while(|line| !is_server(line)).map(str::to_owned).collect();
    let after = block.lines().skip(before.len()).skip_while(is_server).map(str::to_owned);
    before.iter().cloned().chain(servers).chain(after).collect::<Vec<_>>().join("\n")
}

/// Returns the settings of nginx around those of its servers.
fn nginx_around(folder: &Path, http: &str) -> String {
    let folder = folder.display();
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temporary = joined(temporary.iter().map(|name| format!("{name}_temp_path {folder}/{name}; ")));
    format!(
        "daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr warn;
         events {{ worker_connections 1024; }}
         http {{ access_log off; {temporary}\n{http} }}\n"
    )
}

fn nginx_config(folder: &Path, listen: SocketAddr, replicas: &[SocketAddr]) -> String {
    // A replica that is away is tried again with each request, so that it gets its share as soon as it is back. No
    // connection is kept: nginx does not repeat a POST whose kept connection a replica closes at the same moment.
    let servers = joined(replicas.iter().map(|address| format!("server {address} max_fails=0; ")));
    let http = format!(
        "upstream replicas {{ {servers}}}
         server {{
             listen {listen};
             location / {{
                 proxy_pass http://replicas;
                 proxy_http_version 1.1;
                 proxy_set_header Connection \"\";
                 proxy_set_header Host $http_host;
                 proxy_buffering off;
                 proxy_request_buffering off;
                 proxy_read_timeout 1h;
                 client_max_body_size 0;
             }}
         }}"
    );
    nginx_around(folder, &http)
}

fn haproxy_config(listen: SocketAddr, replicas: &[SocketAddr]) -> String {
    let servers = replicas.iter().enumerate();
    let servers = joined(servers.map(|(number, address)| {
        format!(
            "    server gw{number} {address}
"
        )
    }));
    format!(
        "global
    maxconn 1000

defaults
    mode http
    timeout connect 2s
    timeout client 1h
    timeout server 1h
    option redispatch 1
    retries 3
    retry-on conn-failure

frontend mcp
    bind {listen}
    default_backend replicas

backend replicas
    balance roundrobin
{servers}"
    )
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().concat()
}

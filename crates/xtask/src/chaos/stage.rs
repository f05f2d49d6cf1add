//! The stage of one scenario: a gateway, fickle upstreams and clients, with their own folder and mark.

use super::client::{Client, Era, Failure, Hearing};
use super::process::{MARK, Process, marked, signal_to, until};
use crate::root::Programs;
use crate::run::Log;
use crate::stage::scratch;
use rustix::process::Signal;
use serde_json::{Map, Value, json};
use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The time that a call, a list or an introduction may take on a busy machine with a healthy server.
pub(crate) const SOON: Duration = Duration::from_secs(10);
/// The time within which a gateway must listen, and within which it must end.
const STARTS: Duration = Duration::from_secs(20);
/// Ports below those that the system assigns, so that no other program takes the port of a server that is
/// down.
const PORTS: std::ops::Range<u16> = 20_000..30_000;

/// A scenario's stage.
pub(crate) struct Stage<'a> {
    pub(crate) programs: &'a Programs,
    /// The number of clients in scenarios with many clients.
    pub(crate) clients: usize,
    pub(crate) log: &'a Log,
    pub(crate) folder: PathBuf,
    pub(crate) mark: String,
    pub(crate) gateway: Option<Process>,
    address: SocketAddr,
    heard: Mutex<Vec<Arc<Hearing>>>,
    named: AtomicUsize,
}

/// A fickle upstream, which may be down.
#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) name: &'static str,
    pub(crate) address: SocketAddr,
    program: PathBuf,
    flags: &'static [&'static str],
    switch: PathBuf,
    pub(crate) ledger: PathBuf,
    log: PathBuf,
    mark: String,
    process: Option<Process>,
}

/// A free address with a port that the system does not assign to any other program.
pub(crate) fn free_address() -> Result<SocketAddr, String> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let (first, count) = (PORTS.start, PORTS.end - PORTS.start);
    let own = u16::try_from(std::process::id() % 9_000).unwrap_or(0);
    for _ in 0..count {
        let port = first + (own + NEXT.fetch_add(1, Ordering::Relaxed)) % count;
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        if TcpListener::bind(address).is_ok() {
            return Ok(address);
        }
    }
    Err("no free port".to_owned())
}

impl<'a> Stage<'a> {
    pub(crate) fn new(
        name: &str,
        programs: &'a Programs,
        clients: usize,
        log: &'a Log,
    ) -> Result<Self, String> {
        Ok(Self {
            programs,
            clients,
            log,
            folder: scratch(&format!("chaos-{name}"))?,
            mark: format!("{}-{name}", std::process::id()),
            gateway: None,
            address: free_address()?,
            heard: Mutex::default(),
            named: AtomicUsize::new(0),
        })
    }

    /// Creates a fickle upstream with these flags, without starting it.
    pub(crate) fn upstream(
        &self,
        name: &'static str,
        flags: &'static [&'static str],
    ) -> Result<Upstream, String> {
        let file = |kind: &str| self.folder.join(format!("{name}.{kind}"));
        let upstream = Upstream {
            name,
            address: free_address()?,
            program: self.programs.folder().join("fickle"),
            flags,
            switch: file("switch"),
            ledger: file("ledger"),
            log: file("log"),
            mark: self.mark.clone(),
            process: None,
        };
        upstream.switch("")?;
        fs::write(&upstream.ledger, "").map_err(|error| error.to_string())?;
        Ok(upstream)
    }

    /// Creates a fickle upstream with these flags, and starts it over HTTP.
    pub(crate) fn started(
        &self,
        name: &'static str,
        flags: &'static [&'static str],
    ) -> Result<Upstream, String> {
        let mut upstream = self.upstream(name, flags)?;
        upstream.start()?;
        Ok(upstream)
    }

    /// Creates servers of every lifecycle. The flag of a server is true over HTTP, where the server is already
    /// running, and false over a pipe.
    pub(crate) fn of_each_sort(&self) -> Result<Vec<(bool, Upstream)>, String> {
        Ok(vec![
            (true, self.started("web", &[])?),
            (true, self.started("dual", &["--era", "both"])?),
            (true, self.started("new", &["--era", "stateless"])?),
            (false, self.upstream("pipe", &[])?),
            (false, self.upstream("both", &["--era", "both"])?),
        ])
    }

    /// Serves these servers, with additional members in the configuration.
    pub(crate) fn serve(&mut self, servers: &[(&str, Value)], more: &Value) -> Result<(), String> {
        let servers: Map<String, Value> =
            servers.iter().map(|(name, entry)| ((*name).to_owned(), entry.clone())).collect();
        let mut config = json!({ "mcpServers": servers, "management": { "rate": "10000/1m" }, "stateFolder": self.folder.join("state") });
        for (key, value) in more.as_object().into_iter().flatten() {
            config[key] = value.clone();
        }
        let file = self.config();
        fs::write(&file, config.to_string()).map_err(|error| format!("{}: {error}", file.display()))?;
        self.start_gateway(&mut Command::new(self.programs.dragoman()))
    }

    /// The configuration's file.
    pub(crate) fn config(&self) -> PathBuf {
        self.folder.join("dragoman.json")
    }

    /// Starts the gateway with this command, to which the options are added, and waits until it answers.
    pub(crate) fn start_gateway(&mut self, command: &mut Command) -> Result<(), String> {
        command.args(["serve", "--listen", &self.address.to_string(), "--config"]).arg(self.config());
        command.env(MARK, &self.mark);
        let mut gateway = Process::start(command, &self.folder.join("gateway.log"))?;
        let answers = until(STARTS, || {
            if !gateway.runs() {
                return Some(false);
            }
            TcpStream::connect(self.address).is_ok().then_some(true)
        });
        let words = gateway.words();
        self.gateway = Some(gateway);
        match answers {
            Some(true) => Ok(()),
            Some(false) => Err(format!("the gateway ended: {words}")),
            None => Err(format!("the gateway does not listen: {words}")),
        }
    }

    /// Creates a client that has introduced itself.
    pub(crate) fn client(&self, era: Era, capabilities: &Value) -> Result<Arc<Client>, String> {
        self.open(Hearing::new(&self.next_name()), era, capabilities)
    }

    /// Creates a client that has introduced itself, with a folder as its root.
    pub(crate) fn client_in(&self, folder: &Path, era: Era) -> Result<Arc<Client>, String> {
        let uri = format!("file://{}", folder.display());
        self.open(Hearing::with_root(&self.next_name(), &uri), era, &json!({ "roots": {} }))
    }

    fn next_name(&self) -> String {
        format!("c{}", self.named.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Creates a client that has introduced itself at this address, with an API key if there is one.
    pub(crate) fn client_at(
        &self,
        address: SocketAddr,
        era: Era,
        key: Option<&str>,
    ) -> Result<Arc<Client>, String> {
        self.opened(address, Hearing::new(&self.next_name()), era, &json!({}), key)
    }

    /// Creates a client with these capabilities that connects to another address.
    pub(crate) fn askable_at(
        &self,
        address: SocketAddr,
        era: Era,
        capabilities: &Value,
    ) -> Result<Arc<Client>, String> {
        self.opened(address, Hearing::new(&self.next_name()), era, capabilities, None)
    }

    fn open(&self, hearing: Hearing, era: Era, capabilities: &Value) -> Result<Arc<Client>, String> {
        self.opened(self.address, hearing, era, capabilities, None)
    }

    fn opened(
        &self,
        address: SocketAddr,
        hearing: Hearing,
        era: Era,
        capabilities: &Value,
        key: Option<&str>,
    ) -> Result<Arc<Client>, String> {
        match Client::open(address, hearing, era, capabilities.clone(), key, SOON) {
            Ok(client) => {
                self.heard.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&client.hearing));
                Ok(client)
            }
            Err(Failure::Refused(why) | Failure::Lost(why)) => {
                Err(format!("a client of {} cannot open: {why}", era.version))
            }
        }
    }

    /// Creates one client of each version, all of them listening.
    pub(crate) fn clients_of_all_eras(&self) -> Result<Vec<Arc<Client>>, String> {
        let clients: Vec<_> =
            Era::ALL.into_iter().map(|era| self.client(era, &json!({}))).collect::<Result<_, _>>()?;
        for client in &clients {
            client.listen().map_err(|why| format!("{} cannot listen: {why:?}", client.era.version))?;
        }
        Ok(clients)
    }

    /// The address of the gateway.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The gateway's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.gateway.as_ref().map_or(0, Process::pid)
    }

    /// The status API's answer about a server.
    pub(crate) fn status(&self, server: &str) -> Result<Value, String> {
        use super::client::http::{Sent, exchange};
        let path = format!("/api/mcp-servers/{server}/status");
        let sent = Sent { method: "GET", path: &path, headers: &[], body: "" };
        let text = exchange(self.address, &sent, std::time::Instant::now() + SOON)
            .and_then(|mut reply| reply.text())
            .map_err(|error| format!("{path}: {error}"))?;
        serde_json::from_str(&text).map_err(|error| format!("{path}: {error}: {text}"))
    }

    /// The processes of this stage whose command line contains a word.
    pub(crate) fn processes(&self, word: &str) -> Vec<(u32, String)> {
        marked(&self.mark).into_iter().filter(|(_, line)| line.contains(word)).collect()
    }

    /// Ends the gateway, and reports all faults: foreign or duplicate messages, a crashed gateway, processes that it left
    /// behind.
    pub(crate) fn finish(mut self) -> Result<(), String> {
        let mut faults: Vec<String> = self
            .heard
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .flat_map(|one| one.faults())
            .collect();
        if let Some(mut gateway) = self.gateway.take() {
            if gateway.runs() {
                if !gateway.end(STARTS) {
                    faults.push("the gateway does not end after SIGTERM".to_owned());
                }
            } else {
                faults.push(format!("the gateway ended on its own: {}", gateway.words()));
            }
            let left = || Some(marked(&self.mark)).filter(Vec::is_empty);
            if until(Duration::from_secs(3), left).is_none() {
                faults.push(format!("left behind: {:?}", marked(&self.mark)));
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
    }
}

/// The configuration of these servers. The flag of a server is true over HTTP, and false over a pipe.
pub(crate) fn entries(servers: &[(bool, Upstream)]) -> Vec<(&str, Value)> {
    let entry = |up: &Upstream, over_http| if over_http { up.over_http() } else { up.over_stdio() };
    servers.iter().map(|(over_http, up)| (up.name, entry(up, *over_http))).collect()
}

impl Drop for Stage<'_> {
    /// Ends all remaining processes that this stage started.
    fn drop(&mut self) {
        self.gateway = None;
        for (pid, _) in marked(&self.mark) {
            signal_to(pid, Signal::KILL);
        }
    }
}

impl Upstream {
    /// The upstream's entry in a configuration, over HTTP.
    pub(crate) fn over_http(&self) -> Value {
        json!({ "url": format!("http://{}/mcp", self.address) })
    }

    /// The upstream's entry in a configuration, as a child.
    pub(crate) fn over_stdio(&self) -> Value {
        json!({ "command": self.program, "args": self.args("--stdio"), "env": { MARK: self.mark } })
    }

    /// The upstream's entry in a configuration, as a child that a shell starts after these commands.
    pub(crate) fn by_shell(&self, before: &str) -> Value {
        let line = self.args("--stdio").join("' '");
        let script = format!("{before} exec '{}' '{line}'", self.program.display());
        json!({ "command": "sh", "args": ["-c", script], "env": { MARK: self.mark } })
    }

    fn args(&self, way: &str) -> Vec<String> {
        let path = |path: &Path| path.display().to_string();
        let mut args = vec![way.to_owned()];
        args.extend(["--switch".to_owned(), path(&self.switch), "--ledger".to_owned(), path(&self.ledger)]);
        args.extend(self.flags.iter().map(|flag| (*flag).to_owned()));
        args
    }

    /// Starts the upstream over HTTP, always at the same address, and waits until it listens.
    pub(crate) fn start(&mut self) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        command.arg("--http").arg(self.address.to_string()).args(&self.args("")[1..]);
        // Started without the mark: it does not belong to the gateway, so the gateway must not end it.
        let process = Process::start(&mut command, &self.log)?;
        let process = self.process.insert(process);
        let listens = until(SOON, || {
            if !process.runs() {
                return Some(false);
            }
            TcpStream::connect(self.address).is_ok().then_some(true)
        });
        if listens == Some(true) {
            Ok(())
        } else {
            Err(format!("{} did not start: {}", self.name, process.words()))
        }
    }

    /// Returns true if the upstream is running.
    pub(crate) fn runs(&mut self) -> bool {
        self.process.as_mut().is_some_and(Process::runs)
    }

    /// Kills the upstream if it is running.
    pub(crate) fn kill(&mut self) {
        self.process = None;
    }

    /// Sends a signal to the upstream.
    pub(crate) fn signal(&self, signal: Signal) {
        self.process.iter().for_each(|process| process.signal(signal));
    }

    /// Sets the commands that change the upstream's behavior, in one step.
    pub(crate) fn switch(&self, words: &str) -> Result<(), String> {
        let next = self.switch.with_extension("next");
        let written = fs::write(&next, words).and_then(|()| fs::rename(&next, &self.switch));
        written.map_err(|error| format!("{}: {error}", self.switch.display()))
    }

    /// Sets the commands, and waits long enough for the upstream to read them.
    pub(crate) fn switched(&self, words: &str) -> Result<(), String> {
        self.switch(words)?;
        std::thread::sleep(Duration::from_millis(100));
        Ok(())
    }
}

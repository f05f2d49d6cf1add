//! One Dragoman of a cluster: its configuration, its process, and the command line for its state folder.

use crate::chaos::client::http::{Sent, exchange};
use crate::chaos::process::{MARK, Process, until};
use crate::chaos::stage::free_address;
use crate::root::Programs;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The messages in a replica's log: also those about requests that it passes on.
const LOGGED: &str = "info,dragoman_gateway::front::http::replicas=debug";

/// The time within which a replica must answer, and within which it must end.
const STARTS: Duration = Duration::from_secs(20);

/// A replica, which may be away.
#[derive(Debug)]
pub(super) struct Replica {
    pub(super) name: String,
    pub(super) address: SocketAddr,
    folder: PathBuf,
    program: PathBuf,
    mark: String,
    process: Option<Process>,
    /// True if the process was ended on purpose.
    is_away: bool,
}

/// The settings of a replica.
#[derive(Debug, Clone)]
pub(super) struct Told<'a> {
    pub(super) name: &'a str,
    /// The URL of the store.
    pub(super) store: &'a str,
    pub(super) key_ring: &'a Path,
    pub(super) servers: &'a Value,
    /// True if clients need an API key.
    pub(super) keys: bool,
    /// True if the replicas pass requests on to each other.
    pub(super) passes_on: bool,
    /// More keys of the configuration, in a mapping.
    pub(super) more: &'a Value,
}

impl Replica {
    /// Writes the configuration of a replica; does not start the replica.
    pub(super) fn new(
        folder: &Path,
        programs: &Programs,
        mark: &str,
        told: &Told<'_>,
    ) -> Result<Self, String> {
        let Told { name, store, key_ring, servers, keys, passes_on, more } = told;
        let folder = folder.join(name);
        let address = free_address()?;
        let mut config = json!({
            "listen": address.to_string(),
            "stateFolder": folder.join("state"),
            "cluster": { "store": store, "keyRing": key_ring, "name": name },
            "limits": { "listWait": "10s" },
            "mcpServers": servers,
        });
        if *passes_on {
            config["cluster"]["address"] = json!(free_address()?.to_string());
        }
        if *keys {
            config["auth"] = json!({ "keys": true });
        }
        for (key, value) in more.as_object().into_iter().flatten() {
            config[key] = value.clone();
        }
        let replica = Self {
            name: (*name).to_owned(),
            address,
            program: programs.dragoman(),
            mark: mark.to_owned(),
            process: None,
            is_away: true,
            folder,
        };
        let written = fs::create_dir_all(&replica.folder)
            .and_then(|()| fs::write(replica.config(), config.to_string()));
        written.map_err(|error| format!("{}: {error}", replica.folder.display()))?;
        Ok(replica)
    }

    /// Replaces keys of the configuration, which a running replica reads again.
    pub(super) fn amend(&self, more: &Value) -> Result<(), String> {
        let path = self.config();
        let amended = fs::read_to_string(&path).and_then(|text| {
            let mut config: Value = serde_json::from_str(&text)?;
            config.as_object_mut().into_iter().for_each(|config| {
                config.extend(more.as_object().cloned().unwrap_or_default());
            });
            fs::write(&path, config.to_string())
        });
        amended.map_err(|error| format!("{}: {error}", path.display()))
    }

    fn config(&self) -> PathBuf {
        self.folder.join("dragoman.json")
    }

    /// Starts the replica, without waiting until it is ready.
    pub(super) fn launch(&mut self) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        command.args(["serve", "--config"]).arg(self.config()).env(MARK, &self.mark);
        command.env("DRAGOMAN_LOG", LOGGED);
        self.process = Some(Process::start(&mut command, &self.folder.join("gateway.log"))?);
        self.is_away = false;
        Ok(())
    }

    /// Starts the replica, and waits until it answers.
    pub(super) fn start(&mut self) -> Result<(), String> {
        self.launch()?;
        self.answers()
    }

    /// Waits until the replica answers.
    pub(super) fn answers(&mut self) -> Result<(), String> {
        let (address, name) = (self.address, self.name.clone());
        let Some(process) = &mut self.process else { return Err(format!("{name} was not started")) };
        let ready = until(STARTS, || {
            if !process.runs() {
                return Some(false);
            }
            let sent = Sent { method: "GET", path: "/ready", headers: &[], body: "" };
            let reply = exchange(address, &sent, Instant::now() + STARTS);
            reply.is_ok_and(|reply| reply.status == 200).then_some(true)
        });
        match ready {
            Some(true) => Ok(()),
            Some(false) => Err(format!("{name} ended: {}", process.words())),
            None => Err(format!("{name} does not answer: {}", process.words())),
        }
    }

    /// Runs this program from its next start on.
    pub(super) fn becomes(&mut self, program: &Path) {
        program.clone_into(&mut self.program);
    }

    /// Kills the replica.
    pub(super) fn kill(&mut self) {
        self.process = None;
        self.is_away = true;
    }

    /// Asks the replica to end, and waits for its end.
    pub(super) fn end(&mut self) -> Result<(), String> {
        self.is_away = true;
        let Some(mut process) = self.process.take() else { return Ok(()) };
        if process.end(STARTS) {
            return Ok(());
        }
        Err(format!("{} does not end after SIGTERM: {}", self.name, process.words()))
    }

    /// Waits until the replica ends on its own; returns true if it succeeded, and its output.
    pub(super) fn ended(&mut self) -> Result<(bool, String), String> {
        self.is_away = true;
        let Some(mut process) = self.process.take() else {
            return Err(format!("{} was not started", self.name));
        };
        let over = until(STARTS, || process.success());
        over.map(|good| (good, process.words()))
            .ok_or_else(|| format!("{} goes on: {}", self.name, process.words()))
    }

    /// Reports a process that ended although nobody asked for that.
    pub(super) fn crashed(&mut self) -> Option<String> {
        let is_away = self.is_away;
        let process = self.process.as_mut()?;
        (!is_away && !process.runs()).then(|| format!("{} ended on its own: {}", self.name, process.words()))
    }

    pub(super) fn signal(&self, signal: Signal) {
        self.process.iter().for_each(|process| process.signal(signal));
    }

    /// Deletes the state that the replica has stored itself; the replica must not be running.
    pub(super) fn forget(&self) -> Result<(), String> {
        let folder = self.folder.join("state");
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))
    }

    /// The whole output of the replica.
    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.folder.join("gateway.log")).unwrap_or_default()
    }

    /// Waits until the replica's output contains a text more than `before` times.
    pub(super) fn says(&self, text: &str, before: usize, within: Duration) -> Result<(), String> {
        until(within, || (self.log().matches(text).count() > before).then_some(()))
            .ok_or_else(|| format!("{} does not say `{text}`: {}", self.name, self.log()))
    }

    /// Runs one of Dragoman's other commands for this replica's state; returns its output.
    pub(super) fn command(&self, args: &[&str]) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        let done = command.args(args).arg("--config").arg(self.config()).output();
        let done = done.map_err(|error| format!("dragoman {}: {error}", args.join(" ")))?;
        if done.status.success() {
            return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
        }
        Err(format!("dragoman {}: {}", args.join(" "), String::from_utf8_lossy(&done.stderr).trim()))
    }

    /// Creates an API key at this replica; returns its text.
    pub(super) fn new_key(&self, name: &str) -> Result<String, String> {
        let said = self.command(&["key", "new", name, "--json"])?;
        let told: Value = serde_json::from_str(&said).map_err(|error| format!("{error}: {said}"))?;
        told["key"].as_str().map(str::to_owned).ok_or(format!("no key in {said}"))
    }
}

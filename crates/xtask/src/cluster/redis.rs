//! The store: Debian's `redis-server`, without files.

use crate::chaos::process::{MARK, Process, until};
use crate::chaos::stage::{SOON, free_address};
use rustix::process::Signal;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;

/// A store, which may be away.
#[derive(Debug)]
pub(super) struct Redis {
    pub(super) address: SocketAddr,
    folder: PathBuf,
    mark: String,
    flags: Vec<String>,
    password: Option<String>,
    process: Option<Process>,
}

impl Redis {
    /// Starts an empty store with these additional options.
    pub(super) fn start(folder: PathBuf, mark: &str, flags: &[&str]) -> Result<Self, String> {
        let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let mut store = Self {
            address: free_address()?,
            folder,
            mark: mark.to_owned(),
            flags,
            password: None,
            process: None,
        };
        store.start_again()?;
        Ok(store)
    }

    /// Starts the store again at the same address: empty, because nothing was saved.
    pub(super) fn start_again(&mut self) -> Result<(), String> {
        let mut command = Command::new("redis-server");
        command.args(["--port", &self.address.port().to_string(), "--bind", "127.0.0.1"]);
        command.args(["--save", "", "--appendonly", "no", "--dir"]).arg(&self.folder).args(&self.flags);
        self.process = Some(Process::start(command.env(MARK, &self.mark), &self.folder.join("redis.log"))?);
        let answers = until(SOON, || self.cli(&["PING"]).ok().filter(|said| said == "PONG"));
        answers.map(drop).ok_or_else(|| format!("redis-server does not answer: {}", self.words()))
    }

    /// Kills the store, which loses all data.
    pub(super) fn kill(&mut self) {
        self.process = None;
    }

    pub(super) fn signal(&self, signal: Signal) {
        self.process.iter().for_each(|process| process.signal(signal));
    }

    /// The last part of the store's output.
    pub(super) fn words(&self) -> String {
        self.process.as_ref().map(Process::words).unwrap_or_default()
    }

    /// Changes the password that the store requires.
    pub(super) fn require(&mut self, password: &str) -> Result<(), String> {
        self.cli(&["CONFIG", "SET", "requirepass", password])?;
        self.password = Some(password.to_owned());
        Ok(())
    }

    /// The URL for a replica's configuration.
    pub(super) fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// Runs a command; returns its answer.
    pub(super) fn cli(&self, args: &[&str]) -> Result<String, String> {
        let mut command = Command::new("redis-cli");
        command.args(["-e", "-p", &self.address.port().to_string()]).args(args);
        if let Some(password) = &self.password {
            command.env("REDISCLI_AUTH", password);
        }
        let done = command.output().map_err(|error| format!("redis-cli: {error}"))?;
        let said = String::from_utf8_lossy(&done.stdout).trim().to_owned();
        if done.status.success() {
            return Ok(said);
        }
        let why = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        Err(format!("redis-cli {}: {said}{why}", args.join(" ")))
    }

    /// The names that match a pattern.
    pub(super) fn names(&self, pattern: &str) -> Result<Vec<String>, String> {
        Ok(self.cli(&["KEYS", pattern])?.lines().map(str::to_owned).filter(|name| !name.is_empty()).collect())
    }

    /// The name of each command, and the number of times that it was executed.
    pub(super) fn commands(&self) -> Result<Vec<(String, u64)>, String> {
        let text = self.cli(&["INFO", "commandstats"])?;
        let counts = text.lines().filter_map(|line| {
            let (name, rest) = line.trim().strip_prefix("cmdstat_")?.split_once(":calls=")?;
            let digits = rest.split(',').next()?;
            Some((name.to_owned(), digits.parse().ok()?))
        });
        Ok(counts.collect())
    }
}

//! One server under its holder, as the gateway sees it: a socket that reports when the server runs, when it has ended,
//! and when none of the server's processes is left. This module must not know grace periods: the owner decides when to
//! end a server.

use std::{
    io,
    os::{fd::OwnedFd, unix::process::ExitStatusExt},
    process::ExitStatus,
    time::Duration,
};

use tokio::time::timeout;

use super::{
    super::{
        caps::{CapUse, ChildCaps},
        guardian::message::{HolderReport, HolderWord},
    },
    packets::PacketSocket,
};

/// The maximum time for executing a program. Executing takes longer only on a file system that does not respond.
const EXECUTED: Duration = Duration::from_secs(30);

/// A server with its holder. Dropping this value ends the whole tree.
pub(in super::super) struct HeldServer {
    control: PacketSocket,
    /// True if the server has ended.
    ended: bool,
    /// The server's exit status; `None` if its holder was killed before it could report one.
    status: Option<ExitStatus>,
    caps: ChildCaps,
    /// The cap that the server has reached, or may have reached.
    cap: Option<CapUse>,
    /// True if none of the server's processes is left, or if the holder is gone and can report nothing more.
    gone: bool,
}

impl HeldServer {
    /// Creates a server whose holder has the other end of this socket. Call this function in a runtime.
    pub(super) fn new(control: OwnedFd, caps: ChildCaps) -> io::Result<Self> {
        let control = PacketSocket::new(control)?;
        Ok(Self { control, ended: false, status: None, caps, cap: None, gone: false })
    }

    /// Returns the cap that ended the server, or may have ended it; known once the server has ended.
    pub(in super::super) fn cap(&self) -> Option<CapUse> {
        self.cap
    }

    /// Waits until the server's program runs, and returns its process id.
    ///
    /// # Errors
    /// Returns the system's error if the program cannot be run; `BrokenPipe` if the holder or the guardian was
    /// killed.
    pub(in super::super) async fn started(&mut self) -> io::Result<u32> {
        match timeout(EXECUTED, self.next()).await {
            Ok(Some(HolderReport::Started { pid, holder })) => {
                tracing::debug!(pid, holder, "a server was started");
                Ok(pid)
            }
            Ok(Some(HolderReport::Failed { errno })) => Err(io::Error::from_raw_os_error(errno)),
            Ok(_) => Err(io::ErrorKind::BrokenPipe.into()),
            Err(_elapsed) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// Waits until the server has ended; returns `None` if the holder was killed, because the server's status is then
    /// unknown.
    ///
    /// It is safe to drop the future and call this function again.
    pub(in super::super) async fn wait(&mut self) -> Option<ExitStatus> {
        while !self.ended {
            self.step().await;
        }
        self.status
    }

    /// Waits until no process of the server is left, for at most `patience`. Returns true if none is left.
    pub(in super::super) async fn vanishes(&mut self, patience: Duration) -> bool {
        let gone = async {
            while !self.gone {
                self.step().await;
            }
        };
        timeout(patience, gone).await.is_ok()
    }

    /// Returns true if no process of the server is left.
    pub(in super::super) fn is_gone(&self) -> bool {
        self.gone
    }

    /// Asks the whole tree to end. When the server itself ends, the holder ends the rest of the tree without being
    /// asked.
    pub(in super::super) fn terminate(&self) {
        if !self.ended {
            self.say(HolderWord::End);
        }
    }

    /// Ends the whole tree without a grace period.
    pub(in super::super) fn kill(&self) {
        self.say(HolderWord::Kill);
    }

    fn say(&self, word: HolderWord) {
        // If the holder is gone, either the holder has ended everything, or the guardian will.
        let _ = self.control.send_now(&word.encode());
    }

    async fn step(&mut self) {
        match self.next().await {
            Some(HolderReport::Exited { status, memory }) => {
                self.ended = true;
                let status = ExitStatus::from_raw(status);
                // A program that cannot get memory fails in its own way.
                if self.cap.is_none() && !status.success() {
                    self.cap = self.caps.memory.map(|most| CapUse::Memory { used: memory.min(most), most });
                }
                self.status = Some(status);
            }
            Some(HolderReport::TooMuchMemory(used)) => {
                self.cap = self.caps.memory.map(|most| CapUse::Memory { used, most });
            }
            Some(HolderReport::TooManyProcesses(used)) => {
                self.cap = self.caps.processes.map(|most| CapUse::Processes { used, most });
            }
            Some(HolderReport::Gone { cpu }) => {
                tracing::debug!(
                    cpu,
                    "a server has ended, with all processes that it started; `cpu` is their CPU time in ms"
                );
                (self.ended, self.gone) = (true, true);
            }
            Some(_) => {}
            None => (self.ended, self.gone) = (true, true),
        }
    }

    /// Returns the next report; `None` if there will be none.
    async fn next(&self) -> Option<HolderReport> {
        HolderReport::decode(&self.control.receive().await?)
    }
}

//! A link over a child's stdin and stdout, which exchanges share.

use bytes::Bytes;
use proto::rpc::{FrameError, FrameLimits};

use super::mux::{Intake, Mux};
use super::{LinkError, MuxCall, MuxFault, Unasked};
use crate::child::{Handle, Lines};

/// One child that speaks messages.
#[derive(Debug, Clone)]
pub struct PipeLink {
    handle: Handle,
    mux: Mux,
}

impl PipeLink {
    /// Takes a child's two ends. The returned future reads the child until it ends and must be spawned by the caller;
    /// what answers no exchange goes to the returned receiver, which holds `unasked` messages.
    pub fn new(
        handle: Handle,
        lines: Lines,
        limits: FrameLimits,
        max_calls: usize,
        unasked: usize,
    ) -> (Self, impl Future<Output = MuxFault> + Send + 'static, Unasked) {
        let (mux, intake, unasked) = Mux::new(limits, max_calls, unasked);
        (Self { handle, mux }, read(lines, intake), unasked)
    }

    /// Sends a client's request under our own id `key`; its messages come to the returned call. A pipe does not say what
    /// most messages are about: as long as this is the only client's request, log messages and the like come to it too,
    /// and questions come to the newest one.
    ///
    /// # Errors
    /// When the child is gone or does not read.
    pub async fn call(&self, key: u64, text: Bytes) -> Result<MuxCall, LinkError> {
        self.send(key, text, true).await
    }

    /// As [`PipeLink::call`], for a request of the gateway's own, behind which no client stands.
    ///
    /// # Errors
    /// When the child is gone or does not read.
    pub async fn own_call(&self, key: u64, text: Bytes) -> Result<MuxCall, LinkError> {
        self.send(key, text, false).await
    }

    async fn send(&self, key: u64, text: Bytes, for_client: bool) -> Result<MuxCall, LinkError> {
        let call = self.mux.open(key, for_client)?;
        self.handle.send(text).await?;
        Ok(call)
    }

    /// Sends a notification, or an answer to a question of the child.
    ///
    /// # Errors
    /// When the child is gone or does not read.
    pub async fn notify(&self, text: Bytes) -> Result<(), LinkError> {
        Ok(self.handle.send(text).await?)
    }

    /// Whether the child is gone.
    pub fn is_closed(&self) -> bool {
        self.mux.is_closed()
    }

    /// How the child ended, when it has.
    pub fn why_closed(&self) -> Option<MuxFault> {
        self.mux.why_closed()
    }

    /// Ends the child and waits for its end.
    pub async fn stop(&self) {
        self.handle.stop().await;
    }
}

async fn read(mut lines: Lines, intake: Intake) -> MuxFault {
    let mut talks = false;
    loop {
        match lines.recv().await {
            Ok(line) => {
                if let Err(e) = intake.take(line) {
                    note_talk(&e, &mut talks);
                }
            }
            Err(e) if !e.is_final() => intake.left_out(MuxFault::Child(e)),
            Err(why) => return intake.close(MuxFault::Child(why)),
        }
    }
}

/// Notes that a child prints what is no message: once for people, then only for whoever looks for it.
fn note_talk(what: &FrameError, talks: &mut bool) {
    if std::mem::replace(talks, true) {
        tracing::debug!("a line on stdout is no message: {what}");
    } else {
        tracing::warn!("it prints lines on stdout that are no messages; they are left out ({what})");
    }
}

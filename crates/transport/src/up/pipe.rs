//! A link over a child's stdin and stdout, which many exchanges share.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use proto::rpc::FrameLimits;

use super::mux::{Intake, Mux};
use super::{LinkError, MuxCall, MuxFault, MuxRoom, OpenCalls, Owner, UnaskedMessages};
use crate::child::{ChildError, Handle, LastOutput, Lines};

/// A child process that exchanges messages over its pipes.
#[derive(Debug, Clone)]
pub struct PipeLink {
    handle: Handle,
    mux: Mux,
    first_talk: Arc<OnceLock<Arc<str>>>,
}

/// The maximum length, in characters, of the part of a line that is kept for display.
const TALK: usize = 120;

impl PipeLink {
    /// Creates a link from a child's two ends. The returned future reads the child's output until it ends; the caller
    /// must spawn it. Messages that belong to no exchange go to the returned receiver. `talk` receives the first line
    /// that is not a message, in the form of [`PipeLink::first_talk`].
    pub fn new(
        handle: Handle,
        lines: Lines,
        limits: FrameLimits,
        room: MuxRoom,
        talk: impl FnOnce(&str) + Send + 'static,
    ) -> (Self, impl Future<Output = MuxFault> + Send + 'static, UnaskedMessages) {
        let (mux, intake, unasked) = Mux::new(limits, room);
        let first_talk = Arc::default();
        let reading = read(lines, intake, Arc::clone(&first_talk), talk);
        (Self { handle, mux, first_talk }, reading, unasked)
    }

    /// Returns the calls of clients over the link.
    pub fn calls(&self) -> &Arc<OpenCalls> {
        self.mux.calls()
    }

    /// Sends a client's request under the gateway's own id `key`; its messages go to the returned call. On a pipe,
    /// most messages do not name their call. So a log message goes to the newest call of an owner, if only this
    /// owner has open calls, and a question goes to the newest of all calls.
    ///
    /// # Errors
    /// Fails if the child is gone or does not read.
    pub async fn call(&self, key: u64, text: Bytes, owner: Owner) -> Result<MuxCall, LinkError> {
        self.send(key, text, Some(owner)).await
    }

    /// Like [`PipeLink::call`], for a request of the gateway itself, which serves no client.
    ///
    /// # Errors
    /// Fails if the child is gone or does not read.
    pub async fn own_call(&self, key: u64, text: Bytes) -> Result<MuxCall, LinkError> {
        self.send(key, text, None).await
    }

    async fn send(&self, key: u64, text: Bytes, owner: Option<Owner>) -> Result<MuxCall, LinkError> {
        let call = self.mux.open(key, owner)?;
        let line = self.handle.send(text).await.map_err(|e| LinkError::from(e).unsent())?;
        Ok(call.written_as(line))
    }

    /// Sends a notification, or an answer to a question from the child.
    ///
    /// # Errors
    /// Fails if the child is gone or does not read.
    pub async fn notify(&self, text: Bytes) -> Result<(), LinkError> {
        Ok(self.handle.send(text).await.map(drop)?)
    }

    /// Returns the first line of the child's output that is not a message, made printable and truncated.
    pub fn first_talk(&self) -> Option<Arc<str>> {
        self.first_talk.get().cloned()
    }

    /// Returns the child's process id.
    pub fn pid(&self) -> u32 {
        self.handle.pid()
    }

    /// Returns the last part of the child's stderr.
    pub fn stderr(&self) -> LastOutput {
        self.handle.stderr()
    }

    /// Returns true if the child is gone.
    pub fn is_closed(&self) -> bool {
        self.mux.is_closed()
    }

    /// Returns the reason why the child ended, if it has.
    pub fn why_closed(&self) -> Option<MuxFault> {
        self.mux.why_closed()
    }

    /// Asks the child to end, and waits until it has ended.
    pub async fn stop(&self) {
        self.handle.stop().await;
    }
}

async fn read(
    mut lines: Lines,
    intake: Intake,
    first_talk: Arc<OnceLock<Arc<str>>>,
    talk: impl FnOnce(&str),
) -> MuxFault {
    let mut talk = Some(talk);
    loop {
        match lines.recv().await {
            Ok(line) => {
                if let Err(e) = intake.take(line.clone()) {
                    tracing::debug!("a line on stdout is not a message: {e}");
                    if let Some(talk) = talk.take() {
                        talk(first_talk.get_or_init(|| printable(&line)));
                    }
                }
            }
            Err(e) if !e.is_final() => {
                let beginning = match &e {
                    ChildError::LineTooLong { beginning, .. } | ChildError::OutOfMemory { beginning, .. } => {
                        beginning.clone()
                    }
                    _ => Bytes::new(),
                };
                intake.left_out(MuxFault::Child(e), &beginning);
            }
            Err(why) => return intake.close(MuxFault::Child(why)),
        }
    }
}

/// Returns the beginning of a line, without characters that move a terminal's cursor.
fn printable(line: &[u8]) -> Arc<str> {
    let start = &line[..line.len().min(4 * TALK)];
    let text = String::from_utf8_lossy(start);
    let shown = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c });
    let mut shown: String = shown.take(TALK).collect();
    if line.len() > start.len() || text.chars().nth(TALK).is_some() {
        shown.push('…');
    }
    shown.into()
}

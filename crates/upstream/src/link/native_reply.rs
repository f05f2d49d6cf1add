//! The answer of an embedded server for a caller who wants to know the progress. Progress is reported once a second while a
//! file is passed on. This module must not know whose file it is.

use std::time::Duration;

use bytes::Bytes;
use native::{Answering, FileTransfer, NativeCall, NativeServer, PendingResponse};
use parking_lot::Mutex;
use proto::mcp::meta::PROGRESS_TOKEN;
use proto::rpc::FrameLimits;
use tokio::time::{Instant, sleep_until};
use transport::up::LinkError;

use super::reply::{Item, Reply, ReplySource, parse};

/// The time between two reports.
const BETWEEN: Duration = Duration::from_secs(1);

/// Sends a request to an embedded server, and waits for the answer, or for the first report of progress.
pub(super) async fn answered(
    server: &dyn NativeServer,
    call: NativeCall<'_>,
    limits: FrameLimits,
) -> Result<Reply, LinkError> {
    let answering = match call.request.meta(PROGRESS_TOKEN).ok().flatten() {
        None => server.answer(call),
        Some(token) => {
            let transfer = FileTransfer::default();
            match server.answer(NativeCall { transfer: Some(&transfer), ..call }) {
                Answering::Soon(soon) => {
                    let token = token.share(call.request.text());
                    return Box::pin(NativeReply::begin((soon, transfer), token, limits)).await;
                }
                ready @ Answering::Ready(_) => ready,
            }
        }
    };
    Ok(Reply::Whole(parse(answering.bytes().await, limits)?, None))
}

/// An answer that takes long.
pub struct NativeReply {
    /// Never locked, because only one task at a time waits for the answer. The mutex makes the type `Sync`, as calls need it.
    answer: Mutex<PendingResponse>,
    transfer: FileTransfer,
    /// The caller's progress token, as JSON.
    token: Bytes,
    /// The number of bytes in the last report.
    reported: u64,
    next: Instant,
}

impl NativeReply {
    /// Waits for the answer. If a file is being passed on for a second, returns the source of the reports and the answer
    /// instead.
    pub(super) async fn begin(
        (answer, transfer): (PendingResponse, FileTransfer),
        token: Bytes,
        limits: FrameLimits,
    ) -> Result<Reply, LinkError> {
        let answer = Mutex::new(answer);
        let mut reply = Self { answer, transfer, token, reported: 0, next: Instant::now() + BETWEEN };
        match reply.next(limits).await? {
            Item::Frame(frame) if reply.reported == 0 => Ok(Reply::Whole(frame, None)),
            _ => {
                // The first report is made again, as the first item of the source.
                (reply.reported, reply.next) = (0, Instant::now());
                Ok(Reply::Source(ReplySource::Native(reply)))
            }
        }
    }

    /// Returns the next report, or the answer.
    pub(super) async fn next(&mut self, limits: FrameLimits) -> Result<Item, LinkError> {
        loop {
            tokio::select! {
                biased;
                answer = self.answer.get_mut() => return Ok(Item::Frame(parse(answer, limits)?)),
                () = sleep_until(self.next) => self.next = Instant::now() + BETWEEN,
            }
            let passed = self.transfer.passed();
            if passed > self.reported {
                self.reported = passed;
                return Ok(Item::Frame(parse(self.report(), limits)?));
            }
        }
    }

    fn report(&self) -> Bytes {
        let token = String::from_utf8_lossy(&self.token);
        let total = self.transfer.length().map_or_else(String::new, |length| format!(",\"total\":{length}"));
        let progress = self.reported;
        Bytes::from(format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\
             \"params\":{{\"progressToken\":{token},\"progress\":{progress}{total}}}}}"
        ))
    }
}

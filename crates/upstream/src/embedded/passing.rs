//! Passes files from one server to another: reads the body of an answer piece by piece, and sends the pieces in a
//! request. This module must not know whose files these are.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::Body as _;
use native::{ArrivingBody, FileStream, HttpFault, HttpFaultKind, PassedFile};
use tokio::time::{Instant, Sleep, sleep_until};
use transport::net::client::{PieceSource, ResponseBody, StreamedBody};

use super::clients::fault;

/// The body of an answer, read piece by piece.
pub(super) struct ArrivingHttpBody {
    body: ResponseBody,
    /// The longest time that an awaited piece may take.
    stall: Duration,
    /// The deadline for the last piece.
    deadline: Instant,
    /// The timer for the piece that is being awaited. It is created when a piece has to be awaited.
    timer: Option<Pin<Box<Sleep>>>,
}

impl ArrivingHttpBody {
    /// Creates the body. Each awaited piece must arrive within `stall`, and the last one before `deadline`.
    pub(super) fn new(body: ResponseBody, stall: Duration, deadline: Instant) -> Self {
        Self { body, stall, deadline, timer: None }
    }

    fn late(&self) -> HttpFault {
        let words = if Instant::now() >= self.deadline {
            "the file's server did not send all of it in time".to_owned()
        } else {
            format!("the file's server sent nothing for {} s", self.stall.as_secs_f32())
        };
        fault(HttpFaultKind::Late, &words)
    }
}

impl ArrivingBody for ArrivingHttpBody {
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, HttpFault>>> {
        loop {
            let Poll::Ready(next) = Pin::new(&mut self.body).poll_frame(cx) else {
                let end = self.deadline.min(Instant::now() + self.stall);
                let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(end)));
                return timer.as_mut().poll(cx).map(|()| Some(Err(self.late())));
            };
            self.timer = None;
            let Some(frame) = next else { return Poll::Ready(None) };
            if Instant::now() >= self.deadline {
                return Poll::Ready(Some(Err(self.late())));
            }
            match frame {
                Err(error) => {
                    let words = format!("the file's server interrupted the transfer: {error}");
                    return Poll::Ready(Some(Err(fault(HttpFaultKind::Broken, &words))));
                }
                Ok(frame) => {
                    if let Ok(piece) = frame.into_data() {
                        return Poll::Ready(Some(Ok(piece)));
                    }
                }
            }
        }
    }
}

/// A request that passes a file on. Dropping it stops reading the file.
pub(super) struct FileRelay {
    file: FileStream,
    stall: Duration,
    progress: Arc<Mutex<FileRelayState>>,
}

/// The state of a file that is being passed on.
struct FileRelayState {
    /// The last time at which the connection took a piece, or asked for one.
    moved: Instant,
    /// True while the next piece of the file is awaited from the file's server, which has a separate time limit.
    awaits_file: bool,
    /// True after the connection took the last piece.
    is_complete: bool,
    /// The reason why the file could not be read to its end.
    broken: Option<HttpFault>,
}

impl FileRelay {
    /// The transfer of this file, and the body to send.
    pub(super) fn of(passed: PassedFile) -> (Self, StreamedBody) {
        let length = passed.length();
        let progress =
            FileRelayState { moved: Instant::now(), awaits_file: false, is_complete: false, broken: None };
        let progress = Arc::new(Mutex::new(progress));
        let pieces = PassedPieces {
            before: passed.before,
            file: passed.file.clone(),
            after: passed.after,
            progress: progress.clone(),
        };
        let passage = Self { file: passed.file, stall: passed.stall, progress };
        (passage, StreamedBody::new(length, Box::new(pieces)))
    }

    /// Returns the outcome of `sending`; fails if the receiving site accepts no data for too long, or does not
    /// answer in time.
    pub(super) async fn watched<T>(
        &self,
        sending: impl Future<Output = Result<T, HttpFault>>,
    ) -> Result<T, HttpFault> {
        let outcome = tokio::select! {
            outcome = sending => outcome,
            fault = self.stalled() => Err(fault),
        };
        // The reason why the file could not be read to its end is more informative than the failure that it causes.
        outcome.map_err(|fault| lock(&self.progress).broken.take().unwrap_or(fault))
    }

    /// Returns the fault if a success status arrived before the whole file was sent: the site cannot have the
    /// complete file.
    pub(super) fn unfinished(&self) -> Option<HttpFault> {
        let mut progress = lock(&self.progress);
        if progress.is_complete {
            return None;
        }
        let early = || fault(HttpFaultKind::Broken, "the site answered before it had the whole file");
        Some(progress.broken.take().unwrap_or_else(early))
    }

    /// Waits until no data has been passed on for longer than allowed; returns the fault.
    async fn stalled(&self) -> HttpFault {
        loop {
            let end = {
                let progress = lock(&self.progress);
                let from = if progress.awaits_file { Instant::now() } else { progress.moved };
                from + self.stall
            };
            if end <= Instant::now() {
                break;
            }
            sleep_until(end).await;
        }
        let seconds = self.stall.as_secs_f32();
        let words = if lock(&self.progress).is_complete {
            format!("no answer came within {seconds} s after the file was sent")
        } else {
            format!("the site accepted no more of the file for {seconds} s")
        };
        fault(HttpFaultKind::Late, &words)
    }
}

impl Drop for FileRelay {
    fn drop(&mut self) {
        self.file.abandon();
    }
}

/// The pieces of a body with a file.
struct PassedPieces {
    before: Bytes,
    file: FileStream,
    after: Bytes,
    progress: Arc<Mutex<FileRelayState>>,
}

impl PieceSource for PassedPieces {
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        let mut progress = lock(&self.progress);
        progress.moved = Instant::now();
        if !self.before.is_empty() {
            return Poll::Ready(Some(Ok(std::mem::take(&mut self.before))));
        }
        if self.after.is_empty() {
            return Poll::Ready(None);
        }
        let polled = self.file.poll_piece(cx);
        progress.awaits_file = polled.is_pending();
        polled.map(|next| match next {
            Some(Ok(piece)) => Some(Ok(piece)),
            Some(Err(fault)) => {
                let error = io::Error::other(fault.to_string());
                progress.broken = Some(fault);
                Some(Err(error))
            }
            None => {
                progress.is_complete = true;
                Some(Ok(std::mem::take(&mut self.after)))
            }
        })
    }
}

fn lock(progress: &Mutex<FileRelayState>) -> MutexGuard<'_, FileRelayState> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

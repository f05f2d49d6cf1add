//! Runs a call to its end, and delivers its messages and its answer to the client. This module must not know how the
//! client receives them.

use bytes::Bytes;
use engine::exchange::ExchangeAnswer;
use transport::net::Body;

use super::call::{Call, Progress, Running};
use super::parked::Parked;

/// The receiver of a call's messages and of its end.
pub trait ClientSink: Send {
    /// Receives a message that precedes the answer; returns `false` if the client is gone and the call has to be given up.
    fn relay(&mut self, call: &Call, text: Bytes) -> impl Future<Output = bool> + Send;

    /// Called when the upstream has closed its stream and will be asked again after this many milliseconds.
    fn paused(&mut self, _retry: Option<u64>) {}

    /// Receives the end of the call.
    fn end(&mut self, end: CallEnd) -> impl Future<Output = ()> + Send;

    /// Returns true if an answer can contain questions, to which the client replies in a later request.
    fn comes_back(&self) -> bool {
        true
    }

    /// Completes when the client is gone and the call has to be given up.
    fn gone(&mut self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }
}

/// The end of a call, for its client.
pub enum CallEnd {
    /// An answer; it comes with the call if the answer contains questions and the call waits for its client.
    Answer(ExchangeAnswer, Option<Box<Call>>),
    /// A long answer that is still arriving; only for clients that accept such an answer.
    Long(Body, Box<Call>),
    /// The server requires something that this client does not support.
    Unheard(Box<Call>),
    /// No answer, because the call was cancelled.
    Silent,
}

/// Runs a call to its end.
pub async fn drive(mut running: Running, parked: &Parked, sink: &mut impl ClientSink) {
    loop {
        let (call, progress) = tokio::select! {
            biased;
            done = &mut running => done,
            () = sink.gone() => return,
        };
        match progress {
            Progress::Relay(text) => {
                if !sink.relay(&call, text).await {
                    return;
                }
            }
            Progress::Paused(retry) => sink.paused(retry),
            Progress::Answer(answer) => return sink.end(CallEnd::Answer(answer, Some(call))).await,
            Progress::Park(..) if !sink.comes_back() => return sink.end(CallEnd::Unheard(call)).await,
            Progress::Park(ticket, asked) => {
                let asked = call.park(parked, ticket, asked);
                return sink.end(CallEnd::Answer(asked, None)).await;
            }
            Progress::Pass(body) => return sink.end(CallEnd::Long(body, call)).await,
            Progress::End => return sink.end(CallEnd::Silent).await,
        }
        running = call.run();
    }
}

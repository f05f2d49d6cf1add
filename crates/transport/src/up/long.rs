//! A long answer over HTTP, which is either read to its end or passed on as it arrives.

use std::collections::VecDeque;

use bytes::Bytes;
use http_body_util::BodyExt;
use proto::rpc::IdSwap;
use tokio::time::Instant;

use super::{HttpLimits, LinkError};
use crate::budget::Part;
use crate::net::client::ResponseBody;
use crate::net::{Body, Relay, Rewrite, collect_after};

/// The minimum length of a long answer, in bytes.
pub(super) const LONG: u64 = 48 << 10;

/// A long answer whose rest has not been read yet.
#[derive(Debug)]
pub struct LongReply {
    /// The part that has been read.
    pub head: Bytes,
    body: ResponseBody,
    length: u64,
    limits: HttpLimits,
}

impl LongReply {
    pub(super) async fn begin(
        mut body: ResponseBody,
        length: u64,
        limits: HttpLimits,
    ) -> Result<Self, LinkError> {
        let broken = |e: &str| LinkError::NotAMessage(format!("an unreadable answer: {e}"));
        let first = tokio::time::timeout(limits.body, body.frame()).await;
        let first = first.map_err(|_| LinkError::Late(limits.body.as_secs()))?;
        let first =
            first.ok_or_else(|| broken("it is empty"))?.map_err(|e| LinkError::BrokeOff(e.to_string()))?;
        Ok(Self { head: first.into_data().unwrap_or_default(), body, length, limits })
    }

    /// Returns the length that the server announced, in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Reads the rest of the answer.
    ///
    /// # Errors
    /// Returns a [`LinkError`] if the answer is too long, arrives too slowly or breaks off.
    pub async fn read(self) -> Result<Bytes, LinkError> {
        let deadline = Instant::now() + self.limits.body;
        Ok(collect_after(self.head, self.body, Part::Answers, self.limits.result, deadline).await?)
    }

    /// Passes the answer on as it arrives, with its id replaced.
    ///
    /// # Errors
    /// Returns [`LinkError::NotAMessage`] if the beginning already shows that the text is not an answer.
    pub fn pass(self, swap: IdSwap) -> Result<Body, LinkError> {
        let length = self.length.checked_add_signed(swap.growth());
        Relay::rewritten(self.head, self.body, self.limits.body, length, Box::new(Swapping(swap)))
            .map(Body::relay)
            .map_err(LinkError::NotAMessage)
    }
}

struct Swapping(IdSwap);

impl Rewrite for Swapping {
    fn piece(&mut self, piece: Bytes, out: &mut VecDeque<Bytes>) -> Result<(), String> {
        self.0.push(&piece, &mut |piece| out.push_back(piece)).map_err(|e| e.to_string())
    }

    fn end(&mut self) -> Result<(), String> {
        self.0.finish().map_err(|e| e.to_string())
    }
}

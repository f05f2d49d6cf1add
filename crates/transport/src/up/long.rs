//! A long answer over HTTP: read to its end, or passed on while it comes.

use std::collections::VecDeque;

use bytes::Bytes;
use http_body_util::BodyExt;
use proto::rpc::IdSwap;
use tokio::time::Instant;

use super::{HttpLimits, LinkError};
use crate::net::client::ResponseBody;
use crate::net::{Body, Relay, Rewrite, collect};

/// From how many bytes on an answer is long.
pub(super) const LONG: u64 = 48 << 10;

/// A long answer that has not been read yet.
#[derive(Debug)]
pub struct LongReply {
    /// What has been read.
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
        let broken = |e: String| LinkError::NotAMessage(format!("an answer that cannot be read: {e}"));
        let first = tokio::time::timeout(limits.body, body.frame()).await;
        let first = first.map_err(|_| LinkError::Late(limits.body.as_secs()))?;
        let first =
            first.ok_or_else(|| broken("it is empty".to_owned()))?.map_err(|e| broken(e.to_string()))?;
        Ok(Self { head: first.into_data().unwrap_or_default(), body, length, limits })
    }

    /// The number of bytes that it has, as its server says.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Reads the rest.
    ///
    /// # Errors
    /// [`LinkError`] when it is too long, too slow or broken.
    pub async fn read(self) -> Result<Bytes, LinkError> {
        let deadline = Instant::now() + self.limits.body;
        let rest = collect(self.body, self.limits.result.saturating_sub(self.head.len()), deadline).await?;
        let mut whole = Vec::with_capacity(self.head.len() + rest.len());
        whole.extend_from_slice(&self.head);
        whole.extend_from_slice(&rest);
        Ok(Bytes::from(whole))
    }

    /// Passes it on as it comes, with another id.
    ///
    /// # Errors
    /// [`LinkError::NotAMessage`] when its beginning already shows that it is no answer.
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

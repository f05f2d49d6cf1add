//! The introduction on a link over Streamable HTTP. This module must not know what the introduction says.

use bytes::Bytes;
use engine::exchange::Mirror;
use http::header::HeaderValue;
use proto::codec::headers as names;
use proto::era::{Era, Lifecycle, ServerHello};
use proto::rpc::Frame;

use super::super::LinkError;
use super::super::hello::read_hello;
use super::HttpLink;
use crate::net::client::Client;

impl HttpLink {
    /// Introduces the gateway with `request`, an `initialize` or `server/discover` request with the id `key`. If the
    /// upstream rejects the version but lists it as supported, the request is sent once more. The link then uses the
    /// era of the answer.
    ///
    /// # Errors
    /// Returns a [`LinkError`] if the upstream cannot be reached or refuses the introduction.
    pub async fn introduce(
        &mut self,
        client: &Client,
        request: Bytes,
        key: u64,
        mirror: Option<&Mirror>,
    ) -> Result<ServerHello, LinkError> {
        let patience = self.target.limits.get().patience;
        let late = |_| LinkError::Late(patience.as_secs());
        let answer = async {
            let frame = self.answered(client, request.clone(), key, mirror).await?;
            // Another backend behind this address may support the version.
            if proto::era::refused_but_supported(&frame, self.era) {
                return self.answered(client, request, key, mirror).await;
            }
            Ok(frame)
        };
        let frame = tokio::time::timeout(patience, answer).await.map_err(late)??;
        let hello = read_hello(&frame, self.era)?;
        self.settle(hello.era);
        if self.era.lifecycle == Lifecycle::Handshake {
            let notified = self.notify(client, proto::era::initialized());
            tokio::time::timeout(patience, notified)
                .await
                .map_err(late)?
                .map_err(|why| self.first_failure(why))?;
        }
        Ok(hello)
    }

    /// Interprets the failure of the first message after the introduction: a lost session means that the upstream
    /// does not keep sessions.
    fn first_failure(&self, why: LinkError) -> LinkError {
        match why {
            LinkError::Status { status: status @ (400 | 404 | 410), body } if self.has_session() => {
                LinkError::SessionNotKept { status, body }
            }
            why => why,
        }
    }

    /// Sets the link's era to that of the upstream's answer.
    fn settle(&mut self, era: &'static Era) {
        if era == self.era {
            return;
        }
        self.era = era;
        self.change_head(|head| {
            head.remove(names::PROTOCOL_VERSION);
            if era.version_header {
                head.insert(names::PROTOCOL_VERSION, HeaderValue::from_static(era.version));
            }
        });
    }

    /// Sends an introduction, and waits for the answer. The caller sets the deadline.
    ///
    /// # Errors
    /// Returns the reason why there is no answer.
    async fn answered(
        &self,
        client: &Client,
        request: Bytes,
        key: u64,
        mirror: Option<&Mirror>,
    ) -> Result<Frame, LinkError> {
        // The answer may use the version with batches, whichever version was requested.
        let batches = self.era.lifecycle == Lifecycle::Handshake;
        Ok(self
            .asked_in(client, request, key, mirror, (batches, self.target.limits.get().frame))
            .await?
            .frame)
    }
}

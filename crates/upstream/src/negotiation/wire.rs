//! The transports of a link. This module must not know what a message means.

use std::sync::Arc;

use bytes::Bytes;
use native::NativeServer;
use transport::net::client::Client;
use transport::up::{HttpLink, LinkError, MuxCall, MuxFault, OpenCalls, PipeLink, SseLink};

/// The transport of a link.
pub enum Wire {
    /// Streamable HTTP.
    Http(HttpLink),
    /// HTTP+SSE.
    Sse(SseLink),
    /// A child's pipes.
    Pipe(PipeLink),
    /// A server in this process.
    Native(Arc<dyn NativeServer>),
}

impl Wire {
    /// Sends a request that the gateway itself makes, on a transport that many exchanges share; returns an error
    /// for any other transport.
    pub async fn own_call(&self, client: &Client, key: u64, text: Bytes) -> Result<MuxCall, LinkError> {
        match self {
            Self::Pipe(link) => link.own_call(key, text).await,
            Self::Sse(link) => link.own_call(client, key, text).await,
            Self::Http(_) | Self::Native(_) => Err(LinkError::Closed),
        }
    }

    /// Returns the clients' calls on a transport that many exchanges share.
    pub fn calls(&self) -> Option<&Arc<OpenCalls>> {
        match self {
            Self::Pipe(link) => Some(link.calls()),
            Self::Sse(link) => Some(link.calls()),
            Self::Http(_) | Self::Native(_) => None,
        }
    }

    /// Sends a message that has no answer.
    pub async fn notify(&self, client: &Client, text: Bytes) -> Result<(), LinkError> {
        match self {
            Self::Http(link) => link.notify(client, text).await,
            Self::Sse(link) => link.notify(client, text).await,
            Self::Pipe(link) => link.notify(text).await,
            Self::Native(_) => Ok(()),
        }
    }

    /// Returns the reason why a shared transport has ended; `None` as long as it is open.
    pub fn why_closed(&self) -> Option<MuxFault> {
        match self {
            Self::Pipe(link) => link.why_closed(),
            Self::Sse(link) => link.why_closed(),
            Self::Http(_) | Self::Native(_) => None,
        }
    }

    /// Returns true if a shared transport has ended.
    pub fn is_closed(&self) -> bool {
        match self {
            Self::Pipe(link) => link.is_closed(),
            Self::Sse(link) => link.is_closed(),
            Self::Http(_) | Self::Native(_) => false,
        }
    }

    /// Closes the transport in an orderly way: a server with sessions is notified.
    pub async fn close(&self, client: &Client) {
        match self {
            Self::Http(link) => link.close(client).await,
            other => other.stop().await,
        }
    }

    /// Ends a child process or an event stream; does nothing for other transports.
    pub async fn stop(&self) {
        match self {
            Self::Pipe(link) => link.stop().await,
            Self::Sse(link) => link.stop(),
            Self::Http(_) | Self::Native(_) => {}
        }
    }
}

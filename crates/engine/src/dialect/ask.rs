//! A request that was read in a dialect, converted to the gateway's own form. This module must not know rows.

use std::borrow::Cow;

use bytes::Bytes;
use proto::json::{Members, Span};
use proto::mcp::Method;
use proto::rpc::Frame;

use crate::catalogue::View;
use crate::exchange::inner_request;

/// A request from a client.
#[derive(Debug, Clone)]
pub struct DialectRequest {
    id: Option<Bytes>,
    frame: Frame,
}

/// The id, as JSON text, of an answer to a message without an id.
const NULL: &[u8] = b"null";

impl DialectRequest {
    pub(super) fn new(id: Option<Bytes>, frame: Frame) -> Self {
        Self { id, frame }
    }

    /// The id to answer with, exactly as written; null if there was none.
    pub fn id(&self) -> &[u8] {
        self.id.as_deref().unwrap_or(NULL)
    }

    /// The request in the gateway's form: JSON-RPC 2.0 with an id, and with `params` that are an object or absent.
    /// Everything else stays as the client wrote it.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The call inside a call of `call_tool`; `None` for any other request, or if the view's tools are all listed.
    pub fn inner(&self, view: &View) -> Option<Self> {
        Some(Self { id: self.id.clone(), frame: inner_request(&self.frame, view)? })
    }

    /// The method, with escapes resolved.
    pub fn method(&self) -> Cow<'_, str> {
        self.frame.method()
    }

    /// Returns true if the request is a call to a tool.
    pub fn is_call(&self) -> bool {
        self.method() == Method::ToolsCall.name()
    }

    /// Returns true if the request is a notification, even if it has an id.
    pub fn is_notice(&self) -> bool {
        self.method().starts_with("notifications/")
    }

    /// A member of `params` as written. If it occurs twice, the last one counts, as in the systems that the rows
    /// describe.
    pub(super) fn param(&self, key: &str) -> Option<Span> {
        self.params().and_then(|params| params.get(self.frame.text(), key))
    }

    /// A member of `params` that is a string.
    pub(super) fn text_param(&self, key: &str) -> Option<Cow<'_, str>> {
        self.param(key).and_then(|span| self.frame.string(span))
    }

    /// The members of `params`.
    pub(super) fn params(&self) -> Option<&Members> {
        self.frame.params().map(|params| &params.members)
    }

    /// The name of the called tool.
    pub fn tool(&self) -> Option<Cow<'_, str>> {
        if self.is_call() { self.text_param("name") } else { None }
    }
}

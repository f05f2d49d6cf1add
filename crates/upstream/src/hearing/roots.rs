//! The question for the roots of a link's client. This module must not know the client, or the answer.

use std::sync::Arc;
use std::time::Duration;

use proto::mcp::Method;
use proto::rpc::Frame;
use tokio::time::sleep;

use super::LinkMonitor;
use crate::link::OpenLink;
use crate::pool::dispatch::Binding;

/// The time for which a question waits for the first call. A server that answers the gateway's own requests only once it has
/// the roots waits as long.
const KEPT: Duration = Duration::from_secs(20);

/// The reason to give to a server if no client can answer its question.
const NOBODY: &str = "no client on this connection can answer questions";

impl LinkMonitor {
    /// Notes a question for roots; returns the frame if the question is to be delivered now.
    pub(super) fn roots_question(&self, link: &Arc<OpenLink>, frame: Frame) -> Option<Frame> {
        if frame.method() != Method::RootsList.name() {
            return Some(frame);
        }
        // The server would take the roots of one client for those of every client on the link.
        if !link.own {
            link.refuse(&self.egress, &frame, NOBODY);
            return None;
        }
        // A client that does not listen gets the question with its first call, before the server gets this call.
        // Only a client with roots takes a kept question.
        let is_first = self.askable.has_roots() && !link.roots.is_over();
        let is_kept = is_first && !link.recipients.users().iter().any(|user| user.is_listening());
        let frame = if is_kept {
            if let Some(older) = link.roots.keep(frame) {
                link.refuse(&self.egress, &older, NOBODY);
            }
            None
        } else {
            Some(frame)
        };
        if let Some(upstream) = self.upstream.upgrade() {
            // The server treats the roots of one client as those of the whole link.
            upstream.links.dedicated.bind(link, Binding::Owner);
            if link.note_roots_question() {
                upstream.catalogue.save();
            }
        }
        if !is_kept {
            return frame;
        }
        let (egress, link) = (self.egress.clone(), Arc::downgrade(link));
        transport::task::spawn(async move {
            sleep(KEPT).await;
            let Some(link) = link.upgrade() else { return };
            if let Some(question) = link.roots.take() {
                link.refuse(&egress, &question, NOBODY);
            }
        });
        None
    }
}

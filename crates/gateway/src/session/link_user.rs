//! A session, as seen by the links that its calls use. This module must not know transports.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use bytes::Bytes;
use engine::catalogue::UpstreamId;
use proto::bridge::shape;
use proto::era::Era;
use proto::json::{Splice, quote};
use proto::rpc::{Frame, FrameLimits};
use transport::up::Owner;
use upstream::egress::Announcement;
use upstream::link::{LinkUser, OpenLink};
use upstream::{Egress, Server};

use super::changed::notify_changed;
use super::session::Session;
use super::session_links::user;
use super::task_ids::for_session;
use crate::session::question_origin::QuestionOrigin;

impl LinkUser for Session {
    fn attribution(&self) -> Owner {
        self.links.attribution
    }

    fn era(&self) -> &'static Era {
        Self::era(self)
    }

    fn may_use(&self, server: UpstreamId) -> bool {
        !self.denies_server(server)
    }

    fn is_listening(&self) -> bool {
        Self::is_listening(self)
    }

    fn wants(&self, message: &Frame) -> bool {
        Self::wants(self, message)
    }

    fn updated(&self, server: UpstreamId, uri: &str, era: &'static Era, message: &Frame) {
        match self.interests.subscriptions.known_as(server, uri) {
            None => {}
            Some(Cow::Borrowed(_)) => Self::hear(self, era, message, false),
            Some(Cow::Owned(known)) => {
                if let Some(message) = about(message, &known) {
                    Self::hear(self, era, &message, false);
                }
            }
        }
    }

    fn is_subscribed(&self, server: UpstreamId, uri: &str) -> bool {
        self.interests.subscriptions.has_own(server, uri)
    }

    fn taken_at(&self, server: &Server) -> Vec<String> {
        self.interests.subscriptions.taken_at(server)
    }

    fn ask(&self, egress: &Egress, link: &Arc<OpenLink>, question: &Frame) -> Result<(), String> {
        let named = for_session(egress, self, link, question);
        let named = named.ok_or_else(|| "the task of this question cannot be identified".to_owned())?;
        let question = question_for(self, link, &named)?;
        let asked = self.asks.lock().ask(QuestionOrigin::Link(link.clone()), &question, Instant::now());
        let text = asked.map_err(|fault| fault.to_string())?;
        self.send(text, true);
        Ok(())
    }

    fn withdraw(&self, link: &Arc<OpenLink>, notice: &Frame) {
        let withdrawn = self.asks.lock().withdraw(&QuestionOrigin::Link(link.clone()), notice);
        if let Some(text) = withdrawn {
            self.send(text, true);
        }
    }

    fn receive(&self, egress: &Egress, link: &OpenLink, message: &Frame) {
        if let Some(message) = for_session(egress, self, link, message) {
            Self::hear(self, link.era, &message, false);
        }
    }

    fn hear(&self, era: &'static Era, message: &Frame) {
        Self::hear(self, era, message, false);
    }

    fn before_change(self: Arc<Self>) -> Announcement {
        let (session, view) = (Arc::downgrade(&self), self.view());
        let revision = move || view.as_ref().map(|view| *view.revision.borrow()).unwrap_or_default();
        let before = revision();
        Box::new(move |lists| {
            let Some(session) = session.upgrade() else { return };
            let now = revision();
            for list in lists.iter().filter(|list| !now.since(before).any(|told| told == **list)) {
                notify_changed(&session, *list);
            }
        })
    }

    fn progress(&self, text: Bytes) {
        self.send(text, false);
    }

    fn was_left(self: Arc<Self>, egress: &Egress, link: &Arc<OpenLink>) {
        self.listen_beside(egress, link);
    }

    fn rejoin(self: Arc<Self>, egress: &Egress, server: UpstreamId) {
        let used = self.links.used.lock().get(&server).cloned();
        let Some(used) = used else { return };
        let egress = egress.clone();
        transport::task::spawn(async move {
            match used.cell.get(&egress).await {
                Ok(link) => {
                    if self.is_listening() {
                        link.settle_roots(self.client.class().askable).await;
                    }
                    let tenancy = link.tenancy();
                    if used.joined.swap(tenancy, Ordering::AcqRel) != tenancy {
                        link.add_user(&user(&self));
                        self.send_state(&egress, &link).await;
                    }
                }
                Err(e) => tracing::debug!("a session could not reconnect: {e}"),
            }
        });
    }
}

/// Returns a notification about a resource under another URI.
pub(crate) fn about(notice: &Frame, uri: &str) -> Option<Frame> {
    let (span, uri) = (notice.param("uri").ok().flatten()?, quote(uri));
    let mut splice = Splice::new(notice.text());
    splice.replace(span, uri.as_bytes());
    Frame::parse(splice.finish(), FrameLimits::default()).ok()
}

/// Returns a question in the form of the asked client's era.
fn question_for(session: &Session, link: &OpenLink, frame: &Frame) -> Result<Frame, String> {
    let Some(params) = frame.params().filter(|_| link.era != session.era()) else {
        return Ok(frame.clone());
    };
    let span = params.members.span();
    let mut fresh_id = || format!("{}-{}", link.id, link.server.next_id());
    let text = span.share(frame.text());
    let said = shape::question(&frame.method(), &text, link.era, session.era(), &mut fresh_id)
        .map_err(|e| e.to_string())?;
    let mut splice = Splice::new(frame.text());
    splice.replace(span, &said);
    Frame::parse(splice.finish(), FrameLimits::default()).map_err(|e| e.to_string())
}

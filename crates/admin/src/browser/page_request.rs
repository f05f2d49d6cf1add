//! One request of an operator for a page: its parameters, its form, and what every page shows around its content. This module must
//! not know any page.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use http::{Response, StatusCode};
use pages::model::{ConfirmPage, ForeignText, Notice, PageFrame, Severity};
use pages::{page, route};
use transport::net::Body;

use super::carried_notice::CarriedNotice;
use super::page_reply;
use super::pages_state::PagesState;
use crate::insight::calls;
use crate::insight::health::AttentionCounts;
use crate::insight::moment::PointInTime;
use gateway::admission::admin::sessions::{FormNotice, FoundSession};
use gateway::changes::edits::Edited;
use gateway::changes::{Refusal, Standing};
use gateway::management::operator::OperatorRequest;
use gateway::process::{Shard, VERSION};

/// Fields of a form or of a query, in their order.
#[derive(Debug, Default)]
pub(super) struct Fields(pub(super) Vec<(String, String)>);

impl Fields {
    /// Returns the first field with this name.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the first field with this name, without spaces around it; empty if there is none.
    pub(super) fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default().trim()
    }

    /// Returns the first field with this name, unless it is empty.
    pub(super) fn chosen(&self, name: &str) -> Option<String> {
        Some(self.text(name)).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// Returns all fields with this name.
    pub(super) fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns a field that a page may show again.
    pub(super) fn shown(&self, name: &str) -> ForeignText {
        self.text(name).into()
    }
}

/// A request of an operator who is logged in.
pub(super) struct PageRequest {
    pub(super) shard: Arc<Shard>,
    /// The data that pages keep between requests.
    pub(super) state: Arc<PagesState>,
    pub(super) session: FoundSession,
    pub(super) cookie: String,
    /// The result of a form submission, if a cookie carries it.
    pub(super) carried: CarriedNotice,
    pub(super) address: IpAddr,
    /// The host with its port, as the browser sees it.
    pub(super) authority: String,
    pub(super) path: String,
    /// The names in the path, in their order.
    pub(super) names: Vec<String>,
    pub(super) query: Fields,
    /// The form; empty for a page that is only read.
    pub(super) form: Fields,
}

impl PageRequest {
    /// Returns a name in the path.
    pub(super) fn named(&self, at: usize) -> &str {
        self.names.get(at).map(String::as_str).unwrap_or_default()
    }

    pub(super) fn standing(&self) -> Arc<Standing> {
        self.shard.gateway.standing.clone()
    }

    /// Returns true if pages may change servers and profiles. They may if `admin` or `management` is configured,
    /// because such changes are then stored.
    pub(super) fn manages(&self) -> bool {
        self.shard.gateway.standing.config().keeps_changes()
    }

    /// Returns the frame of a page. It contains the result of the last form submission, which is shown only once.
    pub(super) fn frame(&self) -> PageFrame {
        let notice = if self.session.is_carried() {
            self.carried.take()
        } else {
            self.shard.gateway.process.admin.sessions.lock().take_notice(&self.cookie)
        };
        PageFrame { notice: notice.map(shown), ..self.frame_without_notice() }
    }

    /// Returns the frame for a part of a page. This frame does not show the result of a form submission.
    pub(super) fn frame_without_notice(&self) -> PageFrame {
        let counts = AttentionCounts::of(&self.shard);
        PageFrame {
            now: PointInTime::now().0,
            csrf: self.session.form_token.to_string(),
            admin: self.session.by.name().into(),
            version: VERSION.to_owned(),
            address: self.authority.as_str().into(),
            manages: self.manages(),
            records_calls: calls::are_recorded(&self.shard),
            failing_servers: counts.failing_servers,
            pending_definitions: counts.pending_definitions,
            notice: None,
        }
    }

    /// Keeps the result of a form submission for the next page of this session.
    pub(super) fn tell(&self, notice: FormNotice) {
        if self.session.is_carried() {
            return self.carried.tell(notice);
        }
        self.shard.gateway.process.admin.sessions.lock().tell(&self.cookie, notice);
    }

    /// Returns the page that asks if the operator is sure; `None` if the operator has said so. Like every page, it works without
    /// scripts.
    pub(super) fn unsure(&self, ask: ConfirmPage) -> Option<Response<Body>> {
        if self.form.get(route::SURE) == Some("yes") {
            return None;
        }
        let own = |(name, _): &&(String, String)| !matches!(name.as_str(), "csrf" | route::SURE);
        let fields = self.form.0.iter().filter(own).cloned().collect();
        let ask = ConfirmPage { action: self.path.clone(), fields, ..ask };
        Some(page_reply::page(StatusCode::OK, page::confirm(&self.frame(), &ask)))
    }

    /// Changes the configuration; returns when the change is stored and in force.
    pub(super) async fn edit(
        &self,
        subject: Subject<'_>,
        how: impl FnOnce(&Standing) -> Result<(String, Standing), Refusal> + Send + 'static,
    ) -> Result<Edited, Refusal> {
        if !self.manages() {
            let message =
                "changes through these pages are disabled; set `management: true` in the configuration";
            return Err(Refusal::new(403, "FORBIDDEN", message));
        }
        self.operator(subject).edit(how).await
    }

    /// Records an operation and its outcome in the log and in the record of calls. This is for operations that do
    /// not change the configuration. `what` must contain no secrets.
    pub(super) fn note<T>(
        &self,
        subject: Subject<'_>,
        started: Instant,
        outcome: &Result<T, Refusal>,
        what: &str,
    ) {
        self.operator(subject).note(started, outcome, &what);
    }

    fn operator<'a>(&'a self, subject: Subject<'a>) -> OperatorRequest<'a> {
        OperatorRequest {
            shard: &self.shard,
            who: self.session.by.name().into(),
            address: Some(self.address),
            asked: format!("POST {}", &self.path[..self.path.floor_char_boundary(200)]),
            server: subject.server(),
            profile: subject.profile(),
        }
    }
}

/// The server or profile that an operation concerns.
#[derive(Debug, Clone, Copy)]
pub(super) enum Subject<'a> {
    Gateway,
    Server(&'a str),
    Profile(&'a str),
}

impl<'a> Subject<'a> {
    fn server(self) -> Option<&'a str> {
        if let Self::Server(name) = self { Some(name) } else { None }
    }

    fn profile(self) -> Option<&'a str> {
        if let Self::Profile(name) = self { Some(name) } else { None }
    }
}

fn shown(notice: FormNotice) -> Notice {
    let severity = if notice.is_fault { Severity::Bad } else { Severity::Good };
    Notice { severity, text: notice.text.into(), advice: notice.advice.map(Into::into) }
}

//! Operators' logins. A gateway alone keeps them in memory; in a cluster, sealed cookies carry them, and the gateways tell each
//! other which logins have ended. This module must not know cookies' names, pages or HTTP.

use std::net::IpAddr;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use cluster::{Cluster, LoginAttempt};

use crate::admission::admin::AdminDoor;
use crate::admission::admin::carried::{CarriedLink, CarriedLogin, CarriedTexts};
use crate::admission::admin::links::VALID_FOR;
use crate::admission::admin::sessions::{AdmittedBy, FormNotice, FoundSession};
use crate::process::Gateway;

/// The answer to a presented one-time link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkUse {
    /// The link was valid, and is used up now.
    First,
    /// The link was used before, or has expired, or is invalid.
    Invalid,
    /// The store of the cluster did not say whether the link was used before.
    Unknown(String),
}

/// A gateway in its cluster.
struct ClusteredGateway<'a> {
    cluster: &'a Cluster,
    texts: CarriedTexts<'a>,
}

impl<'a> ClusteredGateway<'a> {
    /// `None` for a gateway that works alone.
    fn of(gateway: &'a Gateway) -> Option<Self> {
        let session = &gateway.process.session;
        let cluster = session.cluster.get()?;
        let texts = CarriedTexts { sealer: &*session.sealer, cluster: cluster.prefix() };
        Some(Self { cluster, texts })
    }

    /// Opens a login that is still valid.
    fn login(&self, door: &AdminDoor, cookie: &str) -> Option<CarriedLogin> {
        let login = self.texts.login(cookie)?;
        let is_known = door.operator(&login.by()) == Some(login.operator);
        let has_ended = |mark| self.cluster.has_login_ended(mark, login.opened_ms);
        let is_open = is_known && !has_ended(&login.id) && !has_ended(&login.operator);
        (is_open && login.is_current(door.lifetimes, now_ms())).then_some(login)
    }
}

/// Opens a session; returns the value of its cookie, or `None` if the operating system's random number generator failed.
pub fn open(gateway: &Gateway, door: &AdminDoor, by: AdmittedBy) -> Option<String> {
    let Some(carrying) = ClusteredGateway::of(gateway) else {
        return gateway.process.admin.sessions.lock().open(by, door.lifetimes, Instant::now());
    };
    let login = CarriedLogin::new(&by, door.operator(&by)?, now_ms())?;
    carrying.texts.seal_login(&login)
}

/// Returns the session with this cookie, and records its use.
pub fn find(gateway: &Gateway, door: &AdminDoor, cookie: &str) -> Option<FoundSession> {
    let Some(carrying) = ClusteredGateway::of(gateway) else {
        return gateway.process.admin.sessions.lock().find(cookie, door.lifetimes, Instant::now());
    };
    let login = carrying.login(door, cookie)?;
    let renewed = login.renewed(door.lifetimes, now_ms());
    Some(FoundSession {
        by: login.by(),
        form_token: login.form_token.as_str().into(),
        carried: Some(login.id),
        renewed: renewed.and_then(|login| carrying.texts.seal_login(&login)),
    })
}

/// Returns true if the session with this cookie is still open, without counting this as a use.
pub fn is_open(gateway: &Gateway, door: &AdminDoor, cookie: &str) -> bool {
    match ClusteredGateway::of(gateway) {
        Some(carrying) => carrying.login(door, cookie).is_some(),
        None => gateway.process.admin.sessions.lock().is_open(cookie, door.lifetimes, Instant::now()),
    }
}

/// Ends the session with this cookie, at all gateways.
pub fn close(gateway: &Gateway, door: &AdminDoor, cookie: &str) {
    let Some(carrying) = ClusteredGateway::of(gateway) else {
        return gateway.process.admin.sessions.lock().close(cookie);
    };
    if let Some(login) = carrying.texts.login(cookie) {
        carrying.cluster.login_ended(login.id, door.lifetimes.whole);
    }
}

/// Ends the sessions of operators that the configuration no longer names, or names with another password.
pub(crate) fn follow(gateway: &Gateway, old: Option<&AdminDoor>, new: Option<&AdminDoor>) {
    // An operator who was removed must not stay logged in; the others log in again.
    gateway.process.admin.sessions.lock().close_all();
    let (Some(carrying), Some(old)) = (ClusteredGateway::of(gateway), old) else { return };
    for operator in old.operators_missing_in(new) {
        carrying.cluster.login_ended(operator, old.lifetimes.whole);
    }
}

/// Seals the result of a form submission, for the next page of a session that a cookie carries.
pub fn seal_notice(gateway: &Gateway, session: &FoundSession, notice: FormNotice) -> Option<String> {
    ClusteredGateway::of(gateway)?.texts.seal_notice(session.carried.as_ref()?, notice)
}

/// Opens the result of a form submission.
pub fn notice(gateway: &Gateway, session: &FoundSession, sealed: &str) -> Option<FormNotice> {
    ClusteredGateway::of(gateway)?.texts.notice(session.carried.as_ref()?, sealed)
}

/// Creates a one-time link; returns its secret, or `None` if the operating system's random number generator failed. While
/// the store of the cluster is unavailable, the link is valid at this gateway only.
pub(super) fn create_link(gateway: &Gateway) -> Option<String> {
    let carrying = ClusteredGateway::of(gateway).filter(|carrying| carrying.cluster.health().is_ready());
    match carrying {
        Some(carrying) => carrying.texts.seal_link(&CarriedLink::new(VALID_FOR, now_ms())?),
        None => gateway.process.admin.links.lock().create(Instant::now()),
    }
}

/// Uses up a one-time link, at all gateways.
pub async fn use_link(gateway: &Gateway, secret: &str) -> LinkUse {
    if gateway.process.admin.links.lock().take(secret, Instant::now()) {
        return LinkUse::First;
    }
    let Some(carrying) = ClusteredGateway::of(gateway) else { return LinkUse::Invalid };
    let Some(link) = carrying.texts.link(secret) else { return LinkUse::Invalid };
    let Some(left) = link.left(now_ms()) else { return LinkUse::Invalid };
    // A store that has lost its data may know nothing of the use, but the gateways remember it.
    if carrying.cluster.has_login_ended(&link.id, 0) {
        return LinkUse::Invalid;
    }
    match carrying.cluster.use_once(&link.use_name(), left).await {
        Ok(true) => {
            carrying.cluster.login_ended(link.id, left);
            LinkUse::First
        }
        Ok(false) => LinkUse::Invalid,
        Err(error) => LinkUse::Unknown(error.to_string()),
    }
}

/// Counts an attempt that failed; returns true if it locks the address out. The other gateways count the attempt, too.
pub fn failed(gateway: &Gateway, address: IpAddr) -> bool {
    if let Some(cluster) = gateway.process.session.cluster.get() {
        cluster.login_attempted(LoginAttempt::Failed(address));
    }
    gateway.process.admin.lockout.lock().failed(address, Instant::now())
}

/// Forgets the failures of an address, here and at the other gateways.
pub fn succeeded(gateway: &Gateway, address: IpAddr) {
    if let Some(cluster) = gateway.process.session.cluster.get() {
        cluster.login_attempted(LoginAttempt::Succeeded(address));
    }
    gateway.process.admin.lockout.lock().succeeded(address);
}

/// Counts the attempts that were made at other gateways.
pub(crate) fn attempted_elsewhere(gateway: &Gateway, attempts: &[LoginAttempt]) {
    let (mut lockout, now) = (gateway.process.admin.lockout.lock(), Instant::now());
    for attempt in attempts {
        match attempt {
            LoginAttempt::Failed(address) => drop(lockout.failed(*address, now)),
            LoginAttempt::Succeeded(address) => lockout.succeeded(*address),
        }
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

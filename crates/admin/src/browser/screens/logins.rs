//! The consents of callers, which let the gateway act for them at a server, and the people who have signed in at
//! this gateway.

use std::time::Instant;

use pages::model::{Caller, ConfirmPage, ConsentRow, ConsentStanding, LoginsPage, SignInRow};
use pages::{page, route};

use super::super::page_reply::{self, PageResult, done};
use super::super::page_request::{PageRequest, Subject};
use super::paging::{contains, part};
use super::texts;
use crate::insight::consents::{self, ListedConsent};
use crate::insight::moment::PointInTime;
use crate::insight::sign_ins::{self, ListedSignIn};
use gateway::changes::Refusal;

/// Shows the consents.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    let q = request.query.shown("q");
    let rows = consents::consents(&request.shard).await.consents.into_iter().map(row);
    let is_chosen = |row: &ConsentRow| {
        let [id, key] = row.principal.words();
        contains(&[row.server.raw(), id, key], q.raw())
    };
    let (rows, paging) = part(request, rows.filter(is_chosen).collect());
    let signed_in = match request.shard.door.sign_in() {
        Some(_) => Some(sign_ins::sign_ins(&request.shard).await?.sign_ins),
        None => None,
    };
    let is_shown = |row: &SignInRow| contains(&[row.user.raw(), row.site.raw(), row.client.raw()], q.raw());
    let sign_ins = signed_in.map(|all| all.into_iter().map(sign_in_row).filter(is_shown).collect());
    let data = LoginsPage { q, rows, paging, sign_ins };
    page_reply::ok(page::logins(&request.frame(), &data))
}

/// Returns the id by which the form for revoking a consent identifies the consent.
fn id(consent: &ListedConsent) -> String {
    let caller = consent.caller.as_deref().map(|caller| format!("/{}", route::segment(caller)));
    format!("{}{}", route::segment(&consent.server), caller.unwrap_or_default())
}

fn row(consent: ListedConsent) -> ConsentRow {
    let is_over = consent.expires.is_some_and(|at| at <= PointInTime::now()) && !consent.renewable;
    let standing = match (consent.given, consent.wanted) {
        (true, true) => ConsentStanding::Refused,
        (true, false) if is_over => ConsentStanding::Expired,
        (true, false) => ConsentStanding::Valid,
        (false, _) => ConsentStanding::Asked,
    };
    let reason = (standing == ConsentStanding::Refused).then_some("the server wants a new consent");
    ConsentRow {
        id: id(&consent),
        shared: consent.caller.is_none(),
        principal: Caller::new(consent.caller.unwrap_or_else(|| "everybody".to_owned()), consent.caller_name),
        issuer: consent.issuer.unwrap_or_else(|| "its authorization server".to_owned()).into(),
        scopes: texts(consent.scopes),
        expires: consent.expires.map(|at| at.0),
        standing,
        reason: reason.map(Into::into),
        server: consent.server.into(),
    }
}

fn sign_in_row(sign_in: ListedSignIn) -> SignInRow {
    SignInRow {
        id: sign_in.id,
        user: sign_in.user.into(),
        site: sign_in.site.into(),
        client: sign_in.client.into(),
        client_id: sign_in.client_id.into(),
        since: sign_in.since.0,
        used: sign_in.used.0,
    }
}

/// Ends a person's sign-in.
pub(in super::super) async fn end_sign_in(request: &PageRequest) -> PageResult {
    let id = request.form.text("signIn");
    let all = sign_ins::sign_ins(&request.shard).await?.sign_ins;
    let subject = all.into_iter().find(|one| one.id == id).map(|one| format!("{} at {}", one.user, one.site));
    let ask = ConfirmPage {
        question: "End the sign-in?",
        subject: subject.unwrap_or_default().into(),
        effect: "The client loses its access at once, and its application password is deleted at the site.",
        words: "End the sign-in",
        back: route::LOGINS.to_owned(),
        ..ConfirmPage::default()
    };
    if let Some(page) = request.unsure(ask) {
        return Ok(page);
    }
    let started = Instant::now();
    let ended = sign_ins::end(&request.shard, id).await;
    let what = ended.as_ref().map(|person| format!("ended: sign-in of {person}")).unwrap_or_default();
    request.note(Subject::Gateway, started, &ended, &what);
    let text = "The sign-in has ended. Its password is being deleted at the site.";
    Ok(done(request, ended.map(drop), route::LOGINS, text))
}

/// Revokes a consent.
pub(in super::super) async fn revoke(request: &PageRequest) -> PageResult {
    let wanted = request.form.text("consent");
    let all = consents::consents(&request.shard).await.consents;
    let missing = || {
        Refusal::new(404, "CONSENT_NOT_FOUND", "There is no such consent. It may have been revoked already.")
    };
    let consent = all.into_iter().find(|consent| id(consent) == wanted).ok_or_else(missing)?;
    let whose = consent.caller_name.as_deref().or(consent.caller.as_deref()).unwrap_or("all callers");
    let ask = ConfirmPage {
        question: "Revoke the consent?",
        subject: format!("{} for {whose}", consent.server).into(),
        effect: "Calls to the server are refused until somebody gives consent again.",
        words: "Revoke the consent",
        back: route::LOGINS.to_owned(),
        ..ConfirmPage::default()
    };
    if let Some(page) = request.unsure(ask) {
        return Ok(page);
    }
    let started = Instant::now();
    let revoked = consents::revoke(&request.shard, &consent.server, consent.caller.as_deref()).await;
    let what = format!("revoked: consent of {}", consent.caller.as_deref().unwrap_or("all callers"));
    request.note(Subject::Server(&consent.server), started, &revoked, &what);
    Ok(done(request, revoked, route::LOGINS, "The consent was revoked."))
}

//! The operations on the data of clients: sessions, API keys, consents, sign-ins, and checks of a caller's access to a tool.
//! This module must not know how these data are stored.

use std::time::Instant;

use http::StatusCode;

use super::super::answers::{answer, empty, ok};
use super::super::request::ManagementRequest;
use super::super::table::{Answered, Operation, QueryKind, QueryParameter, delete, get, post, query};
use crate::insight::access::{self, AccessAnswer, AccessQuestion};
use crate::insight::consents::{self, ConsentList, ConsentPage};
use crate::insight::keys::{self, CreatedKey, KeyList, ListedKey, WantedKey};
use crate::insight::sessions::{self, SessionPage, SessionQuery};
use crate::insight::sign_ins::{self, SignInList};
use gateway::changes::Refusal;

const CALLER: &[QueryParameter] = &[query(
    "caller",
    QueryKind::Text,
    "The caller that gave the consent; omit it for the consent that applies to all callers.",
)];

pub(super) const OPERATIONS: &[Operation] = &[
    get("/api/sessions", "listSessions", "Lists the sessions of clients, and counts their event streams.", |request| {
        Box::pin(list_sessions(request))
    })
    .asking(&[
        query("profile", QueryKind::Text, "Only sessions of this profile."),
        query("principal", QueryKind::Text, "Only sessions of this principal."),
        query("offset", QueryKind::Number(0, 1_000_000), "The number of sessions to skip."),
        query("limit", QueryKind::Number(1, 500), "The maximum number of sessions; 100 if omitted."),
    ])
    .giving::<SessionPage>(),
    delete("/api/sessions/{session}", "endSession", "Ends a session; its client has to begin a new one.", |request| {
        Box::pin(end_session(request))
    }),
    get("/api/keys", "listKeys", "Lists the API keys, without their secret parts.", |request| {
        Box::pin(list_keys(request))
    })
    .giving::<KeyList>(),
    post("/api/keys", "createKey", "Creates an API key. Its text is shown only once.", |request| {
        Box::pin(create_key(request))
    })
    .taking::<WantedKey>()
    .giving::<CreatedKey>()
    .status(201),
    delete("/api/keys/{key}", "revokeKey", "Revokes the key with this prefix or name.", |request| {
        Box::pin(revoke_key(request))
    })
    .giving::<ListedKey>(),
    post(
        "/api/access/check",
        "checkAccess",
        "Checks whether the rules let a caller use a tool, and shows which rule decides. Nothing is sent to a server.",
        |request| Box::pin(check_access(request)),
    )
    .taking::<AccessQuestion>()
    .giving::<AccessAnswer>(),
    get("/api/consents", "listConsents", "Lists users' consents to servers, if they were required or used since startup.", |request| {
        Box::pin(list_consents(request))
    })
    .giving::<ConsentList>(),
    post(
        "/api/consents/{server}/start",
        "startConsent",
        "Returns a link to a page on which a user can consent to a server for all callers.",
        |request| Box::pin(start_consent(request)),
    )
    .giving::<ConsentPage>(),
    delete("/api/consents/{server}", "revokeConsent", "Revokes a consent: deletes its tokens.", |request| {
        Box::pin(revoke_consent(request))
    })
    .asking(CALLER),
    get("/api/sign-ins", "listSignIns", "Lists the people who have signed in with their account at a site.", |request| {
        Box::pin(list_sign_ins(request))
    })
    .giving::<SignInList>(),
    delete(
        "/api/sign-ins/{signIn}",
        "endSignIn",
        "Ends a sign-in: its tokens stop working, and its password is deleted at the site.",
        |request| Box::pin(end_sign_in(request)),
    ),
];

async fn list_sessions(request: &mut ManagementRequest) -> Answered {
    let query = SessionQuery {
        profile: request.chosen("profile"),
        principal: request.chosen("principal"),
        offset: request.number("offset").unwrap_or(0),
        limit: request.number("limit").unwrap_or(100),
    };
    Ok(ok(&sessions::sessions(&request.shard, query).await))
}

async fn end_session(request: &mut ManagementRequest) -> Answered {
    let (id, started) = (request.named("session"), Instant::now());
    let missing = || Refusal::new(404, "SESSION_NOT_FOUND", "there is no such session; it may have ended");
    let ended = sessions::end(&request.shard, &id).await.ok_or_else(missing);
    let what = ended.as_ref().map(|principal| format!("ended a session of {principal}")).unwrap_or_default();
    request.note(started, &ended, &what);
    ended.map(|_| empty())
}

async fn list_keys(request: &mut ManagementRequest) -> Answered {
    Ok(ok(&keys::keys(&request.shard).await?))
}

async fn create_key(request: &mut ManagementRequest) -> Answered {
    let (wanted, started): (WantedKey, _) = (request.typed().await?, Instant::now());
    let made = keys::create(&request.shard, wanted).await;
    let what = made.as_ref().map(|key| format!("created: key {}", key.key_data.prefix)).unwrap_or_default();
    request.note(started, &made, &what);
    Ok(answer(StatusCode::CREATED, &made?))
}

async fn revoke_key(request: &mut ManagementRequest) -> Answered {
    let (which, started) = (request.named("key"), Instant::now());
    let revoked = keys::revoke(&request.shard, &which).await;
    let what = revoked.as_ref().map(|key| format!("revoked: key {}", key.prefix)).unwrap_or_default();
    request.note(started, &revoked, &what);
    Ok(ok(&revoked?))
}

async fn check_access(request: &mut ManagementRequest) -> Answered {
    let question: AccessQuestion = request.typed().await?;
    Ok(ok(&access::check(&request.shard, question).await?))
}

async fn list_consents(request: &mut ManagementRequest) -> Answered {
    Ok(ok(&consents::consents(&request.shard).await))
}

async fn start_consent(request: &mut ManagementRequest) -> Answered {
    let (server, started) = (request.named("server"), Instant::now());
    let page = consents::start(&request.shard, &server).await;
    request.note(started, &page, &"requested a consent page");
    Ok(ok(&page?))
}

async fn list_sign_ins(request: &mut ManagementRequest) -> Answered {
    Ok(ok(&sign_ins::sign_ins(&request.shard).await?))
}

async fn end_sign_in(request: &mut ManagementRequest) -> Answered {
    let (id, started) = (request.named("signIn"), Instant::now());
    let ended = sign_ins::end(&request.shard, &id).await;
    let what = ended.as_ref().map(|person| format!("ended: sign-in of {person}")).unwrap_or_default();
    request.note(started, &ended, &what);
    ended.map(|_| empty())
}

async fn revoke_consent(request: &mut ManagementRequest) -> Answered {
    let (server, caller, started) = (request.named("server"), request.chosen("caller"), Instant::now());
    let revoked = consents::revoke(&request.shard, &server, caller.as_deref()).await;
    let what = format!("revoked: consent of {}", caller.as_deref().unwrap_or("all callers"));
    request.note(started, &revoked, &what);
    revoked.map(|()| empty())
}

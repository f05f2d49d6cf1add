//! The way of a browser through a sign-in: from the client to our page, to the site's page, back here, and back to
//! the client.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use secrecy::{ExposeSecret as _, SecretString};
use store::grants::NewGrant;
use tokio::sync::SemaphorePermit;
use upstream::oauth::form;

use crate::AuthorizationServer;
use crate::approval::approval_url;
use crate::attempts::{ReturnedAccount, SignInAttempt, Stage};
use crate::authorization_request::{
    AuthorizationRequest, RequestParameters, ReturnedError, answer, checked, return_address,
};
use crate::client_document;
use crate::client_metadata::{ClientMetadata, visible};
use crate::codes::GrantCode;
use crate::page::{self, SiteChoice};
use crate::random;
use crate::registration;
use crate::resource::ResourceAt;
use crate::response::{self, Reply};
use crate::site::{NotConfirmed, SiteAccount, SiteFault, SiteIndex};

/// The path to which sites send browsers back.
pub(crate) const CALLBACK: &str = "/oauth/wordpress";

/// The maximum time to wait for permission to send a request to a site.
const TURN: Duration = Duration::from_secs(10);
/// The maximum length of the name and of the password that a site sends back, in bytes.
const LONGEST: usize = 256;

/// A browser with its cookies.
#[derive(Clone, Copy)]
pub(crate) struct Browser<'a> {
    pub(crate) cookies: &'a [&'a str],
    pub(crate) address: IpAddr,
    pub(crate) now_ms: u64,
}

/// Handles a browser that comes from a client.
pub(crate) async fn authorize(
    server: &AuthorizationServer,
    query: &str,
    browser: Browser<'_>,
    resource_at: ResourceAt<'_>,
) -> Reply {
    let refuse = |why: &str| page::message(StatusCode::BAD_REQUEST, "This sign-in cannot begin", why, None);
    let Some(base) = server.base() else { return refuse(NO_BASE) };
    let parameters = match RequestParameters::read(query) {
        Ok(parameters) => parameters,
        Err(why) => return refuse(&sentence(why)),
    };
    let Some(id) = parameters.get("client_id") else {
        return refuse("The application did not identify itself.");
    };
    let client = match client_of(server, id, browser.now_ms).await {
        Ok(client) => client,
        Err(why) => return refuse(&sentence(&why)),
    };
    let redirect_uri = match return_address(&parameters, &client) {
        Ok(uri) => uri,
        Err(why) => return refuse(&sentence(why)),
    };
    let request = match checked(&parameters, (client, redirect_uri.clone()), (&base, resource_at)) {
        Ok(request) => request,
        Err(ReturnedError(code, why)) => {
            let parameters_back = [("error", code), ("error_description", why)];
            let to = answer(&redirect_uri, parameters.get("state"), &base, &parameters_back);
            // Nobody has seen yet who the client is, so the browser goes there only if the person wants it (RFC 9700, 4.11.2).
            return page::message(
                StatusCode::BAD_REQUEST,
                "This sign-in cannot begin",
                &sentence(why),
                Some(&to),
            );
        }
    };
    let begun = server.attempts.lock().begin(request, browser.address, server.process());
    match begun {
        Ok(attempt) => {
            let reply = question(server, StatusCode::OK, &attempt, "", None);
            response::with_cookie(reply, &attempt.cookie(server.is_secure()))
        }
        Err(why) => page::message(StatusCode::SERVICE_UNAVAILABLE, "This sign-in cannot begin", why, None),
    }
}

const NO_BASE: &str = "Dragoman does not know its own public address. Its operator has to set publicUrl.";

async fn client_of(
    server: &AuthorizationServer,
    id: &str,
    now_ms: u64,
) -> Result<Arc<ClientMetadata>, String> {
    if client_document::is_address(id, |port| server.allows_port(port)) {
        if let Some(known) = server.documents.recent(id) {
            return Ok(known);
        }
        let _turn = turn(server).await?;
        let public_only = !server.settings.private_sites;
        return server.documents.fetch(id, &*server.outbound, public_only).await;
    }
    registration::registered(server, id, now_ms).await.map(Arc::new)
}

/// Waits for permission to send a request to a site, or to fetch a document.
async fn turn(server: &AuthorizationServer) -> Result<SemaphorePermit<'_>, String> {
    let turn = tokio::time::timeout(TURN, server.turns.acquire()).await;
    turn.ok()
        .and_then(Result::ok)
        .ok_or_else(|| "too many people are signing in at the moment: try again in a minute".to_owned())
}

/// Handles the form of our page.
pub(crate) async fn leave(
    server: &AuthorizationServer,
    entry: &str,
    body: &str,
    browser: Browser<'_>,
) -> Reply {
    let Some(attempt) = known(server, entry, browser) else { return over() };
    let (Stage::Asking | Stage::AtSite { .. }) = &attempt.stage else { return over() };
    let Some(base) = server.base() else { return over() };
    let fields = form::pairs(body);
    let field =
        |name: &str| fields.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value.as_str());
    if field("choice") == "cancel" {
        server.attempts.lock().end(entry);
        return declined(&attempt.request, &base);
    }
    let typed = field("site");
    let again =
        |typed: &str, why: &str| question(server, StatusCode::BAD_REQUEST, &attempt, typed, Some(why));
    let site = match server.chosen_site(typed) {
        Ok(site) => site,
        Err(why) => return again(typed, &why),
    };
    let turn = match turn(server).await {
        Ok(turn) => turn,
        Err(why) => return again(typed, &sentence(&why)),
    };
    let index = server.reach(site.as_str()).index(&site).await;
    drop(turn);
    let SiteIndex { rest, approval } = match index {
        Ok(index) => index,
        Err(SiteFault::Moved(to)) => return again(&to, &SiteFault::Moved(to.clone()).to_string()),
        Err(SiteFault::Unusable(why)) => return again(typed, &why),
    };
    let process = random::numbered(server.process());
    let Ok(state) = random::text(&process) else { return response::unavailable() };
    let to = approval_url(&approval, &base, &attempt.request.client, &state);
    server.attempts.lock().advance(entry, Stage::AtSite { site, rest, state });
    back(&to)
}

/// Handles a browser that comes back from a site. The browser's address contains the password, so it is redirected
/// at once. The state identifies the site; an address that names another site ends the sign-in.
pub(crate) fn returned(server: &AuthorizationServer, query: &str, browser: Browser<'_>) -> Reply {
    let Ok(parameters) = RequestParameters::read(query) else { return over() };
    let state = parameters.get("state").unwrap_or_default();
    let mut attempts = server.attempts.lock();
    let Some(entry) = attempts.left_with(state).map(str::to_owned) else { return over() };
    let attempt = attempts.of(&entry, browser.cookies, server.is_secure()).cloned();
    // Each state comes back once, and only to its own browser.
    let (Some(attempt), Some(base)) = (attempt, server.base()) else { return other_browser() };
    let Stage::AtSite { site, rest, .. } = attempt.stage else { return over() };
    let (user, password) = (parameters.get("user_login"), parameters.get("password"));
    let (Some(user), Some(password)) = (user, password) else {
        attempts.end(&entry);
        return declined(&attempt.request, &base);
    };
    // A site could send the person on to the page of another site, and would then get a password of that other site.
    let is_from_site = parameters.get("site_url").is_some_and(|url| site.has_host_of(url));
    if user.len() > LONGEST || password.len() > LONGEST || user.contains(':') || !is_from_site {
        attempts.end(&entry);
        return other_site(site.as_str());
    }
    let password = SecretString::from(password);
    let account = ReturnedAccount { site, rest, user: user.to_owned(), password };
    attempts.advance(&entry, Stage::Returned(account));
    back(&format!("{base}/oauth/sign-in/{entry}"))
}

/// Finishes a sign-in: the site confirms the account, and the browser carries a code to the client.
pub(crate) async fn finish(server: &AuthorizationServer, entry: &str, browser: Browser<'_>) -> Reply {
    let Some(attempt) = known(server, entry, browser) else { return over() };
    let Stage::Returned(returned) = attempt.stage else {
        return question(server, StatusCode::OK, &attempt, "", None);
    };
    let Some(base) = server.base() else { return over() };
    // A second request finds nothing.
    if server.attempts.lock().end(entry).is_none() {
        return over();
    }
    let request = &attempt.request;
    let code = match begun(server, request, &returned, browser.now_ms).await {
        Ok(code) => code,
        Err(MissingGrant { why, password_id }) => {
            server.discard(returned, password_id.as_deref()).await;
            let Some(why) = why else { return response::unavailable() };
            let error =
                [("error", "access_denied"), ("error_description", "the site did not confirm the account")];
            let to = request.answer(&base, &error);
            return page::message(StatusCode::FORBIDDEN, "You are not signed in", &why, Some(&to));
        }
    };
    let Some(code) = code else { return response::unavailable() };
    back(&request.answer(&base, &[("code", code.expose_secret())]))
}

/// The reason why a sign-in has no grant.
struct MissingGrant {
    /// The reason, for the person; `None` if the person can only try again.
    why: Option<String>,
    /// The id of the password at the site, if it is known.
    password_id: Option<String>,
}

/// Asks the site for the account, and stores a grant. Returns the code for the client; `None` if there is no code, although
/// there is a grant, which then expires.
async fn begun(
    server: &AuthorizationServer,
    request: &AuthorizationRequest,
    returned: &ReturnedAccount,
    now_ms: u64,
) -> Result<Option<SecretString>, MissingGrant> {
    let site = returned.site.as_str();
    let account = returned.account();
    let reach = server.reach(site);
    let refused = |why: &str| MissingGrant { why: Some(why.to_owned()), password_id: None };
    let confirmed = match reach.confirm(account, &server.settings.capability).await {
        Ok(user) => user,
        Err(NotConfirmed::Rejected | NotConfirmed::Ignored) => {
            return Err(refused(
                "The site does not accept the password that it has just created. A security plugin, or a web server \
                that does not pass on the Authorization header, may be the reason.",
            ));
        }
        Err(NotConfirmed::Forbidden(why) | NotConfirmed::Unavailable(why)) => {
            return Err(refused(&sentence(&why)));
        }
    };
    let password_id = reach.password_id(account).await;
    let not_begun = |why: Option<String>| MissingGrant { why, password_id: password_id.clone() };
    let id = random::name().map_err(|_| not_begun(None))?;
    let new = (id.as_str(), request, confirmed.name.as_str());
    match stored(server, new, (site, account), password_id.clone(), now_ms).await {
        Ok(true) => {}
        Ok(false) => {
            let why = "There are too many sign-ins here. The operator can end old ones.";
            return Err(not_begun(Some(why.to_owned())));
        }
        Err(why) => return Err(not_begun(Some(sentence(&why)))),
    }
    if let Err(why) = server.share_begun(&id, now_ms).await {
        return Err(not_begun(Some(why.to_owned())));
    }
    server.confirmations.lock().note(&id, confirmed.id, confirmed.roles);
    let owner =
        (request.client.client_id.as_str(), request.redirect_uri.as_str(), request.challenge.as_str());
    let granted = GrantCode { grant: &id, profiles: request.profiles.clone() };
    let Ok(code) = server.codes.lock().make(granted, owner, server.process()) else {
        return Ok(None);
    };
    tracing::info!(site, user = confirmed.name, client = request.client.name(), "a person has signed in");
    Ok(Some(code))
}

/// Stores a new grant; returns false if there are too many.
async fn stored(
    server: &AuthorizationServer,
    (id, request, user): (&str, &AuthorizationRequest, &str),
    (site, account): (&str, SiteAccount<'_>),
    password_id: Option<String>,
    now_ms: u64,
) -> Result<bool, String> {
    let random = random::bytes().map_err(|error| error.to_string())?;
    let (id, client, user) = (id.to_owned(), request.client.clone(), user.to_owned());
    let (site, rest, password) = (site.to_owned(), account.rest.to_owned(), account.password.clone());
    let profiles = request.profiles.clone();
    let stored = server.grants.with(move |file| {
        let new = NewGrant {
            id: &id,
            client: &client.client_id,
            client_name: client.name(),
            site: &site,
            rest: &rest,
            user: &user,
            password: &password,
            password_id: password_id.as_deref(),
            profiles: profiles.as_ref(),
        };
        file.begin(&new, random, now_ms)
    });
    stored.await
}

fn known(server: &AuthorizationServer, entry: &str, browser: Browser<'_>) -> Option<SignInAttempt> {
    server.attempts.lock().of(entry, browser.cookies, server.is_secure()).cloned()
}

fn question(
    server: &AuthorizationServer,
    status: StatusCode,
    attempt: &SignInAttempt,
    typed: &str,
    error: Option<&str>,
) -> Reply {
    let choice = match server.settings.sites.as_slice() {
        [] => SiteChoice::Typed(typed),
        [only] => SiteChoice::Fixed(only),
        sites => SiteChoice::Among(sites),
    };
    let to = format!("{}/oauth/sign-in/{}", server.base().unwrap_or_default(), attempt.entry);
    page::question(status, (&to, &attempt.request), &choice, error)
}

/// Redirects a browser.
fn back(to: &str) -> Reply {
    let shown =
        page::message(StatusCode::SEE_OTHER, "Redirecting…", "If nothing happens, continue here.", Some(to));
    response::redirecting(shown, to).unwrap_or_else(over)
}

fn declined(request: &AuthorizationRequest, base: &str) -> Reply {
    let error = [("error", "access_denied"), ("error_description", "the person has declined")];
    back(&request.answer(base, &error))
}

fn over() -> Reply {
    let text =
        "It is finished or has expired, or it belongs to another browser. Start again from your application.";
    page::message(StatusCode::NOT_FOUND, "This sign-in has ended", text, None)
}

fn other_site(site: &str) -> Reply {
    let text = format!(
        "The answer does not come from {site}. Start again from your application, and enter the address that your site uses. If a \
         site has just shown you a new application password, delete it there."
    );
    page::message(StatusCode::FORBIDDEN, "You are not signed in", &text, None)
}

fn other_browser() -> Reply {
    let text = "This browser did not begin this sign-in, or it blocks cookies. Start again from your application, and stay in \
                one browser. If your site has just shown you a new application password, delete it there.";
    page::message(StatusCode::FORBIDDEN, "You are not signed in", text, None)
}

/// Returns a text as a sentence.
fn sentence(text: &str) -> String {
    let text = visible(text.trim_end_matches('.'));
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

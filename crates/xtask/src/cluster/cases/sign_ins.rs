//! A person who signs in with an account at a WordPress site, while each request reaches another replica.

use super::Case;
use crate::chaos::client::http::{Sent, exchange};
use crate::chaos::process::until;
use crate::chaos::stage::SOON;
use crate::cluster::browser::Browser;
use crate::cluster::rig::{KNOWN, Rig, key_becomes, status_with};
use crate::cluster::web_server::{Asked, Said, WebServer, parameter};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Case] = &[Case {
    name: "sign-ins",
    title: "each step of a sign-in reaches another replica, its tokens are valid and renewed at all, a refresh token counts once in the cluster, and nothing is issued without the store",
    run,
}];

/// The address that people see. Nobody listens there: the requests of this case go to the replicas.
const BASE: &str = "http://127.0.0.1:9";

/// The example of RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// The time within which the replicas must use a store again that has come back.
const BACK: Duration = Duration::from_secs(5);

/// The number of sign-ins whose tokens are renewed at several replicas at the same time.
const RACES: usize = 3;

fn run(rig: &mut Rig<'_>) -> Result<String, String> {
    let site = WebServer::start(site)?;
    let address = format!("http://{}", site.address);
    let auth = json!({ "login": { "sites": [address] } });
    rig.start_passing_on_amended(&json!({}), &json!({ "publicUrl": BASE, "auth": auth }))?;
    let addresses = rig.addresses();
    let client = registered(addresses[0])?;
    let (access, refresh) = signed_in(&addresses, &client)?;
    let known = key_becomes(&access, 200, &addresses, KNOWN)?;
    let (renewed, _) = good(renew(addresses[1], &client, &refresh)?)?;
    key_becomes(&renewed, 200, &addresses, KNOWN)?;
    used_twice(&addresses, &client, &refresh)?;
    key_becomes(&renewed, 401, &addresses, KNOWN)?;
    at_the_same_time(&addresses, &client)?;
    without_store(rig, &addresses, &client)?;
    Ok(format!("valid everywhere after {} ms", known.as_millis()))
}

/// A site with the account `ann`, whose password works until it is deleted.
fn site(asked: &Asked, base: &str) -> Said {
    let good = |body: &Value| (200, String::new(), body.to_string());
    match (asked.method.as_str(), asked.path.as_str()) {
        ("GET", "/wp-json/") => {
            let page = format!("{base}/wp-admin/authorize-application.php");
            good(
                &json!({ "authentication": { "application-passwords": { "endpoints": { "authorization": page } } } }),
            )
        }
        // The person approves at once.
        ("GET", "/wp-admin/authorize-application.php") => {
            let to = parameter(&asked.query, "success_url").replace("%3A", ":").replace("%2F", "/");
            let to = to.replace("%3F", "?").replace("%3D", "=").replace("%26", "&");
            let here = base.replace(':', "%3A").replace('/', "%2F");
            (
                303,
                format!("Location: {to}&site_url={here}&user_login=ann&password=abcdEFGH\r\n"),
                String::new(),
            )
        }
        ("GET", "/wp-json/wp/v2/users/me") => good(&json!({
            "id": 7, "username": "ann", "roles": ["editor"], "capabilities": { "read": true }
        })),
        ("GET", path) if path.ends_with("/introspect") => {
            good(&json!({ "uuid": "0a1b2c3d-0000-4000-8000-000000000001" }))
        }
        ("DELETE", _) => good(&json!({ "deleted": true })),
        _ => (404, String::new(), "{}".to_owned()),
    }
}

/// Sends a form or a document; returns the status and the answer.
fn post(at: SocketAddr, path: &str, body: &str, media: &str) -> Result<(u16, Value), String> {
    let headers = [("Content-Type", media)];
    let sent = Sent { method: "POST", path, headers: &headers, body };
    let answered = exchange(at, &sent, Instant::now() + SOON).and_then(|mut reply| {
        let text = reply.text()?;
        Ok((reply.status, serde_json::from_str(&text).unwrap_or(Value::String(text))))
    });
    answered.map_err(|error| format!("{path} at {at}: {error}"))
}

const FORM: &str = "application/x-www-form-urlencoded";

fn registered(at: SocketAddr) -> Result<String, String> {
    let body = json!({ "client_name": "Tester", "redirect_uris": ["http://127.0.0.1/cb"] }).to_string();
    let (status, said) = post(at, "/oauth/register", &body, "application/json")?;
    said["client_id"].as_str().map(str::to_owned).ok_or_else(|| format!("no client: {status} {said}"))
}

/// The path of an address of the gateway.
fn own(url: &str) -> Result<String, String> {
    url.strip_prefix(BASE).map(str::to_owned).ok_or_else(|| format!("the browser is led to {url}"))
}

/// Leads a browser to the site and back, each time at another replica; returns the code.
fn code(addresses: &[SocketAddr], client: &str) -> Result<String, String> {
    let mut browser = Browser::of_origin(BASE);
    let query = format!(
        "response_type=code&client_id={client}&redirect_uri=http://127.0.0.1:4711/cb&state=s&code_challenge={CHALLENGE}&code_challenge_method=S256&resource={BASE}/mcp"
    );
    let page = browser.get(addresses[1], &format!("/oauth/authorize?{query}"))?;
    let entry = page.text.split_once("/oauth/sign-in/").and_then(|(_, rest)| rest.split('"').next());
    let entry = entry.ok_or_else(|| format!("no page: {} {}", page.status, page.text))?;
    let path = format!("/oauth/sign-in/{entry}");
    let left = browser.post(addresses[2], &path, "choice=continue")?;
    let to_site =
        left.location.ok_or_else(|| format!("not led to the site: {} {}", left.status, left.text))?;
    let rest = to_site.strip_prefix("http://").and_then(|rest| rest.split_once('/'));
    let (site, rest) = rest.ok_or_else(|| format!("no address: {to_site}"))?;
    let site = site.parse().map_err(|error| format!("{to_site}: {error}"))?;
    let back =
        Browser::default().get(site, &format!("/{rest}"))?.location.ok_or("the site does not lead back")?;
    let returned = browser.get(addresses[0], &own(&back)?)?;
    let on = returned.location.ok_or_else(|| format!("no return: {} {}", returned.status, returned.text))?;
    let done = browser.get(addresses[2], &own(&on)?)?;
    let to_client = done.location.ok_or_else(|| format!("not signed in: {} {}", done.status, done.text))?;
    let query = to_client.split_once('?').map_or("", |(_, query)| query);
    match parameter(query, "code") {
        "" => Err(format!("no code: {to_client}")),
        code => Ok(code.to_owned()),
    }
}

fn exchanged(at: SocketAddr, client: &str, code: &str) -> Result<(u16, Value), String> {
    let form = format!(
        "grant_type=authorization_code&code={code}&client_id={client}&code_verifier={VERIFIER}&redirect_uri=http://127.0.0.1:4711/cb"
    );
    post(at, "/oauth/token", &form, FORM)
}

fn renew(at: SocketAddr, client: &str, refresh: &str) -> Result<(u16, Value), String> {
    let form = format!("grant_type=refresh_token&refresh_token={refresh}&client_id={client}");
    post(at, "/oauth/token", &form, FORM)
}

/// The access token and the refresh token of an answer.
fn good((status, said): (u16, Value)) -> Result<(String, String), String> {
    let text = |name: &str| said[name].as_str().map(str::to_owned);
    let pair = text("access_token").zip(text("refresh_token"));
    pair.ok_or_else(|| format!("no tokens: {status} {said}"))
}

/// Signs in; a second use of the code at another replica is refused.
fn signed_in(addresses: &[SocketAddr], client: &str) -> Result<(String, String), String> {
    let code = code(addresses, client)?;
    good(exchanged(addresses[0], client, &code)?)
}

/// The replaced token is accepted once more, and its third use, wherever it is, ends the sign-in.
fn used_twice(addresses: &[SocketAddr], client: &str, refresh: &str) -> Result<(), String> {
    good(renew(addresses[2], client, refresh)?)?;
    match renew(addresses[0], client, refresh)? {
        (400, _) => Ok(()),
        (status, said) => Err(format!("a refresh token was used three times: {status} {said}")),
    }
}

/// A code, and a refresh token, are used at all replicas at the same time.
fn at_the_same_time(addresses: &[SocketAddr], client: &str) -> Result<(), String> {
    for _ in 0..RACES {
        let code = code(addresses, client)?;
        let all = |send: &(dyn Fn(SocketAddr) -> Result<(u16, Value), String> + Sync)| {
            thread::scope(|scope| {
                let sent: Vec<_> = addresses.iter().map(|at| scope.spawn(|| send(*at))).collect();
                let ends =
                    sent.into_iter().map(|one| one.join().map_err(|_| "a thread panicked".to_owned())?);
                ends.collect::<Result<Vec<_>, String>>()
            })
        };
        let answers = all(&|at| exchanged(at, client, &code))?;
        let issued: Vec<_> = answers.into_iter().filter(|(status, _)| *status == 200).collect();
        if issued.len() != 1 {
            return Err(format!("a code was used {} times", issued.len()));
        }
        let (_, refresh) = signed_in(addresses, client)?;
        let answers = all(&|at| renew(at, client, &refresh))?;
        let issued = answers.iter().filter(|(status, _)| *status == 200).count();
        if !(1..=2).contains(&issued) {
            return Err(format!("a refresh token was replaced {issued} times: {answers:?}"));
        }
    }
    Ok(())
}

/// The store is away, and comes back empty.
fn without_store(rig: &mut Rig<'_>, addresses: &[SocketAddr], client: &str) -> Result<(), String> {
    let (access, refresh) = signed_in(addresses, client)?;
    key_becomes(&access, 200, addresses, KNOWN)?;
    let code = code(addresses, client)?;
    rig.store.kill();
    for at in addresses {
        for (status, said) in [renew(*at, client, &refresh)?, exchanged(addresses[0], client, &code)?] {
            if status == 200 {
                return Err(format!("tokens were issued without the store: {said}"));
            }
        }
        if status_with(*at, &access)? != 200 {
            return Err("a token that is known is refused without the store".to_owned());
        }
    }
    rig.store.start_again()?;
    let renewed = until(BACK, || renew(addresses[2], client, &refresh).and_then(good).ok());
    let (renewed, _) = renewed.ok_or("tokens are not renewed although the store is back")?;
    key_becomes(&renewed, 200, addresses, KNOWN)?;
    // A replica without any state knows the sign-in.
    rig.replicas[1].end()?;
    rig.replicas[1].forget()?;
    rig.replicas[1].start()?;
    key_becomes(&renewed, 200, addresses, KNOWN)?;
    // The client ends the sign-in at one replica.
    post(addresses[1], "/oauth/revoke", &format!("token={renewed}"), FORM)?;
    key_becomes(&renewed, 401, addresses, KNOWN).map(drop)
}

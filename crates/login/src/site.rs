//! The parts of a WordPress site that sign-ins need (WordPress REST API: the index, users, application passwords).
//! This module must not know clients or tokens.

use engine::credential::authorization;
use engine::site_rights::{SETTINGS, SiteRights};
use http::{Method, StatusCode, Uri};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::Value;

use crate::outbound::{Outbound, OutboundError, SiteRequest, SiteResponse};
use crate::site_address::SiteAddress;

/// The maximum size of an index, in bytes; large sites ignore `_fields` and list hundreds of routes.
const INDEX: usize = 4 * 1024 * 1024;
/// The maximum size of an answer about an account, in bytes.
const ANSWER: usize = 256 * 1024;
/// The maximum length of an accepted user name, in bytes.
const LONGEST_NAME: usize = 256;
/// The maximum number of roles that are kept, and the maximum length of each role, in bytes.
const MOST_ROLES: usize = 32;
const LONGEST_ROLE: usize = 64;

/// The codes with which WordPress reports that a password is not valid, or no longer valid.
const WRONG_PASSWORD: &[&str] = &["incorrect_password", "invalid_username", "invalid_email"];
/// The code with which WordPress reports that an application password does not exist.
const NO_PASSWORD: &str = "rest_application_password_not_found";

/// The client for requests to a site, and the restriction of the site's address.
#[derive(Clone, Copy)]
pub(crate) struct SiteReach<'a> {
    pub(crate) outbound: &'a dyn Outbound,
    /// True if the address may lead only to the public network, because a person has entered it.
    pub(crate) public_only: bool,
}

/// The addresses for signing in that a site publishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SiteIndex {
    /// The address of the site's REST API.
    pub(crate) rest: String,
    /// The page on which a person approves an application.
    pub(crate) approval: String,
}

/// The reason why nobody can sign in at a site, as a text for the person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SiteFault {
    /// The site redirects to another address.
    #[error("This site redirects to {0}. Continue with that address?")]
    Moved(String),
    /// Any other reason.
    #[error("{0}")]
    Unusable(String),
}

/// An account, as `GET /wp/v2/users/me?context=edit` returns it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SiteUser {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) roles: Vec<String>,
}

/// The reason why a site does not confirm an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotConfirmed {
    /// The site reports that the password is wrong.
    Rejected,
    /// The site ignores the password: the header does not arrive, or application passwords are switched off.
    Ignored,
    /// The account lacks a capability, or may not use the REST API.
    Forbidden(String),
    /// The site did not answer as a WordPress site does.
    Unavailable(String),
}

/// The outcome of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deletion {
    /// The password no longer exists.
    Gone,
    /// The site does not recognize the account: the password is gone, or does not arrive.
    Ignored,
    /// The site did not answer as a WordPress site does.
    Unanswered,
}

/// A name with an application password.
#[derive(Clone, Copy)]
pub(crate) struct SiteAccount<'a> {
    pub(crate) rest: &'a str,
    pub(crate) user: &'a str,
    pub(crate) password: &'a SecretString,
}

impl SiteReach<'_> {
    /// Finds out how to sign in at a site.
    ///
    /// # Errors
    /// Returns the reason, for the person.
    pub(crate) async fn index(&self, site: &SiteAddress) -> Result<SiteIndex, SiteFault> {
        let own = site.as_str();
        let mut moved_to = None;
        // The second form works on sites with plain permalinks.
        for (rest, query) in [(format!("{own}/wp-json"), "/?"), (format!("{own}/?rest_route="), "/&")] {
            let answer = match self
                .get(&format!("{rest}{query}_fields=authentication,home"), None, INDEX)
                .await
            {
                Ok(answer) => answer,
                Err(error) => return Err(moved_to.unwrap_or(SiteFault::Unusable(format!("{own}: {error}.")))),
            };
            if answer.status.is_redirection() {
                moved_to = Some(moved(site, answer.location.as_deref()));
                continue;
            }
            let said: Option<Value> = serde_json::from_slice(&answer.body).ok();
            let closed = matches!(answer.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
            if closed && said.as_ref().is_some_and(|said| said.get("code").is_some()) {
                // The site does not show its index; the approval page has had this address since WordPress 5.6.
                return Ok(SiteIndex { rest, approval: format!("{own}/wp-admin/authorize-application.php") });
            }
            if let Some(said) = said.filter(|_| answer.status.is_success()) {
                // For a path at which there is no site, WordPress answers with the site above that path.
                let home = said.get("home").and_then(Value::as_str).and_then(SiteAddress::configured);
                if home.is_some_and(|home| !site.has_path_of(&home)) {
                    return Err(SiteFault::Unusable(format!("There is no site at {own}.")));
                }
                let approval = approval(site, &said)?;
                return Ok(SiteIndex { rest, approval });
            }
        }
        Err(moved_to.unwrap_or_else(|| {
            SiteFault::Unusable(format!(
                "{own} does not answer like a WordPress site. Check the address, and check that the site's REST API is not switched off."
            ))
        }))
    }

    /// Asks the site for the account to which the password belongs.
    pub(crate) async fn confirm(
        &self,
        account: SiteAccount<'_>,
        capability: &str,
    ) -> Result<SiteUser, NotConfirmed> {
        let url = rest_url(account.rest, "/wp/v2/users/me", "context=edit");
        let answer = self.get(&url, Some(account), ANSWER).await;
        let answer = answer.map_err(|error| NotConfirmed::Unavailable(error.to_string()))?;
        let code = code_of(&answer.body);
        match (answer.status, code.as_deref()) {
            (StatusCode::OK, _) => {
                let (user, rights) = confirmed(&answer.body, account.user, capability)?;
                let is_granted = match rights {
                    SiteRights::Granted => true,
                    SiteRights::Missing => false,
                    SiteRights::NoRole => self.reads_settings(account).await?,
                };
                if is_granted {
                    return Ok(user);
                }
                Err(NotConfirmed::Forbidden(format!("this account {}", rights.refusal(capability))))
            }
            (StatusCode::UNAUTHORIZED, Some(code)) if WRONG_PASSWORD.contains(&code) => {
                Err(NotConfirmed::Rejected)
            }
            (StatusCode::UNAUTHORIZED, Some(_)) => Err(NotConfirmed::Ignored),
            (StatusCode::FORBIDDEN, Some(_)) => {
                Err(NotConfirmed::Forbidden("the site does not let this account use its REST API".to_owned()))
            }
            (status, _) => {
                Err(NotConfirmed::Unavailable(format!("the site answered with status {}", status.as_u16())))
            }
        }
    }

    /// Returns true if the site lets the account read its settings.
    async fn reads_settings(&self, account: SiteAccount<'_>) -> Result<bool, NotConfirmed> {
        let url = rest_url(account.rest, SETTINGS.0, SETTINGS.1);
        let answer = self.get(&url, Some(account), ANSWER).await;
        let answer = answer.map_err(|error| NotConfirmed::Unavailable(error.to_string()))?;
        Ok(answer.status == StatusCode::OK)
    }

    /// Returns the id of the application password that this request is sent with (WordPress 5.7 and later).
    pub(crate) async fn password_id(&self, account: SiteAccount<'_>) -> Option<String> {
        let url = rest_url(account.rest, "/wp/v2/users/me/application-passwords/introspect", "");
        let answer = self.get(&url, Some(account), ANSWER).await.ok()?;
        let said: Value = serde_json::from_slice(&answer.body).ok().filter(|_| answer.status.is_success())?;
        let id = said.get("uuid")?.as_str()?;
        let is_uuid = id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        is_uuid.then(|| id.to_owned())
    }

    /// Deletes the application password that this request is sent with; `id` is its id, if it is known.
    pub(crate) async fn delete_password(&self, account: SiteAccount<'_>, id: Option<&str>) -> Deletion {
        let found = if id.is_none() { self.password_id(account).await } else { None };
        let Some(id) = id.or(found.as_deref()) else {
            // Perhaps the site does not tell the id because the password is gone.
            return match self.confirm(account, "").await {
                Err(NotConfirmed::Rejected) => Deletion::Gone,
                Err(NotConfirmed::Ignored) => Deletion::Ignored,
                _ => Deletion::Unanswered,
            };
        };
        let url = rest_url(account.rest, &format!("/wp/v2/users/me/application-passwords/{id}"), "");
        let Ok(answer) = self.send(Method::DELETE, &url, Some(account), ANSWER).await else {
            return Deletion::Unanswered;
        };
        match code_of(&answer.body).as_deref() {
            _ if answer.status.is_success() => Deletion::Gone,
            Some(code) if code == NO_PASSWORD || WRONG_PASSWORD.contains(&code) => Deletion::Gone,
            Some(_) if answer.status == StatusCode::UNAUTHORIZED => Deletion::Ignored,
            _ => Deletion::Unanswered,
        }
    }

    async fn get(
        &self,
        url: &str,
        account: Option<SiteAccount<'_>>,
        cap: usize,
    ) -> Result<SiteResponse, OutboundError> {
        self.send(Method::GET, url, account, cap).await
    }

    async fn send(
        &self,
        method: Method,
        url: &str,
        account: Option<SiteAccount<'_>>,
        cap: usize,
    ) -> Result<SiteResponse, OutboundError> {
        let url: Uri = url.parse().map_err(|_| OutboundError("this is not a URL".to_owned()))?;
        let refused = || OutboundError("this account cannot be sent to the site".to_owned());
        let authorization = account
            .map(|account| authorization::basic_value(account.user, account.password).ok_or_else(refused))
            .transpose()?;
        self.outbound
            .send(SiteRequest { method, url, authorization, public_only: self.public_only, cap })
            .await
    }
}

fn rest_url(rest: &str, route: &str, query: &str) -> String {
    let joint = match (query.is_empty(), rest.contains('?')) {
        (true, _) => "",
        (false, true) => "&",
        (false, false) => "?",
    };
    format!("{rest}{route}{joint}{query}")
}

/// Returns the fault for a site that redirects.
fn moved(site: &SiteAddress, to: Option<&str>) -> SiteFault {
    let base = to.and_then(SiteAddress::configured).filter(|to| to != site);
    base.map_or_else(
        || SiteFault::Unusable(format!("{} redirects its REST API elsewhere.", site.as_str())),
        |base| SiteFault::Moved(base.as_str().to_owned()),
    )
}

/// Returns the page on which a person approves an application, according to the index.
fn approval(site: &SiteAddress, index: &Value) -> Result<String, SiteFault> {
    let named = index.pointer("/authentication/application-passwords/endpoints/authorization");
    let Some(page) = named.and_then(Value::as_str) else {
        return Err(SiteFault::Unusable(format!(
            "{} does not offer application passwords. They need WordPress 5.6 or later and https; a security plugin may \
             have switched them off.",
            site.as_str()
        )));
    };
    // A site that names a page elsewhere could collect passwords in the name of another site.
    if !site.has_origin_of(page) || page.contains('#') || !page.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(SiteFault::Unusable(format!(
            "{} names a page at another address for the approval. Enter the address that the site itself uses.",
            site.as_str()
        )));
    }
    Ok(page.to_owned())
}

/// Returns the code of a refusal by WordPress.
fn code_of(body: &[u8]) -> Option<String> {
    let said: Value = serde_json::from_slice(body).ok()?;
    Some(said.get("code")?.as_str()?.to_owned())
}

/// Reads an answer about an account, and its right to act with the capability; `login` is the user name in the request.
fn confirmed(body: &[u8], login: &str, capability: &str) -> Result<(SiteUser, SiteRights), NotConfirmed> {
    #[derive(Deserialize)]
    struct User {
        id: u64,
        #[serde(default)]
        username: String,
        #[serde(default)]
        roles: Value,
        /// An object, or an empty list, which PHP sends instead of an empty object.
        #[serde(default)]
        capabilities: Value,
    }
    let odd = || NotConfirmed::Unavailable("the site's answer does not come from WordPress".to_owned());
    let user: User = serde_json::from_slice(body).map_err(|_| odd())?;
    let rights = SiteRights::of(&user.roles, &user.capabilities, capability);
    let name = if user.username.is_empty() { login.to_owned() } else { user.username };
    if name.is_empty() || name.len() > LONGEST_NAME || name.chars().any(char::is_control) {
        return Err(odd());
    }
    let roles = user.roles.as_array().into_iter().flatten().filter_map(Value::as_str);
    let roles = roles.filter(|role| role.len() <= LONGEST_ROLE).take(MOST_ROLES).map(str::to_owned);
    Ok((SiteUser { id: user.id, name, roles: roles.collect() }, rights))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_approval_page_is_on_the_site_itself() {
        let site = SiteAddress::configured("https://example.com/blog").unwrap();
        let index = |page: &str| json!({ "authentication": { "application-passwords": { "endpoints": { "authorization": page } } } });
        let page = "https://example.com/blog/wp-admin/authorize-application.php";
        assert_eq!(approval(&site, &index(page)).as_deref(), Ok(page));
        for other in [
            "https://evil.example/a.php",
            "http://example.com/a.php",
            "javascript:x",
            "https://example.com/a b",
        ] {
            assert!(approval(&site, &index(other)).is_err(), "{other}");
        }
        let off = approval(&site, &json!({ "authentication": [] })).unwrap_err().to_string();
        assert!(off.contains("does not offer application passwords"), "{off}");
    }

    #[test]
    fn both_forms_of_permalinks_have_queries() {
        assert_eq!(rest_url("https://a/wp-json", "/x", "b=c"), "https://a/wp-json/x?b=c");
        assert_eq!(rest_url("https://a/?rest_route=", "/x", "b=c"), "https://a/?rest_route=/x&b=c");
        assert_eq!(rest_url("https://a/?rest_route=", "/x", ""), "https://a/?rest_route=/x");
    }

    #[test]
    fn an_account_needs_its_capability() {
        let body =
            json!({ "id": 3, "username": "ann", "roles": ["editor"], "capabilities": { "read": true } })
                .to_string();
        let (user, rights) = confirmed(body.as_bytes(), "a", "read").unwrap();
        assert_eq!((user.name.as_str(), rights), ("ann", SiteRights::Granted));
        assert_eq!(confirmed(body.as_bytes(), "a", "manage_options").unwrap().1, SiteRights::Missing);
        let none = json!({ "id": 3, "username": "ann", "roles": [], "capabilities": [] }).to_string();
        assert_eq!(confirmed(none.as_bytes(), "a", "read").unwrap().1, SiteRights::NoRole);
        assert!(matches!(confirmed(b"<html>", "a", "read"), Err(NotConfirmed::Unavailable(_))));
    }
}

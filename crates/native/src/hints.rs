//! Hints for the person who set a site up: likely reasons for a refusal that the site's own message does not explain.
//! This module must not know who reads the hints.

use crate::rest::UnreadableKind;

/// A hint for an answer with this status and code (empty for none). `wordless` is true if the answer has no message of its
/// own, which means that WordPress did not write the answer.
pub(crate) fn hint(status: u16, code: &str, wordless: bool) -> Option<&'static str> {
    Some(match status {
        401 if !code.starts_with("bp_rest_") => {
            "an Application Password is required, not the login password. If the password is an Application Password, the \
             site's web server may not pass the Authorization header to WordPress, or the site may accept Application \
             Passwords only over https"
        }
        403 | 406 if wordless => "a firewall or a security plugin on the site may have blocked this request",
        413 if wordless => {
            "the request is larger than the site's web server accepts; the site's owner can raise the limit"
        }
        404 if code == "rest_no_route" => {
            "the site has no such route: its WordPress may be too old, or the plugin that provides it may be deactivated"
        }
        404 | 410 if wordless => {
            "is this the address of a WordPress site? Its REST API may be disabled, or its permalinks may be set to Plain"
        }
        429 => "the site limits the request rate: try again in a minute",
        503 => "the site may be under maintenance: try again in a few minutes",
        500 if wordless => "the site failed to process this request: see the log of its PHP or web server",
        502 | 504 | 520..=530 if wordless => {
            "the proxy in front of the site got no answer from the site: try again in a few minutes"
        }
        _ if wordless => "is this the address of a WordPress site?",
        _ => return None,
    })
}

/// The hint for an account that BuddyBoss or BuddyPress treats as a visitor.
pub(crate) const VISITOR: &str = "this site treats the account as a visitor, because it checks Application Passwords too late. \
                                  If the account may do this on the site's own pages, the site's owner can fix the problem \
                                  with a short must-use plugin; see Dragoman's page about WordPress";

/// The hint for an account without a role on the site.
pub(crate) const NO_ROLE: &str = "the account has no role on this site; in a network of sites, an administrator must add the \
                                  account to each site that it uses";

/// The hint for a web server that asks for a password of its own, which is common for sites under construction. WordPress never
/// asks in this way.
pub(crate) const GATE: &str = "the site's web server requires a user name and password of its own before WordPress (HTTP \
                               401). One header cannot carry two logins: the site's owner must exempt /wp-json from the \
                               web server's login";

/// Returns true if a challenge asks for a name and a password (RFC 7617, 2).
pub(crate) fn is_basic(challenge: &str) -> bool {
    challenge.split([' ', ',']).next().is_some_and(|scheme| scheme.eq_ignore_ascii_case("Basic"))
}

/// A likely cause of a successful answer that is not JSON.
pub(crate) fn unread(kind: UnreadableKind) -> &'static str {
    match kind {
        UnreadableKind::Page => {
            "is this the address of a WordPress site? If it is, its permalinks may be set to Plain (Settings, Permalinks: choose \
             another structure), or a cache or firewall answered instead"
        }
        UnreadableKind::Noise => {
            "a plugin or the theme of the site prints notices: turn off WP_DEBUG_DISPLAY"
        }
        UnreadableKind::Packed => "a cache or proxy in front of the site compressed the answer",
        UnreadableKind::Other => "is this the address of a WordPress site?",
    }
}

/// A likely cause of a redirect: a network of sites sends everyone who asks for a site that it does not have to the page for
/// creating one (`ms_load_current_site_and_network`), and a site with plain permalinks treats a route as a page and appends a
/// slash (`redirect_canonical`).
pub(crate) fn redirected(from: &str, to: &str) -> Option<&'static str> {
    let path = |url: &str| -> String {
        let url = url.split(['?', '#']).next().unwrap_or_default();
        url.split_once("://").map_or(url, |(_, rest)| rest.find('/').map_or("", |at| &rest[at..])).to_owned()
    };
    let (from, to) = (path(from), path(to));
    if to.ends_with("/wp-signup.php") {
        return Some(
            "there is no site at this address, and the network of sites only offers to create one. Check the spelling of the \
             name; the site may have been deleted",
        );
    }
    let is_itself = from.contains("/wp-json") && to.strip_suffix('/') == Some(&*from);
    is_itself.then_some(
        "the site's permalinks are set to Plain, so it has no REST routes (Settings, Permalinks: choose another structure)",
    )
}

/// Returns true if a community plugin may have refused a request with this status and code only because it treats the caller as a
/// visitor. Such a refusal usually has the status 403, and sometimes a status for server errors.
pub(crate) fn is_about_a_visitor(status: u16, code: &str) -> bool {
    code.starts_with("bp_rest_")
        && (status == 403
            || (status == 500
                && ["_authorization_required", "_failed_to_join", "_failed_to_promote", "_create_failed"]
                    .iter()
                    .any(|end| code.ends_with(end))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_redirects_a_route_to_itself_has_plain_permalinks() {
        let route = "https://a.example/blog/wp-json/wp/v2/posts?per_page=1";
        for (to, plain) in [
            ("https://a.example/blog/wp-json/wp/v2/posts/?per_page=1", true),
            ("/blog/wp-json/wp/v2/posts/", true),
            ("https://a.example/blog/wp-json/wp/v2/posts", false),
            ("https://www.a.example/wp-json/wp/v2/posts/", false),
            ("https://a.example/wp-login.php", false),
            ("", false),
        ] {
            assert_eq!(redirected(route, to).is_some(), plain, "{to}");
        }
        assert!(redirected("https://a.example/x", "https://a.example/x/").is_none());
    }

    #[test]
    fn what_did_not_come_from_wordpress_is_told_apart() {
        for (status, says) in [
            (403, "firewall"),
            (406, "firewall"),
            (413, "larger than"),
            (500, "log of its PHP"),
            (502, "try again"),
            (503, "maintenance"),
            (504, "try again"),
            (522, "try again"),
            (418, "address of a WordPress site"),
        ] {
            assert!(hint(status, "", true).unwrap().contains(says), "{status}");
        }
        assert!(hint(500, "db_error", false).is_none());
    }
}

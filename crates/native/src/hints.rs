//! What a site's refusal may be about, where its own words do not say it: hints for whoever set the site up. It must not know
//! who is told.

use crate::rest::Unread;

/// A hint to an answer with this status and code (empty for none); `wordless` where it has no words of its own, which is to
/// say that WordPress did not write it.
pub(crate) fn hint(status: u16, code: &str, wordless: bool) -> Option<&'static str> {
    Some(match status {
        _ if is_about_a_visitor(status, code) => {
            "BuddyBoss and BuddyPress take an account with an Application Password for a visitor in some \
             places, a few of them even an administrator's; if this account may do it on the site's own pages, the site has to \
             let Application Passwords count earlier"
        }
        401 if !code.starts_with("bp_rest_") => {
            "an Application Password is needed, not the one for logging in. If it is one, the site's web server may withhold \
             the Authorization header from WordPress, or the site may take Application Passwords over https alone"
        }
        403 | 406 if wordless => "a firewall or a security plugin of the site refuses this",
        413 if wordless => "it is larger than the site's web server takes: its owner can raise that",
        404 if code == "rest_no_route" => {
            "the site does not have this: its WordPress may be too old for it, or the plugin that brings it be switched off"
        }
        404 | 410 if wordless => {
            "is this the address of a WordPress site? Its REST API may be switched off, or its permalinks be plain"
        }
        429 => "the site wants to be asked less often: try again in a minute",
        503 => "the site may be under maintenance: try again in a few minutes",
        500 if wordless => {
            "the site failed at this: what went wrong is in the log of its PHP or its web server"
        }
        502 | 504 | 520..=530 if wordless => {
            "what stands before the site got no answer from it: try again in a few minutes"
        }
        _ if wordless => "is this the address of a WordPress site?",
        _ => return None,
    })
}

/// A web server that has a password of its own, as those of sites that are being made have. WordPress never asks in this way.
pub(crate) const GATE: &str = "the site's web server asks for a name and a password of its own, before WordPress is reached \
                               (HTTP 401): both would have to go in the same header, so its owner has to let /wp-json through";

/// Whether a challenge is for a name and a password (RFC 7617, 2).
pub(crate) fn is_basic(challenge: &str) -> bool {
    challenge.split([' ', ',']).next().is_some_and(|scheme| scheme.eq_ignore_ascii_case("Basic"))
}

/// What an answer may be about that says success and is no JSON.
pub(crate) fn unread(kind: Unread) -> &'static str {
    match kind {
        Unread::Page => {
            "is this the address of a WordPress site? If it is, its permalinks may be plain (Settings, Permalinks: choose another \
             structure), or a cache or a firewall answers in its place"
        }
        Unread::Noise => {
            "a plugin or the theme of the site shows notices to visitors: WP_DEBUG_DISPLAY switches that off"
        }
        Unread::Packed => "a cache or a proxy in front of the site does it",
        Unread::Other => "is this the address of a WordPress site?",
    }
}

/// What a redirect may be about: a site with plain permalinks takes a route for a page, and puts a slash behind it
/// (`redirect_canonical`).
pub(crate) fn redirected(from: &str, to: &str) -> Option<&'static str> {
    let path = |url: &str| -> String {
        let url = url.split(['?', '#']).next().unwrap_or_default();
        url.split_once("://").map_or(url, |(_, rest)| rest.find('/').map_or("", |at| &rest[at..])).to_owned()
    };
    let (from, to) = (path(from), path(to));
    let is_itself = from.contains("/wp-json") && to.strip_suffix('/') == Some(&*from);
    is_itself.then_some(
        "its permalinks are plain, so that it has no routes (Settings, Permalinks: choose another structure)",
    )
}

/// Whether a community plugin may refuse this only because it does not see who asks: most of it as a refusal, some with the
/// status of a fault.
fn is_about_a_visitor(status: u16, code: &str) -> bool {
    code.starts_with("bp_rest_")
        && (status == 403
            || (status == 500
                && ["_authorization_required", "_failed_to_join", "_create_failed"]
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

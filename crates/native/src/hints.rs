//! What a site's refusal may be about, where its own words do not say it: hints for whoever set the site up. It must not know
//! who is told.

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
        403 if wordless => "a firewall or a security plugin of the site refuses this",
        404 if code == "rest_no_route" => {
            "the site does not have this: its WordPress may be too old for it, or the plugin that brings it be switched off"
        }
        404 | 410 if wordless => {
            "is this the address of a WordPress site? Its REST API may be switched off, or its permalinks be plain"
        }
        429 => "the site wants to be asked less often: try again in a minute",
        503 => "the site may be under maintenance: try again in a few minutes",
        _ if wordless => "is this the address of a WordPress site?",
        _ => return None,
    })
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

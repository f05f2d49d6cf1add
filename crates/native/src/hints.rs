//! What a site's refusal may be about, where its own words do not say it: hints for whoever set the site up. It must not know
//! who is told.

/// A hint to an answer with this status and code (empty for none); `wordless` where it has no words of its own, which is to
/// say that WordPress did not write it.
pub(crate) fn hint(status: u16, code: &str, wordless: bool) -> Option<&'static str> {
    Some(match status {
        403 if code.starts_with("bp_rest_") => {
            "BuddyBoss and BuddyPress take an account with an Application Password for a visitor in some places, unless it is \
             an administrator's"
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

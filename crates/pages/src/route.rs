//! The addresses of the pages, of their forms, and of their streams. The gateway serves exactly these.
//!
//! Each form is a POST; in a session it has the field `csrf`. The fields are listed with each address. The response to a form
//! is a redirect (303) to the page to show, or the page itself (422) if a field is wrong. Forms that remove something have
//! the field `confirm`, which must repeat the name of the removed thing.
//!
//! A name is a part of a path in the form of [`segment`], and [`name_of`] reads it back. The field `tool` has this form, too, wherever it
//! names a server's own tool: as the value of a field, a name with characters that HTML cannot contain would arrive as another name.

use std::fmt::Write as _;

/// The overview: query `window`.
pub const ROOT: &str = "/admin";
/// The folder of the assets.
pub const ASSETS: &str = "/admin/assets";
/// The login page; POST: `name`, `password`, `next`, without a token.
pub const LOGIN: &str = "/admin/login";
/// POST: ends the session.
pub const LOGOUT: &str = "/admin/logout";
/// The servers: query `q`, `state`, `at`.
pub const SERVERS: &str = "/admin/servers";
/// POST: adds servers: `text`, `name`. Only shows a preview, unless `confirm` is the token from a preview of the same servers.
pub const SERVERS_ADD: &str = "/admin/servers-add";
/// The tools: query `q`, `server`, `profile`, `show`, `at`.
pub const TOOLS: &str = "/admin/tools";
/// POST: `profile`, `action` (`allow` or `deny`), `tool` (several, each `server/tool` as in the address of the tool). With
/// `all`, the action applies to all tools that match the filter in `q`, `server`, `show`. The response to a form with neither
/// is 422.
pub const TOOLS_VISIBILITY: &str = "/admin/tools-visibility";
/// The profiles.
pub const PROFILES: &str = "/admin/profiles";
/// POST: `slug`, `title`, `server` (several); with `from`, clones that profile instead.
pub const PROFILES_ADD: &str = "/admin/profiles-add";
/// The playground: query `profile`, `caller`, `q`, `tool`, `run`.
pub const PLAYGROUND: &str = "/admin/playground";
/// POST: `profile`, `caller`, `tool`, and either `arguments` (JSON) or `arg.NAME` for each argument (NAME in percent-encoding). An empty
/// value means that the argument is not set.
pub const PLAYGROUND_RUN: &str = "/admin/playground-run";
/// POST: `run`, `question`, `action` (`accept`, `decline`, `cancel`), `arg.NAME` (NAME in percent-encoding).
pub const PLAYGROUND_ANSWER: &str = "/admin/playground-answer";
/// POST: cancels a run: `run`.
pub const PLAYGROUND_CANCEL: &str = "/admin/playground-cancel";
/// The record of calls: query as [`crate::model::CallsFilter`], `at`.
pub const CALLS: &str = "/admin/calls";
/// The same calls as CSV, with the same query.
pub const CALLS_CSV: &str = "/admin/calls.csv";
/// POST: `minutes` of capture; 0 ends it.
pub const CAPTURE: &str = "/admin/calls-capture";
/// The live traffic: query `q`, `kind`.
pub const LIVE: &str = "/admin/live";
/// The field with which a form says that the operator is sure; its value is `yes`. Without it, the answer to a form that
/// interrupts others is a page that asks.
pub const SURE: &str = "sure";
/// Sessions and streams: query `q`, `at`.
pub const SESSIONS: &str = "/admin/sessions";
/// POST: ends a session: `session`.
pub const SESSIONS_END: &str = "/admin/sessions-end";
/// The API keys: query `q`, `at`.
pub const KEYS: &str = "/admin/keys";
/// POST: creates a key: `name`, `profile` (several), `expires`.
pub const KEYS_NEW: &str = "/admin/keys-new";
/// POST: revokes a key: `key` (its first characters), `confirm` (its name).
pub const KEYS_REVOKE: &str = "/admin/keys-revoke";
/// The access check: query as [`crate::model::AccessForm`].
pub const ACCESS: &str = "/admin/access";
/// The limits.
pub const LIMITS: &str = "/admin/limits";
/// The consents: query `q`, `at`.
pub const LOGINS: &str = "/admin/logins";
/// POST: ends a person's sign-in: `signIn`.
pub const SIGN_INS_END: &str = "/admin/sign-ins-end";
/// POST: revokes a consent: `consent`.
pub const LOGINS_REVOKE: &str = "/admin/logins-revoke";
/// The configuration.
pub const CONFIGURATION: &str = "/admin/configuration";
/// POST: reads the file again: `etag`.
pub const RELOAD: &str = "/admin/configuration-reload";
/// The snippets for clients: query `profile`, `client`, `test`.
pub const CONNECT: &str = "/admin/connect";
/// POST: starts the self-test: `profile`, `client`; with `stop`, ends the test of that id.
pub const CONNECT_TEST: &str = "/admin/connect-test";
/// The gateways of the cluster.
pub const REPLICAS: &str = "/admin/replicas";
/// The checks.
pub const DOCTOR: &str = "/admin/doctor";
/// POST: runs the checks again.
pub const DOCTOR_RUN: &str = "/admin/doctor-run";

/// A stream of the overview. Its events are `replace`: the data is an element from [`crate::page::overview_now`].
pub const NOW_EVENTS: &str = "/admin/events/now";
/// The stream of the live page: query as the page. Its events are `prepend`: the data is a row from [`crate::page::live_row`]. Event ids
/// are those of the live events.
pub const LIVE_EVENTS: &str = "/admin/events/live";
/// The stream of a run: query `run`. Its events are `replace` with [`crate::page::playground_run`], and `end` when there are no more.
pub const RUN_EVENTS: &str = "/admin/events/run";
/// The stream of a self-test: query `test`. Its events are `replace` with [`crate::page::connect_test`], and `end`.
pub const TEST_EVENTS: &str = "/admin/events/test";

/// An action on a server: POST to `/admin/servers/ID/ACTION`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerAction {
    /// Ends the server's processes and connections, and opens them again.
    Restart,
    /// Fetches the lists again.
    Refresh,
    /// Switches the server on.
    Enable,
    /// Switches the server off.
    Disable,
    /// Starts the log-in at the server.
    Login,
    /// Changes the entry: `text`, `etag`.
    Change,
    /// Approves definitions: `revision`, and either `tool` (several, each a [`segment`]) or `all`, which must be `yes`. A
    /// form with neither approves nothing, and the response is 422.
    Approve,
    /// Removes the server: `confirm` (its name).
    Remove,
}

impl ServerAction {
    /// All actions.
    pub const ALL: [Self; 8] = [
        Self::Restart,
        Self::Refresh,
        Self::Enable,
        Self::Disable,
        Self::Login,
        Self::Change,
        Self::Approve,
        Self::Remove,
    ];

    /// The last part of the address.
    pub fn name(self) -> &'static str {
        match self {
            Self::Restart => "restart",
            Self::Refresh => "refresh",
            Self::Enable => "enable",
            Self::Disable => "disable",
            Self::Login => "login",
            Self::Change => "change",
            Self::Approve => "approve",
            Self::Remove => "remove",
        }
    }

    /// The action with this last part of an address.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.name() == name)
    }
}

/// An action on a profile: POST to `/admin/profiles/SLUG/ACTION`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfileAction {
    /// Changes the servers: `server`, `action` (`add`, `remove`, `on`, `off`).
    Servers,
    /// Removes the profile: `confirm` (its slug).
    Remove,
}

impl ProfileAction {
    /// All actions.
    pub const ALL: [Self; 2] = [Self::Servers, Self::Remove];

    /// The last part of the address.
    pub fn name(self) -> &'static str {
        match self {
            Self::Servers => "servers",
            Self::Remove => "remove",
        }
    }

    /// The action with this last part of an address.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.name() == name)
    }
}

/// The address of the section in which changed definitions of a server are approved.
pub fn approval(id: &str) -> String {
    format!("{}#definitions", server(id))
}

/// The page of a server.
pub fn server(id: &str) -> String {
    format!("{SERVERS}/{}", segment(id))
}

/// The form of an action on a server.
pub fn server_action(id: &str, action: ServerAction) -> String {
    format!("{SERVERS}/{}/{}", segment(id), action.name())
}

/// The page of a tool, by its server and the server's own name for it.
pub fn tool(server: &str, tool: &str) -> String {
    format!("{TOOLS}/{}", tool_path(server, tool))
}

/// The last two parts of a tool's address; also the value of the field `tool` in [`TOOLS_VISIBILITY`].
pub fn tool_path(server: &str, tool: &str) -> String {
    format!("{}/{}", segment(server), segment(tool))
}

/// The page of a profile.
pub fn profile(slug: &str) -> String {
    format!("{PROFILES}/{}", segment(slug))
}

/// The form of an action on a profile.
pub fn profile_action(slug: &str, action: ProfileAction) -> String {
    format!("{PROFILES}/{}/{}", segment(slug), action.name())
}

/// The page of a call.
pub fn call(id: u64) -> String {
    format!("{CALLS}/{id}")
}

/// A path with a query. Empty values are left out.
pub fn with_query(path: &str, pairs: &[(&str, &str)]) -> String {
    let mut url = path.to_owned();
    let mut separator = '?';
    for (name, value) in pairs.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = write!(url, "{separator}{name}={}", encoded(value));
        separator = '&';
    }
    url
}

/// A name as one part of a path, in percent-encoding. Browsers remove the parts `.` and `..` from a path, even if their
/// dots are encoded, and an empty part would be lost; so `~` comes before a name that is empty, or that begins with `.` or
/// `~`.
pub fn segment(name: &str) -> String {
    let mark = if name.is_empty() || name.starts_with(['.', '~']) { "~" } else { "" };
    format!("{mark}{}", encoded(name))
}

/// The name in a part of a path that [`segment`] has made. `None` if it is not the percent-encoding of a text.
pub fn name_of(segment: &str) -> Option<String> {
    let mut rest = segment.strip_prefix('~').unwrap_or(segment).as_bytes();
    let mut name = Vec::with_capacity(rest.len());
    while let Some((&first, after)) = rest.split_first() {
        if first != b'%' {
            name.push(first);
            rest = after;
            continue;
        }
        let (digits, after) = after.split_at_checked(2)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        name.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = after;
    }
    String::from_utf8(name).ok()
}

/// A text in percent-encoding, for a query or the name of a field: only unreserved characters stay.
pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::{ROOT, name_of, segment, server, tool, with_query};
    use proptest::prelude::*;

    #[test]
    fn names_cannot_leave_their_part_of_a_path() {
        assert_eq!(server("../keys"), "/admin/servers/~..%2Fkeys");
        assert_eq!(server(".."), "/admin/servers/~..");
        assert_eq!(tool("a b", "x?y#z"), "/admin/tools/a%20b/x%3Fy%23z");
        assert_eq!(tool("a", ""), "/admin/tools/a/~");
    }

    /// Returns true for a part that would not survive in a path: an empty part, or `.` or `..`, even if their dots
    /// are encoded.
    fn moves(part: &str) -> bool {
        let dots = part.to_ascii_lowercase().replace("%2e", ".");
        part.is_empty() || dots == "." || dots == ".."
    }

    #[test]
    fn no_name_moves_in_a_path() {
        for name in ["", ".", "..", "...", "%2e%2e", ".%2E", "%2E", "~", "~..", "~~", "a"] {
            let url = tool(name, name);
            assert!(!url.split('/').skip(1).any(moves), "{url}");
            assert_eq!(name_of(&segment(name)).as_deref(), Some(name));
        }
    }

    #[test]
    fn only_encoded_texts_are_names() {
        for part in ["%", "%4", "%+1", "%zz", "%FF", "a%"] {
            assert_eq!(name_of(part), None, "{part}");
        }
    }

    #[test]
    fn empty_values_are_left_out() {
        assert_eq!(
            with_query(ROOT, &[("q", ""), ("window", "24h"), ("x", "a&b=c")]),
            "/admin?window=24h&x=a%26b%3Dc"
        );
    }

    proptest! {
        #[test]
        fn addresses_are_plain_ascii(name in any::<String>()) {
            let url = server(&name);
            prop_assert!(url.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/%-_~.".contains(&byte)), "{url}");
            prop_assert!(!url.split('/').skip(1).any(moves), "{url}");
            prop_assert_eq!(name_of(&segment(&name)), Some(name));
        }
    }
}

//! Lifelike data for every page, with any number of rows, or with hostile text in every field. The tests of the
//! crate use it, too.

mod access;
mod catalogue;
mod connect;
mod playground;
mod server;
mod sessions;
mod system;
mod traffic;

#[allow(unused_imports, reason = "the tests use it, the gallery does not")]
pub(crate) use traffic::overview;

use dragoman_pages::model::{
    Caller, ConfirmPage, ErrorPage, ForeignText, LoginPage, Millis, Notice, PageFrame, Paging, ReplicasPage,
    Severity,
};
use dragoman_pages::{Markup, page};

/// The current time on all pages: 2026-11-26T04:06:03Z.
pub(crate) const NOW: Millis = 1_795_665_963_000;

/// A text with everything that a server could try.
pub(crate) const HOSTILE: &str = "<script>alert(1)</script>\"><img src=x onerror=alert(1)> ' onfocus=alert(2) \u{202e}gnp.exe\u{202c} \u{1b}[31mred\u{1b}[0m \
                           javascript:alert(3) {{7*7}} ${7*7} a\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301} \u{e0041}\u{200b}\u{feff}\u{0} \
                           =HYPERLINK(\"http://evil.example\") </textarea></pre></title><style>*{display:none}</style> %2e%2e/..//";

/// The size of the data, and the text in it.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    /// The rows of each list.
    pub(crate) rows: usize,
    /// The text that replaces every lifelike text.
    pub(crate) hostile: Option<String>,
}

impl Default for Sample {
    fn default() -> Self {
        Self { rows: 12, hostile: None }
    }
}

impl Sample {
    /// This text, or the hostile text if there is one.
    pub(crate) fn t(&self, text: &str) -> ForeignText {
        ForeignText::from(self.hostile.as_deref().unwrap_or(text))
    }

    /// A text with a number, which makes it different in each row.
    pub(crate) fn numbered(&self, text: &str, number: usize) -> ForeignText {
        match &self.hostile {
            Some(hostile) => ForeignText::from(hostile.as_str()),
            None if number == 0 => ForeignText::from(text),
            None => ForeignText::from(format!("{text}-{number}")),
        }
    }

    /// These texts; none if lists have no rows.
    pub(crate) fn list(&self, texts: &[&str]) -> Vec<ForeignText> {
        if self.rows == 0 { Vec::new() } else { texts.iter().map(|text| self.t(text)).collect() }
    }

    /// A caller; if it is a key, with the key's name.
    pub(crate) fn caller(&self, id: &str) -> Caller {
        Caller { id: self.t(id), key: id.starts_with("key:").then(|| self.t("ci-bot")) }
    }

    /// Makes the configured number of rows, each from its number.
    pub(crate) fn rows<T>(&self, make: impl Fn(usize) -> T) -> Vec<T> {
        (0..self.rows).map(make).collect()
    }

    /// Makes the configured number of rows, but at most `most`.
    pub(crate) fn few<T>(&self, most: usize, make: impl Fn(usize) -> T) -> Vec<T> {
        (0..self.rows.min(most)).map(make).collect()
    }

    /// The position of the rows in a list.
    pub(crate) fn paging(&self) -> Paging {
        Paging {
            first: u64::from(self.rows > 0),
            total: Some(self.rows as u64),
            previous: None,
            next: (self.rows > 1).then(|| "a&b\"c".to_owned()),
        }
    }

    /// The frame of each page.
    pub(crate) fn frame(&self) -> PageFrame {
        PageFrame {
            now: NOW,
            csrf: "b8a0c2f4e6".to_owned(),
            admin: self.t("ann"),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            address: self.t("127.0.0.1:8808"),
            manages: true,
            records_calls: true,
            failing_servers: u32::from(self.rows > 0) * 3,
            pending_definitions: u32::from(self.rows > 0) * 4,
            notice: None,
        }
    }
}

/// A time this many seconds before now.
pub(crate) fn ago(seconds: u64) -> Millis {
    NOW - seconds * 1000
}

/// All pages by name.
pub(crate) fn all(s: &Sample) -> Vec<(&'static str, String)> {
    let frame = s.frame();
    let noticed = PageFrame {
        notice: Some(Notice {
            severity: Severity::Good,
            text: s.t("The server files was restarted."),
            advice: Some(s.t("Its tools are back in a moment.")),
        }),
        ..s.frame()
    };
    let unmanaged = PageFrame { manages: false, ..s.frame() };
    let unrecorded = PageFrame { records_calls: false, ..s.frame() };
    let pages: Vec<(&'static str, Markup)> = vec![
        ("overview", page::overview(&frame, &traffic::overview(s))),
        ("overview-unrecorded", page::overview(&unrecorded, &traffic::overview(s))),
        ("overview-now", page::overview_now(&traffic::overview(s))),
        ("servers", page::servers(&frame, &catalogue::servers(s))),
        ("servers-unmanaged", page::servers(&unmanaged, &catalogue::servers(s))),
        ("server", page::server(&noticed, &server::server(s))),
        ("server-login", page::server(&unmanaged, &server::remote(s))),
        ("tools", page::tools(&frame, &catalogue::tools(s, "office"))),
        ("tools-all", page::tools(&frame, &catalogue::tools(s, ""))),
        ("tool", page::tool(&frame, &catalogue::tool(s))),
        ("tool-vanished", page::tool(&frame, &catalogue::vanished_tool(s))),
        ("profiles", page::profiles(&frame, &catalogue::profiles(s))),
        ("profile", page::profile(&frame, &catalogue::profile(s))),
        ("playground", page::playground(&frame, &playground::chosen(s))),
        ("playground-run", page::playground(&frame, &playground::asking(s))),
        ("playground-json", page::playground(&frame, &playground::as_json(s))),
        ("calls", page::calls(&frame, &traffic::calls(s))),
        ("call", page::call(&frame, &traffic::call(s))),
        ("call-operator", page::call(&frame, &traffic::operators_call(s))),
        ("call-plain", page::call(&frame, &traffic::plain_call(s))),
        ("live", page::live(&frame, &traffic::live(s))),
        ("sessions", page::sessions(&frame, &sessions::sessions(s))),
        ("keys", page::keys(&frame, &access::keys(s))),
        ("keys-made", page::keys(&frame, &access::keys_made(s))),
        ("access", page::access(&frame, &access::access(s))),
        ("replicas", page::replicas(&frame, &access::replicas(s))),
        ("replicas-alone", page::replicas(&frame, &ReplicasPage::default())),
        ("limits", page::limits(&frame, &access::limits(s))),
        ("logins", page::logins(&frame, &access::logins(s))),
        ("configuration", page::configuration(&frame, &system::configuration(s))),
        ("configuration-broken", page::configuration(&frame, &system::broken(s))),
        ("confirm", page::confirm(&frame, &confirm(s))),
        ("connect", page::connect(&frame, &connect::connect(s))),
        ("connect-test", page::connect(&frame, &connect::testing(s))),
        ("doctor", page::doctor(&frame, &system::doctor(s))),
        ("login", page::login(&login(s))),
        ("error", page::error(&error(s))),
    ];
    pages.into_iter().map(|(name, html)| (name, html.into_string())).collect()
}

fn login(s: &Sample) -> LoginPage {
    LoginPage {
        address: s.t("127.0.0.1:8808"),
        passwords: true,
        name: s.t("ann"),
        notice: (s.rows > 0).then(|| Notice {
            severity: Severity::Bad,
            text: s.t("The name or the password is wrong."),
            advice: Some(s.t("After 5 wrong attempts, this address has to wait for a minute.")),
        }),
        next: "/admin/calls".to_owned(),
    }
}

fn confirm(s: &Sample) -> ConfirmPage {
    ConfirmPage {
        question: "End the session?",
        subject: s.t("cursor 1.7 of ci-bot"),
        effect: "Its running calls are cancelled. Most clients open a new session by themselves.",
        words: "End the session",
        action: "/admin/sessions-end".to_owned(),
        fields: vec![("session".to_owned(), s.t("7").raw().to_owned())],
        back: "/admin/sessions".to_owned(),
    }
}

fn error(s: &Sample) -> ErrorPage {
    ErrorPage {
        status: 404,
        title: "No such server".to_owned(),
        text: s.t("There is no server “notin”."),
        advice: "Check the name, or look at the list of servers.".to_owned(),
    }
}

//! The parts of every page, and the pages without a session: login and errors.

use super::{ForeignText, Millis};

/// The parts of every page that do not depend on the page.
#[derive(Debug, Clone, Default)]
pub struct PageFrame {
    /// The time at which the page is rendered.
    pub now: Millis,
    /// The value of the field `csrf` in every form.
    pub csrf: String,
    /// The administrator who looks at the page.
    pub admin: ForeignText,
    /// Dragoman's version.
    pub version: String,
    /// The address of the gateway as browsers see it, such as `127.0.0.1:8808`.
    pub address: ForeignText,
    /// False if the management API is off: then no form that changes servers or profiles is shown.
    pub manages: bool,
    /// False if calls are not recorded: then nothing is known about earlier calls.
    pub records_calls: bool,
    /// The number of servers that cannot be used now.
    pub failing_servers: u32,
    /// The number of tools whose definitions await approval.
    pub pending_definitions: u32,
    /// The result of the last form submission, shown once at the top of the page.
    pub notice: Option<Notice>,
}

/// The importance of a message. Pages show it by an icon and a word, not by color alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Severity {
    /// Something worked.
    Good,
    /// Nothing needs to be done.
    #[default]
    Note,
    /// Something needs attention.
    Warning,
    /// Something does not work.
    Bad,
}

/// A message at the top of a page.
#[derive(Debug, Clone, Default)]
pub struct Notice {
    /// The importance of the message.
    pub severity: Severity,
    /// One sentence: what happened.
    pub text: ForeignText,
    /// Advice: the next step.
    pub advice: Option<ForeignText>,
}

/// The login page. It has no session, so its form has no token; the gateway checks that the form came from its own page.
#[derive(Debug, Clone, Default)]
pub struct LoginPage {
    /// The address of the gateway as browsers see it.
    pub address: ForeignText,
    /// True if administrators with passwords are configured; otherwise the page only explains the one-time link.
    pub passwords: bool,
    /// The name that was entered before.
    pub name: ForeignText,
    /// The reason why the last attempt failed, or why nobody can log in over this connection.
    pub notice: Option<Notice>,
    /// The path to open after the login; always one of our own pages.
    pub next: String,
}

/// The question before something is done that cannot be undone, or that interrupts others. The form is sent again to the same
/// address, with the same fields and with `sure`.
#[derive(Debug, Clone, Default)]
pub struct ConfirmPage {
    /// The question in a few words: `End the session?`
    pub question: &'static str,
    /// The thing that is concerned.
    pub subject: ForeignText,
    /// The effect, in one sentence.
    pub effect: &'static str,
    /// The label of the button that does it.
    pub words: &'static str,
    /// The address of the form.
    pub action: String,
    /// The fields of the form: names and values.
    pub fields: Vec<(String, String)>,
    /// The page to which the operator returns without doing it, always one of our own pages.
    pub back: String,
}

/// A page that could not be shown.
#[derive(Debug, Clone, Default)]
pub struct ErrorPage {
    /// The HTTP status.
    pub status: u16,
    /// The failure in a few words.
    pub title: String,
    /// The failure, with the value at fault.
    pub text: ForeignText,
    /// Advice: the next step.
    pub advice: String,
}

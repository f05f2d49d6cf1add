//! `audit`: the audit log of calls.

use std::time::Duration;

use crate::reading::rows::section;
use crate::reading::spellings::{Flag, Time, path, texts};
use crate::values::check::Flaw;
use crate::values::text::Text;

section! {
    /// The record of all calls.
    pub struct Audit: "true, false, or a mapping with `file`, `arguments`, …" [
        /// The database file. A relative path is resolved from the state folder.
        "file" file: Text = path(), default Text::plain(Audit::FILE);
        /// Also stores the arguments of calls.
        "arguments" arguments: bool = Flag;
        /// Names of arguments whose values are never stored. A word covers every name that contains the word; a pattern with `*` or
        /// `?` covers every name that matches the whole pattern. Only letters and digits are compared, and case does not matter.
        "redact" redact: Vec<String> = texts(redacted),
            default Audit::REDACT.iter().map(|word| (*word).to_owned()).collect();
        /// Shares the entries, without arguments, with the other gateways of a cluster, so that each of them can show the calls of all
        /// gateways. It has no effect without `cluster`.
        "share" share: bool = Flag, default true;
        /// The time for which an entry is kept, such as `30d` or `12h`.
        "keep" keep: Duration = Time { least: Duration::from_hours(1), most: Duration::from_hours(3650 * 24) },
            default Duration::from_hours(30 * 24);
    ]
}

impl Audit {
    /// The default name of the file.
    pub const FILE: &str = "audit.db";
    /// The names that are redacted by default.
    pub const REDACT: &[&str] =
        &["password", "passwd", "secret", "token", "authorization", "apikey", "api_key", "credential"];
}

fn redacted(word: &Text) -> Result<String, Flaw> {
    if word.expose().trim().is_empty() {
        return Err(Flaw::new(
            "this would redact every argument",
            "write part of an argument's name, such as: password",
        ));
    }
    Ok(word.expose().to_ascii_lowercase())
}

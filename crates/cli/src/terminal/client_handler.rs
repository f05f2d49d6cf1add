//! A server's messages and questions before its answer: progress and log messages go to stderr, questions go to the
//! user.
//!
//! Only the user answers questions. Without a terminal, questions are declined.

use std::io::BufRead as _;
use std::time::Duration;

use bytes::Bytes;
use proto::mcp::{Method, Notice};
use proto::rpc::{Frame, Id, code, error_response, result_response};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::form::{Field, FieldInput, fields};
use super::pretty::pretty;
use crate::output::console::{Console, message as shortened, one_line};
use crate::output::{layout, status_line};

/// The line that declines a question.
const NO: &str = "!";

/// The maximum length of a line that is read from the user, in bytes.
const LINE: u64 = 1 << 20;

/// The maximum length of a server's text that is quoted on one line, in columns.
const MOST_QUOTED: usize = 200;

/// The maximum length of an address that a user is asked to open, in bytes.
const LONGEST_URL: usize = 4096;

/// The maximum length of a progress message that is read, in bytes.
const LONGEST: usize = 4096;

/// The reason why a question is not answered.
#[derive(Debug)]
pub(super) struct Unanswerable {
    code: i32,
    pub(super) message: String,
}

/// Handles the messages and questions of a server at the user's terminal.
#[derive(Debug)]
pub(crate) struct ClientHandler<'c> {
    console: &'c Console,
    /// True if the user can be asked: stdin and stderr are terminals, and stdin is free.
    can_ask: bool,
    /// The last progress of the open request.
    progress: Option<String>,
}

impl<'c> ClientHandler<'c> {
    /// Creates a handler; `stdin_is_taken` is true if the command reads stdin.
    pub(crate) fn new(console: &'c Console, stdin_is_taken: bool) -> Self {
        Self { console, can_ask: console.can_ask && !stdin_is_taken, progress: None }
    }

    /// Returns true if the user can be asked.
    pub(crate) fn can_ask(&self) -> bool {
        self.can_ask
    }

    /// Awaits `work`, which belongs to a request that was sent at `since`, and shows what the command is waiting for.
    pub(super) async fn watched<T>(&self, since: Instant, work: impl Future<Output = T>) -> T {
        let progress = self.progress.as_deref();
        status_line::watched(self.console, since, |waited| waiting_line(progress, waited), work).await
    }

    /// Returns the lowest level of log messages that the user requested; `None` if the user requested none.
    pub(crate) fn log_level(&self) -> Option<&'static str> {
        match self.console.verbose {
            0 => None,
            1 => Some("info"),
            _ => Some("debug"),
        }
    }

    /// Handles a notification.
    pub(super) fn hear(&mut self, frame: &Frame) {
        let params = params(frame);
        match Notice::from_name(&frame.method()) {
            Some(Notice::Progress) => self.progress(&params),
            Some(Notice::Message) if self.console.verbose > 0 => {
                self.console.note(&log_line(&params));
            }
            _ => tracing::debug!("notification {}", one_line(&frame.method())),
        }
    }

    fn progress(&mut self, params: &Value) {
        let line = progress_line(params);
        if self.console.err_is_terminal && !self.console.quiet {
            status_line::draw(self.console, &line);
            self.progress = Some(line);
        } else if self.console.verbose > 0 {
            self.console.note(&line);
        }
    }

    /// Forgets the progress of a request that has ended, and clears its line.
    pub(super) fn settle(&mut self) {
        self.progress = None;
        status_line::clear();
    }

    /// Returns the response to a request from the server.
    pub(super) async fn answer(&mut self, frame: &Frame) -> Bytes {
        let Some(id) = frame.id() else { return Bytes::new() };
        let params = frame.params().map_or(b"{}".as_slice(), |params| params.members.span().of(frame.text()));
        respond(id, self.ask(&frame.method(), params).await)
    }

    /// Returns the answer to a question, as JSON text.
    ///
    /// # Errors
    /// Fails if this client cannot answer such questions.
    pub(super) async fn ask(&mut self, method: &str, params: &[u8]) -> Result<String, Unanswerable> {
        status_line::clear();
        match Method::from_name(method) {
            Some(Method::Ping) => Ok("{}".to_owned()),
            Some(Method::Elicit) => {
                let params = serde_json::from_slice(params).unwrap_or_default();
                Ok(self.elicit(&params).await.to_string())
            }
            _ => Err(Unanswerable {
                code: code::METHOD_NOT_FOUND,
                message: format!(
                    "the server asked for {}, which this client does not support",
                    one_line(method)
                ),
            }),
        }
    }

    async fn elicit(&mut self, params: &Value) -> Value {
        let message = params["message"].as_str().unwrap_or("(no message)");
        if !self.can_ask {
            let what = layout::cut(&one_line(message), MOST_QUOTED);
            self.console.note(&format!(
                "declined the server's question {what:?}, because there is no terminal to answer it on"
            ));
            return json!({"action": "decline"});
        }
        let head = "The server asks:";
        let text = format!("{head} {}", shortened(message));
        let text = self.console.fitted_err(&text, 2);
        self.console.complain(&text.replacen(head, &self.console.err.bold(head), 1));
        match params["url"].as_str() {
            Some(url) => self.open_url(url).await,
            None => self.fill_in(&fields(&params["requestedSchema"])).await,
        }
    }

    /// Lets the user decide whether to open the address; nothing is opened or fetched for the user. An address that could not
    /// be shown in full is declined.
    async fn open_url(&self, url: &str) -> Value {
        if url.len() > LONGEST_URL {
            self.console
                .note(&format!("declined to open an address, because it is longer than {LONGEST_URL} bytes"));
            return json!({"action": "decline"});
        }
        let host = url.split("://").nth(1).and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or(url);
        self.console.complain(&format!(
            "The server asks you to open this address at {}:",
            self.console.err.bold(&layout::cut(&one_line(host), MOST_QUOTED))
        ));
        self.console.complain(&format!("  {}", self.console.err.cyan(&one_line(url))));
        match self.line(&format!("Open it in a browser, then press Enter ({NO} declines): ")).await {
            None => json!({"action": "cancel"}),
            Some(line) if line == NO => json!({"action": "decline"}),
            Some(_) => json!({"action": "accept"}),
        }
    }

    async fn fill_in(&self, form: &[Field]) -> Value {
        if form.is_empty() {
            return match self.line(&format!("Press Enter to agree ({NO} declines): ")).await {
                None => json!({"action": "cancel"}),
                Some(line) if line == NO => json!({"action": "decline"}),
                Some(_) => json!({"action": "accept", "content": {}}),
            };
        }
        self.console.complain(
            &self.console.err.dim(&format!("(Enter accepts the value in brackets, {NO} declines)")),
        );
        let mut content = Map::new();
        for field in form {
            loop {
                for line in field.about() {
                    self.console.complain(&self.console.fitted_err(&line, 4));
                }
                let Some(line) = self.line(&field.prompt()).await else { return json!({"action": "cancel"}) };
                if line == NO {
                    return json!({"action": "decline"});
                }
                match field.read(&line) {
                    Ok(FieldInput::Value(value)) => {
                        content.insert(field.name.clone(), value);
                        break;
                    }
                    Ok(FieldInput::Nothing) => break,
                    Err(why) => self.console.complain(&format!("  {}", self.console.err.yellow(&why))),
                }
            }
        }
        json!({"action": "accept", "content": content})
    }

    /// Reads a line from the user; returns `None` at the end of input.
    async fn line(&self, prompt: &str) -> Option<String> {
        self.console.hint(&format!("  {prompt}"));
        let read = transport::task::spawn_blocking(|| {
            let mut line = String::new();
            let mut stdin = std::io::Read::take(std::io::stdin().lock(), LINE);
            stdin.read_line(&mut line).ok().filter(|count| *count > 0).map(|_| line)
        });
        read.await.ok().flatten().map(|line| line.trim().to_owned())
    }
}

/// Returns the line that is shown while a request waits: its progress if it reports any, and the time since it was sent.
fn waiting_line(progress: Option<&str>, waited: Duration) -> String {
    let seconds = waited.as_secs();
    match progress {
        Some(progress) => format!("{progress} ({seconds} s)"),
        None => format!("waiting for an answer, {seconds} s; Ctrl-C cancels"),
    }
}

fn respond(id: &Id, answer: Result<String, Unanswerable>) -> Bytes {
    match answer {
        Ok(result) => result_response(id, result.as_bytes()),
        Err(why) => error_response(Some(id), why.code, &why.message, None),
    }
}

fn params(frame: &Frame) -> Value {
    let params = frame.params().map(|params| params.members.span().of(frame.text()));
    params.and_then(|text| serde_json::from_slice(text).ok()).unwrap_or_default()
}

fn progress_line(params: &Value) -> String {
    let done = params["progress"].as_f64().unwrap_or(0.0);
    let share = match params["total"].as_f64() {
        Some(total) if total > 0.0 => format!("{:.0}%", (done / total * 100.0).clamp(0.0, 100.0)),
        _ => done.to_string(),
    };
    let message = params["message"].as_str().unwrap_or("working");
    let kept = &message[..message.floor_char_boundary(LONGEST)];
    format!("{share:>4} {}", layout::cut(&one_line(kept), MOST_QUOTED))
}

fn log_line(params: &Value) -> String {
    let level = params["level"].as_str().unwrap_or("info");
    let logger = params["logger"].as_str().map(|name| format!("{}: ", one_line(name))).unwrap_or_default();
    let text = match &params["data"] {
        Value::String(text) => text.clone(),
        other => pretty(other.to_string().as_bytes()),
    };
    format!("[{}] {logger}{}", one_line(level), shortened(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_one_line() {
        for (params, want) in [
            (
                json!({"progress": 50, "total": 200, "message": "half\nway\u{1b}[2J"}),
                " 25% half way\\u{1b}[2J",
            ),
            (json!({"progress": 3}), "   3 working"),
            (json!({"progress": 9, "total": 0}), "   9 working"),
            (json!({}), "   0 working"),
        ] {
            assert_eq!(progress_line(&params), want);
        }
    }

    #[test]
    fn a_waiting_request_says_for_how_long() {
        let waited = Duration::from_millis(5_900);
        assert_eq!(waiting_line(Some(" 50% step 2"), waited), " 50% step 2 (5 s)");
        assert_eq!(waiting_line(None, waited), "waiting for an answer, 5 s; Ctrl-C cancels");
    }

    #[test]
    fn log_messages_name_level_and_logger() {
        let line = log_line(&json!({"level": "warning", "logger": "db", "data": "slow"}));
        assert_eq!(line, "[warning] db: slow");
        assert_eq!(log_line(&json!({"level": "info", "data": {"a": 1}})), "[info] {\n  \"a\": 1\n}");
    }
}

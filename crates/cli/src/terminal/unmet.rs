//! Messages for connections that fail: what failed, and what the user can do. This module must not know how connections are
//! made.

use proto::era::Era;
use serde_json::Value;
use transport::child::ChildError;
use transport::up::{CredentialRefusal, LinkError};

use crate::output::console::one_line;
use crate::output::failure::Failure;
use crate::output::layout::cut;
use upstream::mask::Mask;

/// The hint for a program that does not speak MCP.
const NOT_STDIO: &str = "check that this command starts an MCP server on stdin and stdout; reach a server \
                         that listens for HTTP by its URL";

/// Returns the failure for a connection that could not be opened.
pub(super) fn unmet(name: &str, error: &LinkError, mask: &Mask, pinned: Option<&'static Era>) -> Failure {
    let failure = link_failure(name, error, mask);
    match error.cause() {
        LinkError::Refused { .. } | LinkError::Hello(_) if pinned.is_some() => {
            failure.help("omit --era to detect its version")
        }
        LinkError::NotStarted { first_line: Some(_), .. } => failure.help(NOT_STDIO),
        LinkError::NotStarted { .. } => failure.help(
            "allow more time with --timeout SECONDS (startTimeout for a configured server), or watch the connection with -vv",
        ),
        // The server's own message is more specific.
        LinkError::Child(ChildError::Exited(exit)) if exit.stderr.text.trim().is_empty() => {
            failure.help(NOT_STDIO)
        }
        _ => failure,
    }
}

/// Returns the failure for a link error, with a suggested fix.
pub(super) fn link_failure(name: &str, error: &LinkError, mask: &Mask) -> Failure {
    let message = match error.cause() {
        // These errors already name the host, the program and the fix.
        LinkError::Http(e) => return Failure::new(mask.show(e)),
        LinkError::Spawn(e) => return Failure::new(mask.show(e)),
        LinkError::Child(e) => return Failure::new(mask.show(e)),
        LinkError::Unauthorized(refusal) => {
            let CredentialRefusal { status, challenge, body, shown, .. } = &**refusal;
            return credentials_refused(name, *status, body, challenge, shown.is_some(), mask);
        }
        LinkError::Status { status: status @ (401 | 403), body } => {
            return credentials_refused(name, *status, body, "", false, mask);
        }
        LinkError::Status { status, body } => answered(name, *status, body),
        other => format!("{name} {other}"),
    };
    let failure = Failure::new(mask.show(&message));
    match error.cause() {
        LinkError::Status { status: 300..=399, .. } => {
            failure.help("redirects are not followed: use the URL that the server redirects to")
        }
        LinkError::Status { status: 404 | 405, .. } => {
            failure.help("check the path: an MCP endpoint often ends in /mcp")
        }
        LinkError::NotAMessage(_) | LinkError::BrokeOff(_) => {
            failure.help("check that this is the URL or the command of an MCP server")
        }
        LinkError::Late(_) => {
            failure.help("allow more time with --timeout SECONDS, or watch the connection with -vv")
        }
        LinkError::OtherEra { .. } => failure.help("omit --era, or give the server's version"),
        _ => failure,
    }
}

/// Returns the message about an answer that is not MCP: the HTTP status, and the text for people in the body.
fn answered(name: &str, status: u16, body: &str) -> String {
    /// The maximum length of a body in a message, in columns.
    const MOST: usize = 300;
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    let told = parsed.as_ref().and_then(|value| {
        let error = value.get("error").unwrap_or(value);
        let texts =
            [&error["message"], &value["error_description"], &value["message"], &value["detail"], error];
        texts.into_iter().find_map(Value::as_str)
    });
    let told = cut(&one_line(told.unwrap_or(body)), MOST);
    let gap = if told.is_empty() { "" } else { ": " };
    format!("{name} answered HTTP {status}{gap}{told}")
}

/// Returns the failure for a server that requires credentials, or that rejected the credentials sent. The challenge
/// determines how to send them.
fn credentials_refused(
    name: &str,
    status: u16,
    body: &str,
    challenge: &str,
    were_sent: bool,
    mask: &Mask,
) -> Failure {
    let kind = challenge.split_ascii_whitespace().next().unwrap_or_default();
    let header = if kind.eq_ignore_ascii_case("basic") {
        "--header \"Authorization: Basic $(printf %s 'USER:PASSWORD' | base64)\""
    } else {
        "--header 'Authorization: Bearer TOKEN'"
    };
    let help = match (status, were_sent) {
        (403, _) => {
            "the server recognized these credentials, but they do not allow this; send others: ".to_owned()
        }
        (_, true) => "the server did not accept the credentials that were sent; send others: ".to_owned(),
        (_, false) => "this server requires credentials; send them with ".to_owned(),
    };
    let more = "(`headers` for a configured server; if the server is a Dragoman, `dragoman key new NAME` creates a key)";
    Failure::new(mask.show(&answered(name, status, body))).help(format!("{help}{header} {more}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_part_of_a_body_that_is_for_people_is_shown() {
        for (body, want) in [
            (
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"authentication required"}}"#,
                ": authentication required",
            ),
            (r#"{"error":"invalid_token","error_description":"it has expired"}"#, ": it has expired"),
            (r#"{"detail":"Not Found"}"#, ": Not Found"),
            ("Dragoman\n\nMCP endpoints:\n  /mcp\n", ": Dragoman MCP endpoints: /mcp"),
            ("", ""),
        ] {
            assert_eq!(answered("h", 401, body), format!("h answered HTTP 401{want}"));
        }
    }

    #[test]
    fn a_refusal_says_how_to_send_credentials() {
        let help = |status, challenge, were_sent| {
            let failure = credentials_refused("h", status, "", challenge, were_sent, &Mask::default());
            let Failure::Explained { help: Some(help), .. } = failure else { panic!("no help") };
            help
        };
        assert!(
            help(401, "", false).starts_with(
                "this server requires credentials; send them with --header 'Authorization: Bearer"
            )
        );
        assert!(help(401, "Basic realm=\"x\"", false).contains("Authorization: Basic $(printf"));
        assert!(help(401, "Bearer", true).contains("did not accept the credentials that were sent"));
        assert!(help(403, "Bearer error=\"insufficient_scope\"", true).contains("do not allow this"));
    }

    #[test]
    fn failures_come_with_help() {
        for (status, says) in [(401, "--header"), (302, "redirects"), (404, "/mcp")] {
            let failure = link_failure(
                "http://h/",
                &LinkError::Status { status, body: "no".to_owned() },
                &Mask::default(),
            );
            let Failure::Explained { message, help: Some(help), .. } = failure else { panic!("no help") };
            assert!(message.contains("http://h/ answered HTTP") && help.contains(says), "{message} {help}");
        }
    }
}

//! The client behind `list`, `call`, `read`, `prompt` and `ping`: one connection to one server, and what is shown of it.
//!
//! | file | is for |
//! |---|---|
//! | `target` | what is connected to: a URL, a command, an embedded server |
//! | `connect` | the way into a conversation: which era a server speaks |
//! | `connection` | requests and answers, whatever the transport |
//! | `rounds` | requests that are answered with questions, and cancelling |
//! | `desk` | what a server says and asks meanwhile: progress, log messages, questions |
//! | `form` | a question's form: fields, what may be typed into them |
//! | `arguments` | a tool's arguments out of what was typed |
//! | `offer` | what a server lists |
//! | `show`, `pretty`, `save` | results for people: content blocks, JSON, files |
//!
//! It must not know the command line; the commands in `cli` use it.

pub(crate) mod arguments;
pub(crate) mod connect;
pub(crate) mod connection;
mod desk;
mod form;
pub(crate) mod offer;
pub(crate) mod pretty;
pub(crate) mod rounds;
pub(crate) mod save;
pub(crate) mod show;
pub(crate) mod target;

pub(crate) use connection::Connection;
pub(crate) use desk::Desk;

/// What this client says of itself.
pub(crate) const CLIENT_INFO: &str = concat!(
    r#"{"name":"dragoman-terminal","title":"Dragoman in a terminal","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}"#
);

/// What this client can do: ask its user.
pub(crate) const CAPABILITIES: &str = r#"{"elicitation":{"form":{},"url":{}}}"#;

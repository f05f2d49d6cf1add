//! The client behind `list`, `call`, `read`, `prompt` and `ping`: one connection to one server, and the display of the
//! server's answers.
//!
//! | file | is for |
//! |---|---|
//! | `target` | the server: a URL, a command, an embedded server |
//! | `connect` | the connection to a server, with detection of its era |
//! | `unmet` | messages for connections that fail |
//! | `connection` | requests and answers over any transport |
//! | `rounds` | requests that are answered with questions, and cancelling |
//! | `client_handler` | a server's messages and questions before its answer |
//! | `form` | a question's form: fields and valid input |
//! | `arguments` | a tool's arguments from the command line |
//! | `parameters` | a tool's arguments as lines for people |
//! | `detail` | one entry of a list in full |
//! | `catalogue` | a server's lists |
//! | `show`, `pretty`, `save` | results for people: content blocks, JSON, files |
//!
//! This module must not know the command line; the commands in `cli` use it.

pub(crate) mod arguments;
pub(crate) mod catalogue;
mod client_handler;
pub(crate) mod connect;
pub(crate) mod connection;
pub(crate) mod detail;
mod form;
pub(crate) mod parameters;
pub(crate) mod pretty;
pub(crate) mod rounds;
pub(crate) mod save;
pub(crate) mod show;
pub(crate) mod target;
mod unmet;

pub(crate) use client_handler::ClientHandler;
pub(crate) use connection::Connection;

/// This client's introduction.
pub(crate) const CLIENT_INFO: &str = concat!(
    r#"{"name":"dragoman-terminal","title":"Dragoman in a terminal","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}"#
);

/// This client's capabilities: it can ask its user.
pub(crate) const CAPABILITIES: &str = r#"{"elicitation":{"form":{},"url":{}}}"#;

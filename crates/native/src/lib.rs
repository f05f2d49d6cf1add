//! Servers that are embedded in the binary: they answer frames, and never touch a socket, a file or a clock.
//!
//! A native server is an upstream like any other, except that no link leads to it. This crate must not know how frames
//! are moved, or what a client's session is.
//!
//! | module | is for |
//! |---|---|
//! | [`server`] | the interface of every native server: its introduction, its answers, and the era of its requests |
//! | [`passing`] | files that are read from one server while they are sent to another |
//! | [`port`] | services that native servers need from their host: HTTP requests and a clock |
//! | `arguments` | declaring, reading and checking the arguments of tools; failures of calls |
//! | `tools` | the common parts of servers of tools: tools as rows, lists and calls |
//! | `html` | markup, made harmless or removed |
//! | `rest` | the interpreter of tools that send requests |
//! | [`demo`] | a few harmless tools, a resource and a prompt for a first try |
//! | [`plain`] | a greeting, an echo, sums, joined texts, a calculator |
//! | [`site`] | a WordPress site as the target of requests |
//! | `unknown` | arguments that a tool does not have |
//! | `refusal` | a site's error as the failure of a call |
//! | `hints` | likely reasons for a site's refusal |
//! | `references` | arguments of changes that refer to other items of a site |
//! | `roleless` | accounts without a role on a site |
//! | [`wordpress`] | tools for any WordPress site |
//! | `discover` | tools for APIs of a site that have no tools of their own |
//! | [`community`] | tools for BuddyBoss and BuddyPress |
//! | [`woocommerce`] | tools for shops with WooCommerce |
//! | [`heritage`] | encyclopedias and registers of cultural heritage in Norway |

mod arguments;
pub mod community;
pub mod demo;
mod discover;
pub mod heritage;
mod hints;
mod html;
pub mod passing;
pub mod plain;
pub mod port;
mod references;
mod refusal;
mod rest;
mod roleless;
pub mod server;
pub mod site;
mod tools;
mod unknown;
pub mod woocommerce;
pub mod wordpress;

pub use demo::Demo;
pub use passing::{FileStream, FileTransfer, HttpBody, PassedFile};
pub use port::{
    ArrivingBody, HttpClient, HttpFault, HttpFaultKind, HttpRequest, HttpResponse, OpenedResponse, Pending,
    Verb,
};
pub use rest::AnswerStyle;
pub use server::{
    Answering, Mapped, NativeCall, NativeRefusal, NativeServer, PendingResponse, SiteLogin, spoken,
};
pub use site::{Requests, SiteSettings};
pub use tools::ToolServer;
pub use unknown::UnknownArguments;

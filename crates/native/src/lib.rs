//! Servers that live in the binary: they answer frames, and never touch a socket, a file or a clock.
//!
//! A native server is an upstream like any other, only that no link leads to it. What moves its frames, and what a
//! client's session is, must not be known here.
//!
//! | module | is for |
//! |---|---|
//! | [`server`] | what every native server can do: say hello, answer a request; in which era it is asked |
//! | [`port`] | what native servers need of the world: HTTP requests and a clock |
//! | `arguments` | arguments of tools: declared, read, checked; why a call fails |
//! | `tools` | what servers of tools share: tools as rows, lists and calls |
//! | `html` | markup made harmless, or taken off |
//! | `rest` | the interpreter of tools that send requests |
//! | [`demo`] | a few harmless tools, a resource and a prompt to try things out with |
//! | [`plain`] | a greeting, an echo, sums, joined texts, a calculator |
//! | [`site`] | a WordPress site as the place that requests go to |
//! | `unknown` | arguments that a tool does not have |
//! | `nearest` | which known name a mistyped one was meant to be |
//! | `hints` | what a site's refusal may be about |
//! | [`wordpress`] | tools for any WordPress site |
//! | `discover` | tools for what a site offers beside what is known |
//! | [`community`] | tools for BuddyBoss and BuddyPress |
//! | [`heritage`] | encyclopaedias and registers of cultural heritage in Norway |

mod arguments;
pub mod community;
pub mod demo;
mod discover;
pub mod heritage;
mod hints;
mod html;
mod nearest;
pub mod plain;
pub mod port;
mod rest;
pub mod server;
pub mod site;
mod tools;
mod unknown;
pub mod wordpress;

pub use demo::Demo;
pub use port::{HttpClient, HttpFault, HttpFaultKind, HttpRequest, HttpResponse, Pending, Verb};
pub use rest::AnswerStyle;
pub use server::{Answering, Mapped, NativeCall, NativeRefusal, NativeServer, SiteLogin, Soon, spoken};
pub use site::{Requests, SiteSettings};
pub use tools::ToolServer;
pub use unknown::UnknownArguments;

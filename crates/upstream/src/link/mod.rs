//! One open link to a server, whatever its transport: requests over it, what the server is told there, and who uses it.
//! It must not know when links are opened.
//!
//! | file | is for |
//! |---|---|
//! | [`open_link`] | the link, and what is noted on it |
//! | [`user`] | a client with a session, as links know it |
//! | [`wire`] | the transports side by side |
//! | [`reply`] | what a request is answered with |
//! | [`sending`] | requests, and what is done when they are refused |
//! | `probe`, `doubt` | the question that settles whether the server is another now; what a refusal then means |
//! | `outbox` | what the server is told without anybody waiting |
//! | [`requests`] | requests of the gateway's own |

mod doubt;
pub mod open_link;
mod outbox;
mod probe;
pub mod reply;
pub mod requests;
pub mod sending;
pub mod user;
pub mod wire;

pub use open_link::{Inbound, Needed, OpenLink};
pub use user::LinkUser;
pub use wire::Wire;

//! Servers that live in the binary: they answer frames, and never touch a socket, a file or a clock.
//!
//! A native server is an upstream like any other, only that no link leads to it. What moves its frames, and what a
//! client's session is, must not be known here.
//!
//! | module | is for |
//! |---|---|
//! | [`server`] | what every native server can do: say hello, answer a request; in which era it is asked |
//! | [`demo`] | a few harmless tools, a resource and a prompt to try things out with |

pub mod demo;
pub mod server;

pub use demo::Demo;
pub use server::{NativeServer, Refusal, spoken};

//! What tests of the whole binary need: the running gateway, raw clients, upstreams good and bad.
//!
//! | file | is for |
//! |---|---|
//! | `gateway` | the process `dragoman serve`: started, asked, stopped, killed when dropped |
//! | `http` | an HTTP/1.1 client that shows what is on the wire |
//! | `session` | clients of either era on top of it |
//! | `stdio` | a client of `dragoman stdio` |
//! | `upstreams` | servers behind the gateway, and the lines of configuration that name them |
//! | `puppet` | an upstream over HTTP whose every answer a test decides |
//! | `actor` | an upstream over HTTP that does as a test tells it, call by call |
//! | `scene` | a gateway with a well-behaved server, and what a test puts beside it |
//! | `process` | what the operating system knows of processes |
//!
//! It must not use the product's code, which it judges. Everything has a deadline, and nothing sleeps where an event
//! can be awaited.

// Each test program uses its own part of this.
#![allow(dead_code, unused_imports)]

mod actor;
mod gateway;
mod http;
mod process;
mod puppet;
mod scene;
mod session;
mod stdio;
mod upstreams;

use std::time::Duration;

pub(crate) use actor::{Actor, Line, Speaks};
pub(crate) use gateway::{Ended, Gateway, Output, Start, Started, run_to_end, start};
pub(crate) use http::{Headers, Http, Reply};
pub(crate) use process::{children_of, descendants_of, is_running, kill, memory_now, peak_memory, until};
pub(crate) use puppet::{Puppet, Received, Said};
pub(crate) use scene::Scene;
pub(crate) use session::{
    LEGACY, Legacy, MODERN, Modern, error_code, error_message, meta, request, text, tool_names, under_way,
};
pub(crate) use stdio::Stdio;
pub(crate) use upstreams::{OddHttp, fixture, odd_stdio, quoted};

/// No step of a test takes longer on a machine that works, however busy it is.
pub(crate) const DEADLINE: Duration = Duration::from_mins(1);

/// Awaits `step`, but not for ever.
pub(crate) async fn soon<T>(what: &str, step: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(DEADLINE, step).await;
    done.unwrap_or_else(|_| panic!("{what}: not within {DEADLINE:?}"))
}

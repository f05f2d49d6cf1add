//! What tests of the whole binary need: the running gateway, raw clients, upstreams good and bad.
//!
//! | file | is for |
//! |---|---|
//! | `gateway` | the process `dragoman serve`: started, asked, stopped, killed when dropped |
//! | `stdio` | the process `dragoman stdio`, and its client |
//! | `alone` | a gateway for one client of any version, and that client |
//! | `upstreams` | servers behind the gateway, and the lines of configuration that name them |
//! | `puppet` | an upstream over HTTP whose every answer a test decides |
//! | `actor` | an upstream over HTTP that does as a test tells it, call by call |
//! | `scene` | a gateway with a well-behaved server, and what a test puts beside it |
//! | `process` | what the operating system knows of processes |
//!
//! The clients themselves are `testkit::client`, whose names are exported here, too.
//!
//! It must not use the product's code, which it judges. Everything has a deadline, and nothing sleeps where an event
//! can be awaited.

// Each test program uses its own part of this.
#![allow(dead_code, unused_imports)]

mod actor;
mod alone;
mod gateway;
mod process;
mod puppet;
mod scene;
mod stdio;
mod upstreams;

pub(crate) use actor::{Actor, Line, Speaks};
pub(crate) use alone::{Alone, Over, connect};
pub(crate) use gateway::{Ended, Gateway, Output, Start, Started, run_to_end, start};
pub(crate) use process::{
    GUARDIAN, HOLDER, children_of, descendants_of, family_of, is_running, kill, memory_now, named,
    peak_memory, until,
};
pub(crate) use puppet::{Puppet, Received, Said};
pub(crate) use scene::{Scene, under_way};
pub(crate) use stdio::Stdio;
pub(crate) use testkit::client::{
    DEADLINE, Headers, Http, LEGACY, Legacy, MODERN, Modern, Reply, error_code, error_message, meta, request,
    soon, text, tool_names,
};
pub(crate) use upstreams::{OddHttp, fixture, odd_stdio, quoted};

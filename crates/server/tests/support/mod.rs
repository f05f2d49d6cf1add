//! The common parts of tests of the whole binary: the running gateway, low-level clients, well-behaved and
//! misbehaving upstreams.
//!
//! | file | is for |
//! |---|---|
//! | `gateway` | the process `dragoman serve`: starting it, sending requests, stopping it; killed when dropped |
//! | `stdio` | the process `dragoman stdio`, and its client |
//! | `alone` | a gateway for one client of any version, and that client |
//! | `upstreams` | servers behind the gateway, and the lines of configuration that name them |
//! | `puppet` | an upstream over HTTP for which a test decides every answer |
//! | `actor` | an upstream over HTTP that a test controls call by call |
//! | `scene` | a gateway with a well-behaved server, and the servers that a test adds |
//! | `process` | the operating system's information about processes |
//!
//! The clients themselves are in `testkit::client`, whose names are also exported here.
//!
//! It must not use the product's code, because it judges that code. Every wait has a deadline, and nothing sleeps if
//! there is an event to await.

// Each test program uses only a part of this module.
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

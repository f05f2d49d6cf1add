//! Servers and profiles that are changed over HTTP while the gateway serves. These tests use the whole binary, over real
//! sockets.
//!
//! | file | is for |
//! |---|---|
//! | `place` | the gateway with a state folder, and its callers |
//! | `servers` | adding, changing, removing servers; secrets; their states |
//! | `health` | the state of servers: in the status, in the log, at `/ready` |
//! | `profiles` | profiles, their servers, and the tools of these servers |
//! | `refusals` | refused requests, each with its error name |
//! | `entrance` | access to management, and its rate limits |
//! | `deeds` | the record of changes |
//! | `socket` | the API on the socket in the state folder |
//! | `insight` | what operators see: the configuration, access, processes |
//! | `openapi` | every operation, checked against the OpenAPI document |
//! | `kept` | what survives a restart, and a change to the file |

#[path = "../support/mod.rs"]
mod support;

mod deeds;
mod entrance;
mod health;
mod insight;
mod kept;
mod openapi;
mod place;
mod profiles;
mod refusals;
mod servers;
mod socket;

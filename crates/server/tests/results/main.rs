//! Results of tools: long ones that are shortened, and those that are kept for later calls; and the limits that a profile sets for
//! calls of one tool. These tests use the whole binary, over real sockets.
//!
//! | file | is for |
//! |---|---|
//! | `library` | the server behind the gateway, and the callers |
//! | `long` | results above `maxResult`, for clients of every version |
//! | `remainders` | who may read a remainder, and for how long |
//! | `kept` | results from a cache, and everything that must not come from one |
//! | `limits` | the time and the number of calls of a tool |
//! | `tasks` | the same limits for calls that become tasks |

#[path = "../support/mod.rs"]
mod support;

mod kept;
mod library;
mod limits;
mod long;
mod remainders;
mod tasks;

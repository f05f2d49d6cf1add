//! Servers and profiles that are changed over HTTP while the gateway serves: through the whole binary, over real sockets.
//!
//! | file | is for |
//! |---|---|
//! | `place` | the gateway with its own folder of state, and who asks |
//! | `servers` | adding, changing, removing servers; secrets; how they do |
//! | `health` | the state of servers: in the status, in the log, at `/ready` |
//! | `profiles` | profiles, their servers, these servers' tools |
//! | `refusals` | what is refused, each by its name |
//! | `entrance` | who may manage, and how often |
//! | `deeds` | what is written down of it |
//! | `kept` | what a restart and a change of the file leave of it |

#[path = "../support/mod.rs"]
mod support;

mod deeds;
mod entrance;
mod health;
mod kept;
mod place;
mod profiles;
mod refusals;
mod servers;

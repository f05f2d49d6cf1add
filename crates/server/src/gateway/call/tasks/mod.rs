//! Calls that became tasks: what the gateway keeps for them where client and server do not speak of them in the same way,
//! and who hears of them.
//!
//! | file | is for |
//! |---|---|
//! | `kept` | what an answered call leaves behind, and clients' requests about that |
//! | `notices` | notices about tasks on a client's stream |
//!
//! What becomes of a message is decided in `proto::bridge::tasks` and `engine::tasks`.

mod kept;
mod notices;

pub(crate) use kept::{Asked, held, keep, serve};
pub(crate) use notices::{follow, wanted};

//! Calls that became tasks: what the gateway keeps for them where client and server do not speak of them in the same way,
//! and who hears of them.
//!
//! | file | is for |
//! |---|---|
//! | `notices` | notices about tasks on a client's stream |
//!
//! What becomes of a message is decided in `proto::bridge::tasks` and `engine::tasks`.

mod notices;

pub(super) use notices::{follow, wanted};

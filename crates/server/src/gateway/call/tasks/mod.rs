//! Calls that became tasks: what the gateway keeps for them where client and server do not speak of them in the same way,
//! and who hears of them.
//!
//! | file | is for |
//! |---|---|
//! | `kept` | what an answered call leaves behind, and clients' requests about that |
//! | `homes` | tasks that need the link over which they were begun |
//! | `home` | one of them: its link, and its server's questions |
//! | `notices` | notices about tasks on a client's stream |
//!
//! What becomes of a message is decided in `proto::bridge::tasks` and `engine::tasks`.

mod home;
mod homes;
mod kept;
mod notices;

pub(crate) use homes::Homes;
pub(crate) use kept::{Asked, held, keep, new_held, serve};
pub(crate) use notices::{follow, wanted};

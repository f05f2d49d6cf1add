//! Resources of one server that anybody listens to: the server is told once what any of them wants, and what it says goes to
//! all who want it. It must not know who they are.
//!
//! | file | is for |
//! |---|---|
//! | [`topics`] | what is wanted, and by whom |
//! | [`follower`] | whoever speaks to the server about it |
//! | [`telling`] | links of single calls and shared children are told of it, too |

pub mod follower;
pub mod telling;
pub mod topics;

pub use topics::{Heard, Listening, Told, Topics};

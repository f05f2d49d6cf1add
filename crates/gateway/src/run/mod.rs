//! The startup of the gateway, its periodic jobs, and its shutdown.
//!
//! | file | is for |
//! |---|---|
//! | [`start`] | starts serving threads from a checked configuration |
//! | `sweep` | periodic jobs |
//! | `shutdown`, `server_sessions` | the common end of all threads; the end of sessions at servers |
//! | `traces` | the sending of traces |
//! | `open_files` | the limit of open files |

mod open_files;
mod server_sessions;
mod shutdown;
mod start;
mod sweep;
mod traces;

pub use open_files::may_open_files;
pub use start::{Options, Ready, serve, stdio};

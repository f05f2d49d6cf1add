//! Start of the gateway, its periodic jobs, and its shutdown.
//!
//! | file | is for |
//! |---|---|
//! | [`start`] | from a checked configuration to threads that serve |
//! | `sweep` | periodic jobs |
//! | `shutdown`, `server_sessions` | the end of all threads together; the last goodbye to servers |
//! | `open_files` | the limit of open files |

mod open_files;
mod server_sessions;
mod shutdown;
mod start;
mod sweep;

pub use open_files::may_open_files;
pub use start::{Options, Ready, serve, stdio};

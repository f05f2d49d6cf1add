//! Changes to servers and profiles while Dragoman is running: which requests are valid, which configuration results
//! from them, and how changes are stored and shown. This module must not know HTTP, or how a configuration is put into
//! force.
//!
//! | file | is for |
//! |---|---|
//! | `standing` | the stored changes, and the resulting configuration |
//! | `differences` | the names of everything that a change affects |
//! | [`edits`] | edits on their way to the task that puts them into force |
//! | `servers`, `server_form`, `server_settings` | changes to servers; a server's form in the API and in a configuration; its other keys |
//! | `profiles`, `tools` | changes to profiles, to their servers, and to those servers' tools |
//! | [`pasted`] | servers in the forms in which other clients write them |
//! | `names` | names and slugs |
//! | `refusal` | the reason why an edit is refused |

pub mod differences;
pub mod edits;
mod names;
pub mod pasted;
mod profiles;
mod refusal;
mod server_form;
mod server_settings;
mod servers;
mod standing;
mod tools;

#[cfg(test)]
mod tests;

pub use differences::{Differences, differences};
pub use profiles::{
    add_profile, add_server_to_profile, change_profile, change_profile_server, clone_profile, profile,
    profile_servers, profiles, remove_profile, remove_server_from_profile, toggle_profile_server,
};
pub use refusal::Refusal;
pub use servers::{add_server, change_server, remove_server, server, servers, set_api_key};
pub use standing::{Changes, Standing};
pub use tools::{ListedTool, profile_tools, set_profile_tools};

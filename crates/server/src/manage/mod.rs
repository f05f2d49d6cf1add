//! Servers and profiles that are changed while Dragoman serves: what may be asked for, what it makes of the configuration, how
//! it is kept and shown. It must not know HTTP, nor how a configuration is put in force.
//!
//! | file | is for |
//! |---|---|
//! | `changes` | what was changed, as it is kept, and laid over a configuration |
//! | `differences` | what a change is about |
//! | `servers`, `server_form` | changes of servers; how they are written and shown here, and in a configuration |
//! | `profiles`, `tools` | changes of profiles, of their servers, of these servers' tools |
//! | `names` | names and slugs |
//! | `refusal` | why something cannot be |

mod changes;
mod differences;
mod names;
mod profiles;
mod refusal;
mod server_form;
mod servers;
mod tools;

#[cfg(test)]
mod tests;

pub(crate) use changes::{Changes, Standing};
pub(crate) use differences::{Differences, differences};
pub(crate) use profiles::{
    add_profile, add_server_to_profile, change_profile, change_profile_server, profile, profile_servers,
    profiles, remove_profile, remove_server_from_profile, toggle_profile_server,
};
pub(crate) use refusal::Refusal;
pub(crate) use servers::{add_server, change_server, remove_server, server, servers, set_api_key};
pub(crate) use tools::{Known, profile_tools, set_profile_tools};

//! The settings of profiles: what clients see of the servers. This module must not know how a view applies them.
//!
//! | file | is for |
//! |---|---|
//! | [`profile`] | `profiles`: named views of the servers |
//! | [`name_rules`] | which tools and prompts are shown, and under which names |
//! | [`overrides`] | changes to single tools and prompts |
//! | [`tool_settings`] | these changes, together with those made at run time |
//! | [`server_info`] | the name and the appearance of a profile as one server; icons |

pub(crate) mod name_rules;
pub(crate) mod overrides;
pub(crate) mod profile;
pub(crate) mod server_info;
pub(crate) mod tool_settings;

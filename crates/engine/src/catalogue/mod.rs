//! The catalogue: the lists of the upstreams, merged into the view that a client sees.
//!
//! ```text
//!  upstream's hello ─► Gather ─► UpstreamCatalogue ─┐
//!  (every page)                                     ├─► View (names ↔ upstreams, ready lists) ─► requests
//!  profile rules ───────────────────────────────────┘
//! ```
//!
//! Pure: links supply the pages, and a view is rebuilt when a catalogue changes. Lists of an upstream in another era
//! are then translated to the clients' era, once for all clients. This module must not know transports.

pub mod assemble;
mod capabilities;
pub mod entry;
mod first_use;
mod fixed_arguments;
mod gather;
mod gather_notes;
mod hidden;
mod item;
mod mirrored;
mod names;
mod other_names;
mod overridden;
mod page_queue;
mod pages;
mod part;
mod resources;
mod restrictions;
mod selection;
mod server_description;
mod soundness;
pub mod stored;
mod suitability;
mod suited;
pub mod template;
mod template_index;
mod token_cost;
mod tool_limits;
mod tool_search;
mod unused_rules;
mod upstream_catalogue;
mod uri_mark;
mod uris;
mod validator;
mod view;
mod view_costs;
mod withheld;

#[cfg(test)]
mod tests;

pub use crate::list_kind::ListKind;
pub use capabilities::declares;
pub use entry::{PromptEntry, ToolEntry, UpstreamAbsence, UpstreamId, ViewSource, ViewSpec, renames_among};
pub use fixed_arguments::FixedArguments;
pub use gather::{Gather, GatherFault, GatherLimits};
pub use item::Item;
pub use mirrored::MirroredParam;
pub use names::{FormerNames, NameBook, NameLimit};
pub use pages::{NoPage, Pages};
pub use resources::{ResourceEntry, ServerUris};
pub use suitability::{Refusals, RefusedTool};
pub use token_cost::TokenCost;
pub use tool_limits::{CacheRule, NOTHING_KEPT, ToolLimits};
pub use tool_search::ToolSearch;
pub use upstream_catalogue::{ReadsArguments, UpstreamCatalogue};
pub use uri_mark::marked as uri_of_server;
pub use validator::Invalid;
pub use view::View;
pub use view_costs::{CostedTool, ViewCosts};

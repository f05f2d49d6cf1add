//! The operations of the management API: a table with one row for each. This module must not know how a caller is
//! admitted.
//!
//! | file | is for |
//! |---|---|
//! | `servers`, `definitions` | servers, their state, connections and items; changed definitions of tools |
//! | `profiles` | profiles, their servers and tools |
//! | `clients` | sessions, API keys, consents, and whether a caller may use a tool |
//! | `record` | the record of calls, and live events |
//! | `gateway` | the configuration, limits, health, and this API itself |
//! | `shapes` | the forms of requests, and of answers that are built as JSON |

mod clients;
mod definitions;
mod gateway;
mod profiles;
mod record;
mod servers;
mod shapes;

use super::table::Operation;

const ALL: &[&[Operation]] = &[
    servers::OPERATIONS,
    definitions::OPERATIONS,
    profiles::OPERATIONS,
    clients::OPERATIONS,
    record::OPERATIONS,
    gateway::OPERATIONS,
];

/// Returns all operations.
pub(super) fn all() -> impl Iterator<Item = &'static Operation> + Clone {
    ALL.iter().flat_map(|rows| rows.iter())
}

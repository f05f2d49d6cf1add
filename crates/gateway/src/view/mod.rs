//! One profile as one server: from the catalogues of its servers to ready bytes, kept up to date. This module must not
//! know transports, or how clients are notified: changes are reported through [`context::ViewObserver`].
//!
//! | file | is for |
//! |---|---|
//! | [`context`] | the context for making views |
//! | `client_class` | the properties of clients that affect what they are shown |
//! | [`views`] | the views that clients see: finds or makes them |
//! | [`view_cell`] | one view |
//! | `whole_views` | the views of profiles as operators see them |
//! | `basis` | the input of a view |
//! | `page_use` | the use of a view's ready pages |
//! | `upkeep` | periodic work on all views |
//! | [`revision`] | counts of list changes |
//! | `awaited` | calls that wait a moment for lists that are being fetched |
//! | `audience` | the receivers of changed catalogues |

mod audience;
mod awaited;
mod basis;
mod client_class;
pub(crate) mod context;
mod names;
mod page_use;
pub(crate) mod revision;
#[cfg(test)]
mod tests;
mod upkeep;
pub(crate) mod view_cell;
pub(crate) mod views;
mod whole_views;

pub(crate) use client_class::ClientClass;
pub(crate) use context::{NoKnownView, ViewContext, ViewState};
pub(crate) use view_cell::ViewCell;
pub use whole_views::WholeView;

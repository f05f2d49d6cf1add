//! One profile as one server: from what its servers offer to ready bytes, kept up to date. It must not know transports, or
//! how clients hear of changes: what must go up passes [`context::ViewObserver`].
//!
//! | file | is for |
//! |---|---|
//! | [`context`] | what views are made with |
//! | [`views`] | the views that clients see, found or made |
//! | [`view_cell`] | one of them |
//! | [`revision`] | how often its lists have changed |
//! | `audience` | what servers offer is another now |

mod audience;
pub(crate) mod context;
pub(crate) mod revision;
pub(crate) mod view_cell;
pub(crate) mod views;

pub(crate) use context::{ViewContext, ViewState};
pub(crate) use view_cell::ViewCell;

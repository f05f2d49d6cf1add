//! Changes of what is configured, on their way to whoever makes them. They must not know what is changed.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::oneshot;

use crate::manage::{Differences, Refusal, Standing};

/// A change of what is configured: the id of what it is about, and how things then stand.
pub(crate) type Edit = Box<dyn FnOnce(&Standing) -> Result<(String, Standing), Refusal> + Send>;

/// Someone who waits for a change.
pub(crate) struct Asked {
    pub(crate) edit: Edit,
    pub(crate) reply: oneshot::Sender<Result<Edited, Refusal>>,
}

/// A change that is in force.
pub(crate) struct Edited {
    /// What it is about.
    pub(crate) id: String,
    /// How things stand now.
    pub(crate) standing: Arc<Standing>,
    /// What differs since.
    pub(crate) what: Differences,
}

impl Edited {
    /// What it is about, as it is shown.
    pub(crate) fn of(
        &self,
        show: impl FnOnce(&Standing, &str) -> Result<Value, Refusal>,
    ) -> Result<Value, Refusal> {
        show(&self.standing, &self.id)
    }
}

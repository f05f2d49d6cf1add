//! Edits of the configuration, on their way to the task that applies them. This module must not know what is edited.

use std::sync::Arc;
use std::time::SystemTime;

use config::{Fault, Faults};
use serde_json::Value;
use tokio::sync::oneshot;

use super::{Differences, Refusal, Standing};

/// An edit of the configuration: a function that returns the id of the edited server or profile, and the
/// configuration state after the edit.
pub(crate) type Edit = Box<dyn FnOnce(&Standing) -> Result<(String, Standing), Refusal> + Send>;

/// A request to the task that changes the configuration.
pub(crate) enum ConfigRequest {
    /// An edit.
    Edit(EditRequest),
    /// A request to read the configuration file again.
    Reload(oneshot::Sender<Reloaded>),
}

/// The outcome of reading the configuration again.
#[derive(Debug, Clone)]
pub struct Reloaded {
    /// The time when it was read.
    pub at: SystemTime,
    /// The differences from the previous configuration, or the errors that keep the previous one in force.
    pub outcome: Result<Differences, UnreadConfig>,
    /// The keys that take effect only after a restart.
    pub needs_restart: Vec<String>,
}

/// The reason why a configuration was not put into force.
#[derive(Debug, Clone)]
pub struct UnreadConfig {
    /// The reason, for the log and for the terminal.
    pub message: String,
    /// The errors in the file, if these are the reason.
    pub faults: Vec<Fault>,
}

impl From<String> for UnreadConfig {
    fn from(message: String) -> Self {
        Self { message, faults: Vec::new() }
    }
}

impl From<Faults> for UnreadConfig {
    fn from(faults: Faults) -> Self {
        Self { message: faults.to_string(), faults: faults.faults }
    }
}

/// A requested edit, and the channel for its result.
pub(crate) struct EditRequest {
    pub(crate) edit: Edit,
    pub(crate) reply: oneshot::Sender<Result<Edited, Refusal>>,
}

/// An edit that is in force.
pub struct Edited {
    /// The id of the edited server or profile.
    pub id: String,
    /// The state after the edit.
    pub standing: Arc<Standing>,
    /// The differences between the configurations before and after the edit.
    pub(crate) what: Differences,
}

impl Edited {
    /// Returns the edited server or profile in the form that the API shows.
    pub fn of(&self, show: impl FnOnce(&Standing, &str) -> Result<Value, Refusal>) -> Result<Value, Refusal> {
        show(&self.standing, &self.id)
    }
}

//! `access`: who may use which tools, prompts and resources. What a rule means is decided in `crate::access`.

mod conditions;
mod path;
mod rule;

pub use conditions::{AnnotationHint, When};
pub use path::ValuePath;
pub use rule::{AccessRule, Effect, Who};

//! `access`: who may use which tools, prompts and resources.

mod model;
mod path;
mod read;
mod written;

pub use model::{AccessRule, AnnotationHint, Effect, When, Who};
pub use path::ValuePath;
pub(super) use read::{Names, read, read_who};
pub(super) use written::Who as WrittenWho;

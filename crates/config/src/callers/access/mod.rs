//! `access`: the callers that may use tools, prompts and resources. The meaning of a rule is defined in
//! `engine::access`.

mod conditions;
mod path;
mod rule;
mod scheme;

pub(crate) use conditions::HintValues;
pub use conditions::{AnnotationHint, RuleConditions};
pub use path::ValuePath;
pub use rule::{AccessRule, CallerSelection, Effect};
pub use scheme::Scheme;

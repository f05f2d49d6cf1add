//! Access rules: the origin of a request, the rules, and the one decision that lists and calls share.
//!
//! Pure. This module must not know transports, sessions, or how a credential is checked.
//!
//! | file | is for |
//! |---|---|
//! | `asker` | the caller of a request, matched against the `who` of a rule |
//! | `target` | the requested item |
//! | `values` | compares a call's arguments with a rule's conditions |
//! | `reach` | decides whether any arguments could be allowed |
//! | `rules` | the decision |
//! | `guard` | the rules as they apply to one class of askers at one profile |
//! | `hosts` | the names by which this server may be addressed, and the web pages that may call it |

mod asker;
mod guard;
mod hosts;
mod reach;
mod rules;
mod target;
mod values;

#[cfg(test)]
mod tests;

pub use crate::principal::{CallPlace, Calls};
pub use crate::principal::{Principal, Scheme};
pub use asker::Asker;
pub use guard::Guard;
pub use hosts::Hosts;
pub use rules::{Class, Decision, DenialReason, ExplainedDecision, RuleRelation, Rules};
pub use target::{AccessTarget, Annotations, CallArguments};

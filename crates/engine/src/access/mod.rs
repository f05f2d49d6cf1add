//! Who may use what: the asker, the rules, and the one decision that lists and calls share.
//!
//! Pure. It must not know transports, sessions, or how a credential is checked.
//!
//! | file | is for |
//! |---|---|
//! | `target` | what is asked for |
//! | `values` | a call's arguments against a rule's conditions |
//! | `reach` | whether any arguments could be allowed |
//! | `rules` | the decision |
//! | `guard` | the rules for one class of askers at one profile |
//! | `hosts` | by which names, and from which web pages, this server may be addressed |

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
pub use rules::{Class, Decision, Rules, Why};
pub use target::{Annotations, Arguments, Target};

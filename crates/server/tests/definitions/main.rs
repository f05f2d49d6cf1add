//! Servers that change their tools after somebody has reviewed them: attacks, reviews and approvals, with the whole binary.
//!
//! | file | is for |
//! |---|---|
//! | `place` | a gateway in front of a server whose tools the test changes; the command line beside it |
//! | `attacks` | changes that a server tries to slip past its reviewers |
//! | `approvals` | reviews and approvals over the API and on the command line, and their record |
//! | `policies` | the three policies, reloads and restarts |

#[path = "../support/mod.rs"]
mod support;

mod approvals;
mod attacks;
mod place;
mod policies;

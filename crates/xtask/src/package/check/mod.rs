//! The packages in empty environments: installed, serving, visited by the Inspector, removed. This module must not know how a package is built.
//!
//! | file | is for |
//! |---|---|
//! | `traces` | the files of a folder, to find those that a removed package leaves behind |
//! | `inspected` | a running package, visited by the Inspector |
//! | `first_contact` | a new user with a stopwatch |
//! | `unit` | the service's command, started by systemd's protocols |
//! | other files | the check of one package each |

pub(super) mod archive;
pub(super) mod bundle;
pub(super) mod debian;
pub(super) mod first_contact;
pub(super) mod image;
mod inspected;
pub(super) mod inventory;
pub(super) mod npm;
mod traces;
pub(super) mod unit;
pub(super) mod wheel;

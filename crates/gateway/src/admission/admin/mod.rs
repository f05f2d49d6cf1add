//! Admission to the operators' pages, for holders of a one-time link and for operators with a password. A client's
//! credential never opens them. This module must not know HTTP, or what is on a page.
//!
//! | file | is for |
//! |---|---|
//! | [`links`] | one-time links |
//! | [`sessions`] | sessions of operators |
//! | [`lockout`] | addresses that are refused for a while, after wrong passwords and links |
//! | `secret` | random texts, and their digests |

pub(crate) mod links;
pub(crate) mod lockout;
mod secret;
pub mod sessions;

use std::sync::Arc;

use config::Admin;
use parking_lot::Mutex;

use links::OneTimeLinks;
use lockout::Lockout;
use sessions::{AdminSessions, Lifetimes};

use crate::admission::auth::Logins;

/// The people who may open the operators' pages, according to the configuration.
#[derive(Debug)]
pub struct AdminDoor {
    /// The accounts that may log in.
    pub logins: Logins,
    /// The times after which sessions end.
    pub lifetimes: Lifetimes,
}

impl AdminDoor {
    /// Sets up admission as configured; `None` if there are no operators' pages.
    ///
    /// # Errors
    /// Returns the operator whose hash is invalid, and the reason.
    pub(crate) fn of(admin: Option<&Admin>) -> Result<Option<Arc<Self>>, String> {
        let Some(admin) = admin else { return Ok(None) };
        let logins = Logins::new(&admin.users).map_err(|e| format!("admin.users: {e}"))?;
        let lifetimes = Lifetimes { idle: admin.idle, whole: admin.lifetime };
        Ok(Some(Arc::new(Self { logins, lifetimes })))
    }
}

/// The state of admission to the operators' pages. It outlives a change of the configuration.
#[derive(Debug, Default)]
pub struct AdminState {
    /// The links that open the operators' pages once.
    pub links: Mutex<OneTimeLinks>,
    /// The open sessions of operators.
    pub sessions: Mutex<AdminSessions>,
    /// The addresses that failed to log in too often.
    pub lockout: Mutex<Lockout>,
}

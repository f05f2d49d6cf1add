//! Admission to the operators' pages, for holders of a one-time link and for operators with a password. A client's
//! credential never opens them. This module must not know HTTP, or what is on a page.
//!
//! | file | is for |
//! |---|---|
//! | [`links`] | one-time links |
//! | [`sessions`] | sessions of operators |
//! | `carried` | what browsers carry as sealed texts between the gateways of a cluster |
//! | [`lockout`] | addresses that are refused for a while, after wrong passwords and links |
//! | `secret` | random texts, and their digests |

pub(crate) mod carried;
pub(crate) mod links;
pub(crate) mod lockout;
mod secret;
pub mod sessions;

use std::collections::HashMap;
use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use cluster::LoginMark;
use config::Admin;
use parking_lot::Mutex;

use links::OneTimeLinks;
use lockout::Lockout;
use sessions::{AdminSessions, AdmittedBy, Lifetimes};

use crate::admission::auth::Logins;

/// The people who may open the operators' pages, according to the configuration.
#[derive(Debug)]
pub struct AdminDoor {
    /// The accounts that may log in.
    pub logins: Logins,
    /// The times after which sessions end.
    pub lifetimes: Lifetimes,
    /// The operators' entries in the configuration, by name.
    operators: HashMap<String, LoginMark>,
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
        let operators = admin.users.iter().map(|(name, hash)| (name.clone(), mark(name, hash.expose())));
        Ok(Some(Arc::new(Self { logins, lifetimes, operators: operators.collect() })))
    }

    /// Returns the digest of the operator's entry in the configuration; `None` if there is no such operator.
    pub(crate) fn operator(&self, by: &AdmittedBy) -> Option<LoginMark> {
        match by {
            AdmittedBy::Link => Some(mark("", "")),
            AdmittedBy::Password(name) => self.operators.get(&**name).copied(),
        }
    }

    /// Returns the operators that another configuration does not have, or has with another password.
    pub(crate) fn operators_missing_in(&self, other: Option<&Self>) -> Vec<LoginMark> {
        let own =
            self.operators.iter().map(|(name, mark)| (AdmittedBy::Password(name.as_str().into()), *mark));
        let own = own.chain([(AdmittedBy::Link, mark("", ""))]);
        let has = |by: &AdmittedBy| other.and_then(|other| other.operator(by));
        own.filter(|(by, mark)| has(by) != Some(*mark)).map(|(_, mark)| mark).collect()
    }
}

/// Returns a digest that names an operator with a password; without a name, the holders of one-time links.
fn mark(name: &str, hash: &str) -> LoginMark {
    // No name contains a zero byte.
    let digest = digest(&SHA256, format!("operator\0{name}\0{hash}").as_bytes());
    let mut mark = LoginMark::default();
    mark.copy_from_slice(&digest.as_ref()[..16]);
    mark
}

/// The state of admission to the operators' pages. It outlives a change to the configuration.
#[derive(Debug, Default)]
pub struct AdminState {
    /// The links that open the operators' pages once.
    pub links: Mutex<OneTimeLinks>,
    /// The open sessions of operators.
    pub sessions: Mutex<AdminSessions>,
    /// The addresses that failed to log in too often.
    pub lockout: Mutex<Lockout>,
}

//! Requests that only another gateway of the cluster can answer. They are passed on to this gateway as they are, once at most, and
//! its answer is passed back. This module must not know what the requests mean.
//!
//! | file | is for |
//! |---|---|
//! | `movable` | the facts about a request that may be passed on |
//! | `consent_pages` | browsers that give consent |
//! | `passing_on` | passing a request on to another gateway |

pub(super) mod consent_pages;
pub(super) mod movable;
pub(super) mod passing_on;

use http::HeaderName;

/// The header with the note by which a gateway recognizes the requests of the others.
pub(super) static NOTE: HeaderName = HeaderName::from_static("dragoman-passed-on");

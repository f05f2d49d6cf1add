//! Serves clients over Streamable HTTP, and older clients over HTTP+SSE. This module must not know how a call is
//! performed.
//!
//! | file | is for |
//! |---|---|
//! | `service`, `guard`, `identify`, `denied`, `limited` | routing; the first checks, callers, refusals and rate limits |
//! | `post`, `batch`, `get`, `stateless` | Streamable HTTP |
//! | `opened`, `resumed` | the session's own event stream; event streams that another gateway of the cluster has sent |
//! | `sse` | HTTP+SSE |
//! | `dialect` | endpoints that imitate another system |
//! | `consent`, `login` | pages where users give consent; the endpoints by which people sign in |
//! | `entry`, `header_names`, `media`, `body`, `drive` | a request, the names of its headers, its media types, its body; a call on a session's stream |
//! | `replicas`, `peer_service` | requests that only another gateway of the cluster can answer; the service that accepts them |
//! | `ready` | the readiness of Dragoman and its servers |
//! | [`operators`] | the endpoints for operators, which the crate `admin` implements |
//! | `answer`, `reply`, `spare` | responses |

pub mod answer;
mod batch;
pub mod body;
mod consent;
pub mod denied;
mod dialect;
mod drive;
mod entry;
mod first_word;
mod get;
pub mod guard;
mod header_names;
pub mod identify;
pub mod limited;
mod login;
pub mod media;
mod opened;
pub mod operators;
pub(crate) mod peer_service;
mod post;
mod ready;
mod replicas;
mod reply;
mod resumed;
mod seen;
mod service;
mod spare;
mod sse;
mod stateless;

pub(crate) use service::Service;

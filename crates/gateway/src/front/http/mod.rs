//! Serves clients over Streamable HTTP, and older clients over HTTP+SSE. This module must not know how a call is
//! performed.
//!
//! | file | is for |
//! |---|---|
//! | `service`, `guard`, `identify`, `denied`, `limited` | routing; the first checks, callers, refusals and rate limits |
//! | `post`, `batch`, `get`, `stateless` | Streamable HTTP |
//! | `sse` | HTTP+SSE |
//! | `dialect` | endpoints that imitate another system |
//! | `admin/` | the operators' pages |
//! | `manage/`, `control` | the management API; the socket on which the local user reaches it |
//! | `consent`, `login` | pages where users give consent; the endpoints by which people sign in |
//! | `entry`, `media`, `body`, `drive` | a request, its media types, its body; a call on a session's stream |
//! | `ready` | the readiness of Dragoman and its servers |
//! | `metrics` | the figures of the process, for callers that may read them |
//! | `answer`, `reply`, `spare` | responses |

mod admin;
mod answer;
mod batch;
mod body;
mod consent;
mod control;
mod denied;
mod dialect;
mod drive;
mod entry;
mod first_word;
mod get;
mod guard;
mod identify;
mod limited;
mod login;
mod manage;
mod media;
mod metrics;
mod post;
mod ready;
mod reply;
mod seen;
mod service;
mod spare;
mod sse;
mod stateless;

pub(crate) use control::ControlService;
pub(crate) use metrics::MetricsService;
pub(crate) use service::Service;

//! Clients over Streamable HTTP, and over HTTP+SSE as older ones speak it. It must not know how a call is done.
//!
//! | file | is for |
//! |---|---|
//! | `service`, `guard`, `identify`, `denied`, `limited` | where each request goes; who asks, who may not pass, and who came too soon |
//! | `post`, `batch`, `get`, `stateless` | Streamable HTTP |
//! | `sse` | HTTP+SSE |
//! | `dialect` | endpoints that behave as another system does |
//! | `manage/`, `consent` | the management API; pages where users give consent |
//! | `entry`, `media`, `body`, `drive` | a request as it is handed on, its media types, its body; a call on a session's stream |
//! | `answer`, `reply`, `spare` | responses |

mod answer;
mod batch;
mod body;
mod consent;
mod denied;
mod dialect;
mod drive;
mod entry;
mod get;
mod guard;
mod identify;
mod limited;
mod manage;
mod media;
mod post;
mod reply;
mod service;
mod spare;
mod sse;
mod stateless;

pub(crate) use service::Service;

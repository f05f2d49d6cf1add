//! A fake web site for tests: WordPress's REST API, BuddyBoss's members, the APIs of four Norwegian heritage services, a
//! host of images, and a service that is locked, all on one port. It records what it was asked.
//!
//! It answers with the statuses, codes and shapes that the real ones answer with, for a handful of posts, people and
//! places; what is created stays until the site stops. It must not use the product's code, and it knows nothing of MCP.
//!
//! | file | is for |
//! |---|---|
//! | `server` | listening, and which API a path belongs to |
//! | `record` | what the site was asked |
//! | `request`, `answer` | one request and one answer, whole |
//! | `accounts` | who exists, with which password and rights |
//! | `wordpress`, `collection`, `content` | `wp/v2`: the routes, one kind of thing, the things |
//! | `buddyboss` | `buddyboss/v1` |
//! | `heritage` | encyclopaedias and monuments |
//! | `images` | a host of images, and a picture |
//! | `locked` | a service that wants consent first |

pub mod accounts;
mod answer;
mod buddyboss;
mod collection;
mod content;
mod heritage;
mod images;
mod locked;
mod record;
mod request;
mod server;
#[cfg(test)]
mod tests;
mod wordpress;

pub use record::Received;
pub use server::{Options, Site, serve};

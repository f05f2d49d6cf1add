//! A fake web site for tests: WordPress's REST API, BuddyBoss's members, the APIs of four Norwegian heritage services,
//! an image host, and a locked service, all on one port. It records the requests that it gets.
//!
//! It answers with the statuses, codes and formats of the real services, for a handful of posts, people and places;
//! created items exist until the site stops. It must not use the product's code, and must not know MCP.
//!
//! | file | is for |
//! |---|---|
//! | `server` | listening, and finding the API of a path |
//! | `record` | the requests that the site got |
//! | `request`, `answer` | one complete request and one complete answer |
//! | `accounts` | the accounts with their passwords and capabilities |
//! | `application_passwords` | the page on which a person approves an application |
//! | `wordpress`, `collection`, `content` | `wp/v2`: the routes, one type of item, the items |
//! | `buddyboss` | `buddyboss/v1` |
//! | `heritage` | encyclopaedias and monuments |
//! | `images` | an image host, and a picture |
//! | `locked` | a service that requires consent first |

pub mod accounts;
mod answer;
mod application_passwords;
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

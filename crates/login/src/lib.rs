//! Signing in: Dragoman as the OAuth authorization server of its own endpoints (MCP 2025-11-25, authorization; OAuth 2.1). A
//! person has an account at a WordPress site. The site creates an application password for Dragoman; Dragoman gives the
//! client tokens of its own, which stand for this account. This crate must not know tools, sessions or sockets.
//!
//! | module | is for |
//! |---|---|
//! | [`AuthorizationServer`] | the whole: settings, state, and the tokens that clients send |
//! | `routes` | the paths, and which part answers |
//! | `request_limit` | how many requests an address may send |
//! | `metadata` | what clients read first: the server, and the resource (RFC 8414, RFC 9728) |
//! | `client_metadata`, `redirect_uri` | clients, and where a browser may be sent back to |
//! | `client_document`, `registration` | clients that publish their metadata, and clients that register (RFC 7591) |
//! | `authorization_request` | the request with which a client sends a browser here (RFC 6749, 4.1.1; RFC 7636) |
//! | `resource` | the part of the gateway for which a client requests tokens (RFC 8707) |
//! | `approval` | the address of the page on which a person approves a client at a site |
//! | `attempts` | sign-ins that are under way, each bound to one browser; accounts whose sign-in was not finished |
//! | `signing_in` | the path of a browser: our page, the site's page, back to the client |
//! | `site_address`, `site` | the site: its address, its approval page, its account, its password |
//! | `codes`, `tokens` | codes and tokens (RFC 6749, 4.1.3 and 6; RFC 7009) |
//! | `accounts`, `account_fault` | the account behind an access token, or the reason why there is none |
//! | `confirmations` | the sites' last answers about accounts, and who asks a site next |
//! | `endings` | grants that have ended, and sign-ins that were not finished: their passwords are deleted at the site |
//! | `shared` | sign-ins that several gateways share |
//! | `grant_file` | the file of grants, which is never used on the threads that serve requests |
//! | `page` | the pages that people see |
//! | `outbound` | requests to sites, and to addresses of clients' documents |
//! | `random`, `response` | unguessable texts, their digests; forms of responses |
//!
//! No error, log line or `Debug` output contains a password, a code or a token.

mod account_fault;
mod accounts;
mod approval;
mod attempts;
mod authorization_request;
mod authorization_server;
mod client_document;
mod client_metadata;
mod codes;
mod confirmations;
mod endings;
mod grant_file;
mod metadata;
mod outbound;
mod page;
mod random;
mod redirect_uri;
mod registration;
mod request_limit;
mod resource;
mod response;
mod routes;
mod shared;
mod signing_in;
mod site;
mod site_address;
mod tokens;

pub use account_fault::AccountFault;
pub use accounts::SignedIn;
pub use authorization_server::AuthorizationServer;
pub use endings::ListedGrant;
pub use resource::{Resource, ResourceAt};
pub use routes::EndpointRequest;
pub use shared::{SharedSignIns, SharedText, Sharing};
pub use tokens::is_access_token;

#[cfg(test)]
mod tests;

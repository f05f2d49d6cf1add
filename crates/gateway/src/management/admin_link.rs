//! One-time links to the operators' pages. This module must not know HTTP.

use schemars::JsonSchema;
use serde::Serialize;

use crate::admission::admin::links::VALID_FOR;
use crate::call::consent::base;
use crate::changes::Refusal;
use crate::management::logins::create_link;
use crate::process::Gateway;

/// The beginning of the path of every one-time link.
pub const ENTER: &str = "/admin/enter/";

/// A one-time link.
#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdminLink {
    /// The address to open in a browser. It works once.
    pub(crate) url: String,
    /// The time for which the link is valid, in seconds.
    valid_for_seconds: u64,
}

/// Creates a one-time link.
///
/// # Errors
/// Fails if there are no pages, or if the gateway has no address.
pub fn create(gateway: &Gateway) -> Result<AdminLink, Refusal> {
    let config = gateway.standing.config();
    if config.admin.is_none() {
        let message = "there are no admin pages; set `admin: true` in the configuration";
        return Err(Refusal::new(409, "NO_ADMIN_PAGES", message));
    }
    let addresses = gateway.process.serving.as_ref().map(|serving| serving.addresses()).unwrap_or_default();
    let base = base(config, &addresses);
    let base = base.ok_or_else(|| Refusal::internal("the gateway does not listen on any address"))?;
    let secret = create_link(gateway);
    let secret =
        secret.ok_or_else(|| Refusal::internal("the operating system's random number generator failed"))?;
    Ok(AdminLink { url: format!("{base}{ENTER}{secret}"), valid_for_seconds: VALID_FOR.as_secs() })
}

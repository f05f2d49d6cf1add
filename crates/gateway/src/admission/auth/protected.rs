//! The gateway as the protected resource that the configuration describes. This module must not know credentials.

use config::Auth;

use super::InvalidSetting;
use super::challenge::{Challenges, is_scope};
use super::jwt::Issuer;
use super::resource::Resource;

/// The gateway as a protected resource.
#[derive(Default)]
pub(super) struct Protected {
    pub(super) resource: Option<Resource>,
    /// The scopes that every token must have.
    pub(super) required: Vec<Box<str>>,
    /// The challenges that the gateway sends.
    pub(super) challenges: Challenges,
}

/// Creates the protected resource that the configuration describes.
pub(super) fn protected(config: &Auth, issuers: &[Issuer]) -> Result<Protected, InvalidSetting> {
    let Some(own) = &config.oauth else { return Ok(Protected::default()) };
    if let Some(odd) = own.scopes.iter().chain(&own.required_scopes).find(|scope| !is_scope(scope)) {
        return Err(InvalidSetting(format!("{odd:?} is not a scope (RFC 6749, 3.3)")));
    }
    if issuers.is_empty() {
        return Err(InvalidSetting("a protected resource needs an issuer of tokens for it".to_owned()));
    }
    let boxed = |all: &[String]| all.iter().map(|scope| scope.as_str().into()).collect::<Vec<Box<str>>>();
    let required = boxed(&own.required_scopes);
    let scopes = if own.scopes.is_empty() { required.clone() } else { boxed(&own.scopes) };
    let names: Vec<&str> = issuers.iter().map(Issuer::url).collect();
    let made = Resource::new(own.resource.expose(), &names, &scopes)
        .map_err(|error| InvalidSetting(error.to_string()))?;
    let asked = if required.is_empty() { &scopes } else { &required };
    let challenges = Challenges {
        metadata_url: Some(made.metadata_url.clone()),
        scopes: asked.clone(),
        ..Challenges::default()
    };
    Ok(Protected { resource: Some(made), required, challenges })
}

//! Resources: the part of the gateway for which a client requests tokens (RFC 8707). This module must not know which
//! endpoints there are; its callers pass in a function that finds the profile of a path.

use store::grants::ProfileNames;

use crate::authorization_request::{RequestParameters, ReturnedError};

/// The maximum number of resources in a request.
const MOST: usize = 16;

/// The part of the gateway at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resource {
    /// All endpoints.
    Gateway,
    /// The endpoints of one profile. The profile may not exist.
    Profile(String),
}

/// Finds the resource at a path of the gateway; an empty path means the public address itself.
pub type ResourceAt<'a> = &'a (dyn Fn(&str) -> Option<Resource> + Sync);

/// The resources that a request names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequestedResources {
    /// None: clients that are older than MCP 2025-06-18 name no resource.
    Unnamed,
    /// The whole gateway.
    Gateway,
    /// Some profiles.
    Profiles(ProfileNames),
}

/// The refusal of a request for a resource.
pub(crate) const OTHER_TARGET: ReturnedError =
    ReturnedError("invalid_target", "this resource is not served here, or the sign-in is for another one");

impl RequestedResources {
    /// Reads the resources of a request; `base` is the public address of the gateway.
    ///
    /// # Errors
    /// Returns the error for the client if a resource is not an endpoint of this gateway.
    pub(crate) fn read(
        parameters: &RequestParameters,
        base: &str,
        at: ResourceAt<'_>,
    ) -> Result<Self, ReturnedError> {
        let mut profiles = Vec::new();
        for (count, resource) in parameters.resources().enumerate() {
            let path = path_below(resource, base).filter(|_| count < MOST);
            profiles.push(path.and_then(at).ok_or(OTHER_TARGET)?);
        }
        if profiles.is_empty() {
            return Ok(Self::Unnamed);
        }
        let names: Option<Vec<&str>> = profiles.iter().map(Resource::profile).collect();
        Ok(names.map_or(Self::Gateway, |names| Self::Profiles(ProfileNames::new(names))))
    }

    /// Returns the profiles of a new grant; `None` for all.
    pub(crate) fn granted(self) -> Option<ProfileNames> {
        match self {
            Self::Unnamed | Self::Gateway => None,
            Self::Profiles(names) => Some(names),
        }
    }

    /// Returns the profiles of a new access token of a grant; `None` for those of the grant.
    ///
    /// # Errors
    /// Fails if the grant does not cover all requested resources.
    pub(crate) fn within(self, grant: Option<&ProfileNames>) -> Result<Option<ProfileNames>, ReturnedError> {
        match (self, grant) {
            (Self::Unnamed, _) | (Self::Gateway, None) => Ok(None),
            (Self::Profiles(names), None) => Ok(Some(names)),
            (Self::Profiles(names), Some(grant)) if grant.contains_all(&names) => Ok(Some(names)),
            (Self::Gateway | Self::Profiles(_), Some(_)) => Err(OTHER_TARGET),
        }
    }
}

impl Resource {
    fn profile(&self) -> Option<&str> {
        match self {
            Self::Gateway => None,
            Self::Profile(name) => Some(name),
        }
    }
}

/// Returns the path of a resource below the public address; `None` if the resource is at another address. A resource
/// must not have a fragment (RFC 8707, 2).
fn path_below<'r>(resource: &'r str, base: &str) -> Option<&'r str> {
    let (origin, path) = parts(resource).filter(|_| !resource.contains('#'))?;
    let (own_origin, own_path) = parts(base)?;
    let rest = path.strip_prefix(own_path.trim_end_matches('/')).filter(|_| origin == own_origin)?;
    (rest.is_empty() || rest.starts_with('/')).then(|| rest.trim_end_matches('/'))
}

/// Splits an address into its origin, in lower case, and its path.
fn parts(url: &str) -> Option<(String, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let default = if scheme.eq_ignore_ascii_case("https") { ":443" } else { ":80" };
    let authority = authority.strip_suffix(default).unwrap_or(authority);
    Some((format!("{scheme}://{authority}").to_ascii_lowercase(), path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "https://mcp.example.com/ai";

    fn at(path: &str) -> Option<Resource> {
        match path {
            "" => Some(Resource::Gateway),
            "/mcp" => Some(Resource::Profile("default".to_owned())),
            _ => path.strip_prefix("/mcp/").map(|name| Resource::Profile(name.to_owned())),
        }
    }

    fn read(resources: &[&str]) -> Result<RequestedResources, ReturnedError> {
        let query: Vec<(&str, &str)> = resources.iter().map(|one| ("resource", *one)).collect();
        let parameters = RequestParameters::read(&upstream::oauth::form::joined(&query)).unwrap();
        RequestedResources::read(&parameters, BASE, &at)
    }

    fn profiles(names: &[&str]) -> ProfileNames {
        ProfileNames::new(names.iter().copied())
    }

    #[test]
    fn a_resource_is_an_endpoint_below_the_public_address() {
        let of = |names: &[&str]| RequestedResources::Profiles(profiles(names));
        for (resources, expected) in [
            (&[][..], RequestedResources::Unnamed),
            (&["https://mcp.example.com/ai"], RequestedResources::Gateway),
            (&["https://mcp.example.com/ai/"], RequestedResources::Gateway),
            (&["https://MCP.example.com:443/ai/mcp"], of(&["default"])),
            (&["https://mcp.example.com/ai/mcp/blog/"], of(&["blog"])),
            (
                &["https://mcp.example.com/ai/mcp/blog?x=1", "https://mcp.example.com/ai/mcp"],
                of(&["blog", "default"]),
            ),
            (
                &["https://mcp.example.com/ai/mcp/blog", "https://mcp.example.com/ai"],
                RequestedResources::Gateway,
            ),
        ] {
            assert_eq!(read(resources), Ok(expected), "{resources:?}");
        }
        let many = ["https://mcp.example.com/ai/mcp"; MOST + 1];
        assert!(read(&many[1..]).is_ok() && read(&many).is_err());
        for other in [
            "https://other.example/ai/mcp",
            "http://mcp.example.com/ai/mcp",
            "https://mcp.example.com.evil.example/ai/mcp",
            "https://mcp.example.com@evil.example/ai/mcp",
            "https://mcp.example.com?/ai/mcp",
            "https://mcp.example.com/aimcp",
            "https://mcp.example.com/mcp",
            "https://mcp.example.com/ai/mcp#x",
            "https://mcp.example.com/ai/nothing",
            "/ai/mcp",
            "mcp",
            "",
        ] {
            assert_eq!(read(&[other]), Err(OTHER_TARGET), "{other}");
        }
    }

    #[test]
    fn a_token_never_reaches_beyond_its_grant() {
        let some = |names: &[&str]| RequestedResources::Profiles(profiles(names));
        let grant = profiles(&["blog", "shop"]);
        assert_eq!(some(&["blog"]).within(Some(&grant)), Ok(Some(profiles(&["blog"]))));
        assert_eq!(RequestedResources::Unnamed.within(Some(&grant)), Ok(None));
        assert_eq!(some(&["blog"]).within(None), Ok(Some(profiles(&["blog"]))));
        assert_eq!(RequestedResources::Gateway.within(None), Ok(None));
        for beyond in [some(&["other"]), some(&["blog", "other"]), RequestedResources::Gateway] {
            assert_eq!(beyond.within(Some(&grant)), Err(OTHER_TARGET));
        }
    }
}

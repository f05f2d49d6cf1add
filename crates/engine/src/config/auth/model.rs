//! What `auth` says, checked.

use std::time::Duration;

use indexmap::IndexMap;
use schemars::JsonSchema;

use crate::config::text::Text;
use crate::config::written;

/// The ways in which callers show who they are; each that is written here is open. With none, nobody is asked.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Auth {
    /// One token for all callers, sent as `Authorization: Bearer …`: a text, or `{ token, optional }`. With
    /// `optional: true` an empty token means that nobody is asked for it.
    #[schemars(with = "Option<written::BearerToken>")]
    pub bearer: Option<Bearer>,
    /// Take the API keys that `dragoman key new` makes.
    #[schemars(with = "Option<written::Flag>", extend("default" = false))]
    pub keys: bool,
    /// Passwords by name, for HTTP's Basic scheme: argon2id hashes, never the passwords themselves.
    #[schemars(with = "Option<std::collections::BTreeMap<String, written::PasswordHash>>")]
    pub users: IndexMap<String, Text>,
    /// Names and passwords that a WordPress site checks.
    pub site: Option<SiteCheck>,
    /// Issuers of signed tokens (JWT).
    #[schemars(with = "Option<written::OneOrMany<Jwt>>")]
    pub jwt: Vec<Jwt>,
    /// Says to clients where to get a token: this gateway as a protected resource of OAuth (RFC 9728). The issuers are
    /// those of `jwt`.
    pub oauth: Option<OAuth>,
    /// How many wrong passwords one client address may try in which time; after that its attempts are refused for a while,
    /// but for passwords that were right before. `false` for no limit.
    #[schemars(with = "Option<written::RateOrOff>", extend("default" = "30/1m"))]
    pub failures: Option<FailureLimit>,
}

/// How many wrong passwords one client address may try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailureLimit {
    /// So many,
    pub count: u32,
    /// in this time.
    pub period: Duration,
}

impl FailureLimit {
    /// More than a client sends that repeats one wrong password without a rest.
    pub const DEFAULT: Self = Self { count: 30, period: Duration::from_mins(1) };
}

impl Default for Auth {
    fn default() -> Self {
        Self {
            bearer: None,
            keys: false,
            users: IndexMap::new(),
            site: None,
            jwt: Vec::new(),
            oauth: None,
            failures: Some(FailureLimit::DEFAULT),
        }
    }
}

impl Auth {
    /// Does anybody have to show who they are?
    pub fn asks(&self) -> bool {
        let Self { bearer, keys, users, site, jwt, oauth: _, failures: _ } = self;
        bearer.is_some() || *keys || !users.is_empty() || site.is_some() || !jwt.is_empty()
    }
}

/// The one token for all callers.
#[derive(Debug, Clone, PartialEq)]
pub struct Bearer {
    /// The token; never empty.
    pub token: Text,
}

/// Names and passwords that a WordPress site checks.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct SiteCheck {
    /// The site's address: `https://example.com`.
    #[schemars(with = "String")]
    pub url: Text,
    /// What a user must be able to do there.
    #[schemars(with = "Option<String>", extend("default" = SiteCheck::CAPABILITY))]
    pub capability: String,
    /// The time for which the site's word counts before it is asked again; at most `1h`.
    #[schemars(with = "Option<written::Time>", extend("default" = "1m"))]
    pub cache: Duration,
}

impl SiteCheck {
    /// What a user must be able to do when nobody says otherwise.
    pub const CAPABILITY: &str = "manage_options";
    /// The time for which the site's word counts when nobody says otherwise.
    pub const CACHE: Duration = Duration::from_mins(1);
}

/// An issuer of signed tokens (JWT, RFC 7519).
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Jwt {
    /// The issuer as its tokens name it in `iss`: `https://id.example.com`.
    #[schemars(with = "String")]
    pub issuer: Text,
    /// Where its public keys are (a JWK set); found through the issuer's metadata when left out.
    #[schemars(with = "Option<String>")]
    pub jwks: Option<Text>,
    /// For whom its tokens must be made, one of these in `aud`; `auth.oauth.resource` when left out.
    #[schemars(with = "Option<written::OneOrMany<String>>")]
    pub audience: Vec<Text>,
    /// The signatures that count.
    #[schemars(with = "Option<written::OneOrMany<Algorithm>>", extend("default" = ["RS256", "ES256", "EdDSA"]))]
    pub algorithms: Vec<Algorithm>,
    /// How far the issuer's clock may be off; at most `5m`.
    #[schemars(with = "Option<written::Time>", extend("default" = "1m"))]
    pub clock_skew: Duration,
}

impl Jwt {
    /// The signatures that count when nobody says otherwise.
    pub const ALGORITHMS: &[Algorithm] = &[Algorithm::Rs256, Algorithm::Es256, Algorithm::EdDsa];
    /// How far the issuer's clock may be off when nobody says otherwise.
    pub const CLOCK_SKEW: Duration = Duration::from_mins(1);
}

/// A signature by a key pair (RFC 7518 section 3.1, RFC 8037 section 3.1). Those with a shared secret are left out: the
/// keys of a JWK set are public.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "UPPERCASE")]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    Rs384,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    Rs512,
    /// RSASSA-PSS with SHA-256.
    Ps256,
    /// RSASSA-PSS with SHA-384.
    Ps384,
    /// RSASSA-PSS with SHA-512.
    Ps512,
    /// ECDSA over P-256 with SHA-256.
    Es256,
    /// ECDSA over P-384 with SHA-384.
    Es384,
    /// Ed25519.
    #[schemars(rename = "EdDSA")]
    EdDsa,
}

impl Algorithm {
    /// The signatures with their registered names.
    pub const ALL: &[(&str, Self)] = &[
        ("RS256", Self::Rs256),
        ("RS384", Self::Rs384),
        ("RS512", Self::Rs512),
        ("PS256", Self::Ps256),
        ("PS384", Self::Ps384),
        ("PS512", Self::Ps512),
        ("ES256", Self::Es256),
        ("ES384", Self::Es384),
        ("EdDSA", Self::EdDsa),
    ];

    /// The algorithm with this name, which is compared as it stands (RFC 7515, 4.1.1).
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, algorithm)| *algorithm)
    }

    /// Its registered name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, algorithm)| *algorithm == self).map_or("", |(name, _)| name)
    }
}

/// This gateway as a protected resource of OAuth.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct OAuth {
    /// The address of this gateway as clients write it, and as tokens name it in `aud`: `https://mcp.example.com/mcp`.
    #[schemars(with = "String")]
    pub resource: Text,
    /// The scopes that clients are told to ask for; `requiredScopes` when left out.
    #[schemars(with = "Option<written::OneOrMany<String>>")]
    pub scopes: Vec<String>,
    /// The scopes without which no token is good enough.
    #[schemars(with = "Option<written::OneOrMany<String>>")]
    pub required_scopes: Vec<String>,
}

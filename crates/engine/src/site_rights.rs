//! The rights of a WordPress account at a site, according to the site's answer to `GET /wp/v2/users/me?context=edit`.
//!
//! In a network of sites, the network's administrator has every capability on every site. On a site where this account has no
//! role, the answer nevertheless lists no capability, as for any other account without a role. Only this administrator may read
//! the site's settings then, which requires the capability `manage_options`. This module must not know how a site is asked.

use serde_json::Value;

/// The route of a site's settings, with the smallest answer.
pub const SETTINGS: (&str, &str) = ("/wp/v2/settings", "_fields=title");
/// The capability that the route requires.
const MANAGES: &str = "manage_options";

/// An account's right to act with a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteRights {
    /// The account has the capability.
    Granted,
    /// The account lacks the capability.
    Missing,
    /// The account has no role on this site. If the site lets it read [`SETTINGS`], it has every capability, else none.
    NoRole,
}

impl SiteRights {
    /// The right of an account with these roles and capabilities. Without capabilities, PHP sends an empty list instead of an
    /// object.
    #[must_use]
    pub fn of(roles: &Value, capabilities: &Value, capability: &str) -> Self {
        let has = |name: &str| capabilities.get(name) == Some(&Value::Bool(true));
        if has(capability) {
            Self::Granted
        } else if roles.as_array().is_some_and(Vec::is_empty) && !has(MANAGES) && !capability.is_empty() {
            Self::NoRole
        } else {
            Self::Missing
        }
    }

    /// The reason for refusing an account without the capability.
    #[must_use]
    pub fn refusal(self, capability: &str) -> String {
        let words = format!("lacks the capability {capability}");
        if self == Self::NoRole {
            return format!(
                "{words}, because it has no role on this site; in a network of sites, an administrator of the site can add the \
                 account under Users, Add New"
            );
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::SiteRights::{self, Granted, Missing, NoRole};

    #[test]
    fn only_an_account_without_a_role_may_be_the_networks_administrator() {
        let (editor, none) = (json!(["editor"]), json!([]));
        for (roles, capabilities, capability, rights) in [
            (&editor, json!({"read": true}), "read", Granted),
            (&editor, json!({"read": true}), "manage_options", Missing),
            (&editor, json!({}), "read", Missing),
            (&none, json!({}), "read", NoRole),
            (&none, json!([]), "manage_options", NoRole),
            (&none, json!({"read": false}), "read", NoRole),
            (&none, json!({"read": true}), "read", Granted),
            // An account that was given this capability by name may lack others.
            (&none, json!({"manage_options": true}), "edit_users", Missing),
            (&none, json!({}), "", Missing),
            (&json!(null), json!({}), "read", Missing),
            (&json!({}), json!({}), "read", Missing),
        ] {
            assert_eq!(SiteRights::of(roles, &capabilities, capability), rights, "{roles} {capabilities}");
        }
        assert_eq!(Missing.refusal("read"), "lacks the capability read");
        assert!(NoRole.refusal("read").contains("lacks the capability read, because it has no role"));
    }
}

//! Accounts without a role on a site: in a network of sites (multisite), an account is known on each of them, and has a role only
//! on some. Sites treat an account without a role as a visitor. This module must not know how sites are asked.

use serde_json::Value;

use crate::hints;
use crate::rest::{VisitorCheck, VisitorQuestion};

/// The check for refusals by WordPress itself, and the check for refusals by a shop.
pub(crate) const CHECK: VisitorCheck =
    VisitorCheck { may_be: is_by_wordpress, questions: QUESTIONS, hint: hints::NO_ROLE };
pub(crate) const IN_SHOP: VisitorCheck =
    VisitorCheck { may_be: is_by_shop, questions: QUESTIONS, hint: hints::NO_ROLE };

/// The administrator of a network needs no role on its sites: unlike other accounts without a role, it may read a site's settings.
const QUESTIONS: &[VisitorQuestion] = &[
    VisitorQuestion { base: Some("wp"), route: "/users/me?context=edit&_fields=roles", judge: lacks_roles },
    VisitorQuestion { base: Some("wp"), route: "/settings?_fields=title", judge: lacks_rights },
];

/// Returns true if WordPress may have refused a request with this status and code because the account has no role.
fn is_by_wordpress(status: u16, code: &str) -> bool {
    let is_about_a_permission =
        ["rest_cannot_", "rest_user_cannot_"].iter().any(|start| code.starts_with(start));
    status == 403 && (is_about_a_permission || code == "rest_forbidden")
}

fn is_by_shop(status: u16, code: &str) -> bool {
    status == 403 && code.starts_with("woocommerce_rest_cannot_")
}

/// Leaves the verdict to the next question only if the site says that the account has no role.
fn lacks_roles(status: u16, account: &Value) -> Option<bool> {
    let has_none = status == 200 && account.get("roles").and_then(Value::as_array).is_some_and(Vec::is_empty);
    (!has_none).then_some(false)
}

fn lacks_rights(status: u16, _settings: &Value) -> Option<bool> {
    match status {
        200 => Some(false),
        401 | 403 => Some(true),
        _ => None,
    }
}

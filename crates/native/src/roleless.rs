//! Accounts without a role on a site: in a network of sites (multisite), an account is known on each of them, and has a role only
//! on some. Sites treat an account without a role as a visitor. This module must not know how sites are asked.

use serde_json::Value;

use crate::hints;
use crate::rest::{VisitorCheck, VisitorQuestion};

/// The check for requests to the API `wp`.
pub(crate) const IN_WP: VisitorCheck = check(&[question("/users/me?context=edit&_fields=roles")]);
/// The check for requests whose routes are relative to the index.
pub(crate) const IN_INDEX: VisitorCheck = check(&[question("/wp/v2/users/me?context=edit&_fields=roles")]);

const fn check(questions: &'static [VisitorQuestion]) -> VisitorCheck {
    VisitorCheck { may_be, questions, hint: hints::NO_ROLE }
}

const fn question(route: &'static str) -> VisitorQuestion {
    VisitorQuestion { route, judge }
}

/// Returns true if a site may have refused a request with this status and code because the account has no role.
fn may_be(status: u16, code: &str) -> bool {
    let is_about_a_permission =
        ["rest_cannot_", "rest_user_cannot_"].iter().any(|start| code.starts_with(start));
    status == 403 && (is_about_a_permission || code == "rest_forbidden")
}

fn judge(status: u16, account: &Value) -> Option<bool> {
    Some(account.get("roles").filter(|_| status == 200)?.as_array()?.is_empty())
}

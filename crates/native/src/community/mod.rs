//! Tools for community sites: BuddyBoss Platform, and BuddyPress alone. Both are WordPress plugins that extend the site's
//! REST API.
//!
//! | file | is for |
//! |---|---|
//! | `buddyboss` | the tools for BuddyBoss, in three phases |
//! | `buddypress` | the tools for BuddyPress |
//! | `lists` | the entries of lists in compact answers |
//! | `offers` | prompts |

pub mod buddyboss;
pub mod buddypress;
mod lists;
mod offers;

#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::hints;
use crate::rest::{ApiProbe, Bind, Field, MissingValue, Step, VisitorCheck, VisitorQuestion, fixed};
use crate::tools::{Condition, Literal};

/// The request that is sent to a site after the site has reported that a route is missing: the request's base and
/// route.
const ASK: (&str, &str) = ("index", "/?_fields=namespaces");

const fn probe(
    namespaces: &'static [&'static str],
    missing: (Condition, &'static str),
    there: &'static str,
) -> ApiProbe {
    ApiProbe { ask: ASK, namespaces, missing, there }
}

/// The hint about visitors for BuddyBoss, and the question that detects them: the menu of a visitor has addresses
/// without a member.
const BUDDYBOSS_VISITOR: VisitorCheck = VisitorCheck {
    may_be: hints::is_about_a_visitor,
    questions: &[VisitorQuestion {
        base: None,
        route: "/members/profile-dropdown?_fields=url",
        judge: |status, answer| {
            let url = answer.get(0).filter(|_| status == 200)?.get("url")?.as_str()?;
            let (_, behind) = url.split_once("://")?;
            Some(behind.split_once('/').is_none_or(|(_, path)| path.is_empty()))
        },
    }],
    hint: hints::VISITOR,
};

/// The hint about visitors for BuddyPress, and the questions that detect them: visitors may not even read their own
/// notifications and messages. Either component may be deactivated.
const BUDDYPRESS_VISITOR: VisitorCheck = VisitorCheck {
    may_be: hints::is_about_a_visitor,
    questions: &[
        VisitorQuestion {
            base: None,
            route: "/notifications?user_id={me}&per_page=1&_fields=id",
            judge: is_refused,
        },
        VisitorQuestion {
            base: None,
            route: "/messages?user_id={me}&per_page=1&_fields=id",
            judge: is_refused,
        },
    ],
    hint: hints::VISITOR,
};

fn is_refused(status: u16, _answer: &Value) -> Option<bool> {
    match status {
        200 => Some(false),
        401 | 403 => Some(true),
        _ => None,
    }
}

/// Binds the caller's account to the value `name`. If a request with an Application Password does not name the
/// account, BuddyBoss and BuddyPress treat some callers as visitors.
const fn caller(name: &'static str) -> Bind {
    Bind {
        name,
        at: "/id",
        missing: MissingValue::CallFailure("the site does not return the ID of this account"),
    }
}

/// The parameter that requests only the ID.
const NUMBER_ONLY: &[Field] = &[fixed("_fields", Literal::Text("id"))];

/// A step that looks up the caller's account if a call names no account.
macro_rules! caller_unless_given {
    ($name:literal) => {
        $crate::rest::get("wp", "/users/me")
            .alone()
            .with($crate::community::NUMBER_ONLY)
            .when($crate::rest::StepCondition::Absent($name))
            .binds(&[$crate::community::caller($name)])
            .step()
    };
}
use caller_unless_given;

/// The roles of a new member of a group, from the answer to joining. The first version of BuddyPress's API wraps the answer
/// in a list.
const ROLES: &[Bind] = &[
    Bind { name: "is_mod", at: "/is_mod|/0/is_mod", missing: MissingValue::Nothing },
    Bind { name: "is_admin", at: "/is_admin|/0/is_admin", missing: MissingValue::Nothing },
];

/// The requested role, if the member does not have it yet. Assigning a role again fails, because the site's
/// `BP_Groups_Member::promote` then finds nothing to save.
const MISSING_ROLE: Step = Step::Make("missing_role", |values| {
    let role = values.text("role");
    let is_missing = match role {
        "mod" => !values.flag("is_mod"),
        "admin" => !values.flag("is_admin"),
        _ => false,
    };
    Ok(is_missing.then(|| Value::from(role)))
});

/// A step that assigns the missing role to a group's member.
macro_rules! promoted {
    ($base:literal) => {
        $crate::rest::put($base, "/groups/{group_id}/members/{user_id}")
            .when($crate::rest::StepCondition::Given("missing_role"))
            .alone()
            .with(&[
                $crate::rest::fixed("action", $crate::tools::Literal::Text("promote")),
                $crate::rest::value("role", "missing_role", $crate::tools::Form::Plain),
            ])
            .after("the member has joined the group, without the role")
            .step()
    };
}
use promoted;

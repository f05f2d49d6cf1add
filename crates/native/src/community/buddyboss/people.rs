//! Members, friends, profiles.

use serde_json::Value;

use super::super::{NUMBER_ONLY, caller, caller_unless_given};
use super::{PAGE, PER_PAGE, SEARCH, USER, id};
use crate::community::lists::{self, FIELD_GROUPS, FIELDS, FRIENDS};
use crate::rest::{Bind, MissingValue, Shape, Step, StepCondition, delete, fixed, get, post, put, value};
use crate::tools::{
    CallFailure, Condition, Effect, Form, Literal, ToolArgument, ToolRow, Values, flag, int, raw, text, tool,
};

const MEMBER: ToolArgument = id("ID of the member.");
const KIND: ToolArgument = text("member_type", "Member type.");
const WITH_DATA: ToolArgument = flag("fetch_field_data", "Include profile field data in the response.");

pub(super) const MEMBERS: &[ToolRow] = &[
    tool(
        "buddyboss_list_members",
        "List all members with optional filtering by role, status, or search query.",
        &[
            PAGE.saying("Page number for pagination"),
            PER_PAGE.saying("Members per page"),
            SEARCH.saying("Search members by name or username"),
            text("role", "Return only members with this WordPress role.").kept(),
            KIND,
            text("exclude", "IDs of members to exclude, separated by commas.").form(Form::Commas),
        ],
        // The route for members has no filter for roles, so the members with a role are looked up first.
        &[
            get("wp", "/users")
                .when(StepCondition::Given("role"))
                .alone()
                .with(&[
                    value("roles", "role", Form::Plain),
                    value("page", "page", Form::Plain),
                    value("per_page", "per_page", Form::Plain),
                    value("search", "search", Form::Plain),
                    fixed("_fields", Literal::Text("id")),
                ])
                .binds(&[Bind { name: "members", at: "/*/id", missing: MissingValue::Answer("[]") }])
                .step(),
            get("buddyboss", "/members")
                .when(StepCondition::Given("role"))
                .alone()
                .with(&[
                    value("include", "members", Form::Plain),
                    value("member_type", "member_type", Form::Plain),
                    value("exclude", "exclude", Form::Commas),
                    fixed("per_page", Literal::Int(100)),
                ])
                .step(),
            get("buddyboss", "/members").when(StepCondition::Absent("role")).step(),
        ],
        lists::MEMBERS,
    ),
    tool(
        "buddyboss_get_member",
        "Returns one member.",
        &[MEMBER],
        &[get("buddyboss", "/members/{id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_create_member",
        "Creates a user account and returns the member.",
        &[
            text("username", "Login name.").required().called("user_login"),
            text("email", "Email address.").required(),
            raw("password", "Password.").required(),
            text("name", "Display name."),
        ],
        &[post("buddyboss", "/members").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_update_member",
        "Updates a member and returns it. Omitted fields keep their values.",
        &[
            MEMBER,
            text("name", "Display name."),
            text("email", "Email address.").kept(),
            KIND.called("types"),
        ],
        // The route for members cannot change email addresses; WordPress's own route can.
        &[
            put("wp", "/users/{id}")
                .when(StepCondition::Given("email"))
                .alone()
                .with(&[value("email", "email", Form::Plain)])
                .step(),
            put("buddyboss", "/members/{id}").step(),
        ],
        Shape::Whole,
    ),
    tool(
        "buddyboss_delete_member",
        "Permanently deletes a member's account. Their content is deleted too, unless `reassign` names another member.",
        &[MEMBER, int("reassign", "ID of the member to reassign the deleted member's content to.").kept()],
        // The route for members ignores `reassign`; WordPress's own route respects it.
        &[
            delete("wp", "/users/{id}")
                .when(StepCondition::Given("reassign"))
                .with(&[fixed("force", Literal::Flag(true)), value("reassign", "reassign", Form::Plain)])
                .step(),
            delete("buddyboss", "/members/{id}").when(StepCondition::Absent("reassign")).step(),
        ],
        Shape::Whole,
    ),
];

const FIELD: ToolArgument = int("field_id", "ID of the profile field.").required();
const PROFILE: ToolArgument = int("user_id", "ID of the member.").required();

/// The two members of a friendship, and its state.
const FRIENDSHIP: &[Bind] = &[
    Bind { name: "friends", at: "/is_confirmed", missing: MissingValue::Nothing },
    Bind { name: "initiator", at: "/initiator_id", missing: MissingValue::Nothing },
    Bind { name: "asked", at: "/friend_id", missing: MissingValue::Nothing },
];

/// The other member of the caller's friendship; `None` if the two are not friends, or if the caller is not one of
/// them.
fn friend(values: &Values) -> Option<Value> {
    let caller = values.get("caller").filter(|_| values.has("accepted"));
    let is_caller = |name| caller.is_some() && values.get(name) == caller;
    let other = match (is_caller("initiator"), is_caller("asked")) {
        (true, _) => values.get("asked"),
        (_, true) => values.get("initiator"),
        _ => None,
    };
    other.cloned()
}

/// The result of ending a friendship: true, or the reason for a failure. In both cases, the site answers with a
/// success status.
pub(super) const ENDED: Bind = Bind { name: "ended", at: "/unfriend", missing: MissingValue::Nothing };

/// A step that fails unless the friendship has ended.
pub(super) const SURELY_ENDED: Step = Step::Make("ended", |values| match values.get("ended") {
    None | Some(Value::Bool(true)) => Ok(None),
    Some(_) => Err(CallFailure::new(
        Condition::ToolFailed,
        "the friendship was not ended: the two members are not friends, or the site treats this account as a visitor",
    )),
});

pub(super) const FRIENDS_AND_PROFILES: &[ToolRow] = &[
    tool(
        "buddyboss_list_friends",
        "Returns a page of a member's friendships.",
        &[
            USER,
            flag("is_confirmed", "Return friendships (true) or pending requests (false).")
                .or_flag(true)
                .form(Form::Bit),
            PAGE,
            PER_PAGE,
        ],
        &[caller_unless_given!("user_id"), get("buddyboss", "/friends").step()],
        FRIENDS,
    ),
    tool(
        "buddyboss_add_friend",
        "Sends a friendship request from one member to another and returns the friendship.",
        &[
            int("initiator_id", "ID of the member who sends the request.").required(),
            int("friend_id", "ID of the member who receives the request.").required(),
            flag("force", "Confirm the friendship immediately, without waiting for acceptance.")
                .or_flag(false),
        ],
        &[post("buddyboss", "/friends").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_remove_friend",
        "Ends a friendship, or withdraws or rejects a friendship request.",
        &[id("ID of the friendship.")],
        // The route for a single friendship can only withdraw or refuse requests; the route that ends a friendship
        // names the friend.
        &[
            get("buddyboss", "/friends/{id}").alone().binds(FRIENDSHIP).step(),
            Step::Make("accepted", |values| Ok(values.flag("friends").then_some(Value::Bool(true)))),
            get("wp", "/users/me")
                .when(StepCondition::Given("accepted"))
                .alone()
                .with(NUMBER_ONLY)
                .binds(&[caller("caller")])
                .step(),
            Step::Make("friend", |values| Ok(friend(values))),
            delete("buddyboss", "/friends")
                .when(StepCondition::Given("friend"))
                .alone()
                .with(&[value("friend_id", "friend", Form::Plain)])
                .binds(&[ENDED])
                .step(),
            delete("buddyboss", "/friends/{id}").when(StepCondition::Absent("friend")).step(),
            SURELY_ENDED,
        ],
        Shape::Whole,
    ),
    tool(
        "buddyboss_list_friend_requests",
        "Returns a member's friendship requests.",
        &[
            PROFILE,
            flag("is_confirmed", "Return accepted requests instead of pending ones.")
                .or_flag(false)
                .form(Form::Bit),
        ],
        &[get("buddyboss", "/friends").step()],
        FRIENDS,
    ),
    tool(
        "buddyboss_list_xprofile_groups",
        "Returns the groups of profile fields.",
        &[flag("fetch_fields", "Include the fields of each group.")],
        &[get("buddyboss", "/xprofile/groups").step()],
        FIELD_GROUPS,
    ),
    tool(
        "buddyboss_list_xprofile_fields",
        "Returns the profile fields.",
        &[int("profile_group_id", "Return only fields of the group with this ID."), WITH_DATA],
        &[get("buddyboss", "/xprofile/fields").step()],
        FIELDS,
    ),
    tool(
        "buddyboss_get_xprofile_field",
        "Returns one profile field.",
        &[id("ID of the profile field."), WITH_DATA],
        &[get("buddyboss", "/xprofile/fields/{id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_get_xprofile_data",
        "Returns a member's value for one profile field.",
        &[FIELD, PROFILE],
        &[get("buddyboss", "/xprofile/{field_id}/data/{user_id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_update_xprofile_data",
        "Sets a member's value for one profile field and returns the value.",
        &[FIELD, PROFILE, text("value", "New value.").required()],
        &[post("buddyboss", "/xprofile/{field_id}/data/{user_id}").step()],
        Shape::Whole,
    )
    .effect(Effect::Changes),
];

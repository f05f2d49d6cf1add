//! Members, friends, profiles.

use serde_json::Value;

use super::super::{NUMBER_ONLY, caller, caller_unless_given};
use super::{PAGE, PER_PAGE, SEARCH, USER, id};
use crate::rest::{Bind, Missing, Shape, Step, When, delete, fixed, get, post, put, value};
use crate::tools::{
    Argument, Condition, Effect, Form, Literal, Tool, Trouble, Values, flag, int, raw, text, tool,
};

const MEMBER: Argument = id("The member's number.");
const KIND: Argument = text("member_type", "The member's type.");
const WITH_DATA: Argument = flag("fetch_field_data", "Whether what members have filled in comes along.");

pub(super) const MEMBERS: &[Tool] = &[
    tool(
        "buddyboss_list_members",
        "List all members with optional filtering by role, status, or search query.",
        &[
            PAGE.saying("Page number for pagination"),
            PER_PAGE.saying("Members per page"),
            SEARCH.saying("Search members by name or username"),
            text("role", "Only those of this WordPress role.").kept(),
            KIND,
            text("exclude", "Numbers of members to leave out, with commas.").form(Form::Commas),
        ],
        // The route for members knows no roles, so those who have one are looked up first.
        &[
            get("wp", "/users")
                .when(When::Given("role"))
                .alone()
                .with(&[
                    value("roles", "role", Form::Plain),
                    value("page", "page", Form::Plain),
                    value("per_page", "per_page", Form::Plain),
                    value("search", "search", Form::Plain),
                    fixed("_fields", Literal::Text("id")),
                ])
                .binds(&[Bind { name: "members", at: "/*/id", missing: Missing::Answer("[]") }])
                .step(),
            get("buddyboss", "/members")
                .when(When::Given("role"))
                .alone()
                .with(&[
                    value("include", "members", Form::Plain),
                    value("member_type", "member_type", Form::Plain),
                    value("exclude", "exclude", Form::Commas),
                    fixed("per_page", Literal::Int(100)),
                ])
                .step(),
            get("buddyboss", "/members").when(When::Absent("role")).step(),
        ],
        Shape::Whole,
    ),
    tool(
        "buddyboss_get_member",
        "One member.",
        &[MEMBER],
        &[get("buddyboss", "/members/{id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_create_member",
        "Makes a new account.",
        &[
            text("username", "The name to log in with.").required().called("user_login"),
            text("email", "The e-mail address.").required(),
            raw("password", "The password.").required(),
            text("name", "The name that is shown."),
        ],
        &[post("buddyboss", "/members").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_update_member",
        "Changes a member; what is left out stays.",
        &[
            MEMBER,
            text("name", "The name that is shown."),
            text("email", "The e-mail address.").kept(),
            KIND.called("types"),
        ],
        // The route for members changes no addresses; WordPress's own does.
        &[
            put("wp", "/users/{id}")
                .when(When::Given("email"))
                .alone()
                .with(&[value("email", "email", Form::Plain)])
                .step(),
            put("buddyboss", "/members/{id}").step(),
        ],
        Shape::Whole,
    ),
    tool(
        "buddyboss_delete_member",
        "Removes an account. What it has written is lost, unless another member is named to have it.",
        &[MEMBER, int("reassign", "The number of the member who gets what this one has written.").kept()],
        // The route for members ignores `reassign`; WordPress's own does not.
        &[
            delete("wp", "/users/{id}")
                .when(When::Given("reassign"))
                .with(&[fixed("force", Literal::Flag(true)), value("reassign", "reassign", Form::Plain)])
                .step(),
            delete("buddyboss", "/members/{id}").when(When::Absent("reassign")).step(),
        ],
        Shape::Whole,
    ),
];

const FIELD: Argument = int("field_id", "The number of the profile's field.").required();
const PROFILE: Argument = int("user_id", "The number of the member.").required();

/// Who is whose friend.
const FRIENDSHIP: &[Bind] = &[
    Bind { name: "friends", at: "/is_confirmed", missing: Missing::Nothing },
    Bind { name: "initiator", at: "/initiator_id", missing: Missing::Nothing },
    Bind { name: "asked", at: "/friend_id", missing: Missing::Nothing },
];

/// The one of the two who is not the caller, where they are friends and the caller is one of them.
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

/// What the site says of a friendship that it was to end: true, or why not, in an answer that counts as good.
pub(super) const ENDED: Bind = Bind { name: "ended", at: "/unfriend", missing: Missing::Nothing };

/// A step that fails where the friendship has not ended.
pub(super) const SURELY_ENDED: Step = Step::Make("ended", |values| match values.get("ended") {
    None | Some(Value::Bool(true)) => Ok(None),
    Some(_) => Err(Trouble::new(
        Condition::ToolFailed,
        "the friendship has not ended: the two are no friends, or the site takes this account for a visitor",
    )),
});

pub(super) const FRIENDS_AND_PROFILES: &[Tool] = &[
    tool(
        "buddyboss_list_friends",
        "Lists a member's friends.",
        &[
            USER,
            flag("is_confirmed", "Friends rather than requests.").or_flag(true).form(Form::Bit),
            PAGE,
            PER_PAGE,
        ],
        &[caller_unless_given!("user_id"), get("buddyboss", "/friends").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_add_friend",
        "Asks a member to become another's friend.",
        &[
            int("initiator_id", "The number of the member who asks.").required(),
            int("friend_id", "The number of the member who is asked.").required(),
            flag("force", "Whether they are friends at once.").or_flag(false),
        ],
        &[post("buddyboss", "/friends").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_remove_friend",
        "Ends a friendship.",
        &[id("The friendship's number.")],
        // The route for one friendship takes back or refuses requests alone; the one that ends it names the friend.
        &[
            get("buddyboss", "/friends/{id}").alone().binds(FRIENDSHIP).step(),
            Step::Make("accepted", |values| Ok(values.flag("friends").then_some(Value::Bool(true)))),
            get("wp", "/users/me")
                .when(When::Given("accepted"))
                .alone()
                .with(NUMBER_ONLY)
                .binds(&[caller("caller")])
                .step(),
            Step::Make("friend", |values| Ok(friend(values))),
            delete("buddyboss", "/friends")
                .when(When::Given("friend"))
                .alone()
                .with(&[value("friend_id", "friend", Form::Plain)])
                .binds(&[ENDED])
                .step(),
            delete("buddyboss", "/friends/{id}").when(When::Absent("friend")).step(),
            SURELY_ENDED,
        ],
        Shape::Whole,
    ),
    tool(
        "buddyboss_list_friend_requests",
        "Lists requests to become friends.",
        &[
            PROFILE,
            flag("is_confirmed", "Whether those are meant that were accepted.")
                .or_flag(false)
                .form(Form::Bit),
        ],
        &[get("buddyboss", "/friends").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_list_xprofile_groups",
        "Lists the parts of profiles.",
        &[flag("fetch_fields", "Whether their fields come along.")],
        &[get("buddyboss", "/xprofile/groups").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_list_xprofile_fields",
        "Lists the fields of profiles.",
        &[int("profile_group_id", "Only those of the part with this number."), WITH_DATA],
        &[get("buddyboss", "/xprofile/fields").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_get_xprofile_field",
        "One field of profiles.",
        &[id("The field's number."), WITH_DATA],
        &[get("buddyboss", "/xprofile/fields/{id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_get_xprofile_data",
        "What a member has filled in.",
        &[FIELD, PROFILE],
        &[get("buddyboss", "/xprofile/{field_id}/data/{user_id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_update_xprofile_data",
        "Fills in a field of a member's profile.",
        &[FIELD, PROFILE, text("value", "The new value.").required()],
        &[post("buddyboss", "/xprofile/{field_id}/data/{user_id}").step()],
        Shape::Whole,
    )
    .effect(Effect::Changes),
];

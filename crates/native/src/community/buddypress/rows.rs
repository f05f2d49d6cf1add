//! The rows: activity, members and groups; profiles and friends. The other rows are in `talk`.

use super::super::{MISSING_ROLE, ROLES, caller_unless_given, promoted};
use crate::community::lists::{ACTIVITIES, FIELD_GROUPS, FIELDS, FRIENDS, GROUP_MEMBERS, GROUPS, MEMBERS};
use crate::rest::{Bind, MissingValue, Shape, Step, StepCondition, delete, fixed, get, post, put, value};
use crate::tools::{Effect, Form, Literal, ToolArgument, ToolRow, flag, html, int, text, titled};

pub(super) const PAGE: ToolArgument = int("page", "Page number.").or_int(1);
pub(super) const PER_PAGE: ToolArgument =
    int("per_page", "Number of items per page, at most 100.").or_int(20);
const SEARCH: ToolArgument = text("search", "Return only items that contain this text.");
pub(super) const USER: ToolArgument = int("user_id", "ID of the member.");
const MEMBER: ToolArgument = int("user_id", "ID of the member.").required();
const OF_GROUP: ToolArgument = int("group_id", "ID of the group.").required();
const KIND: ToolArgument = text("member_type", "Member type.");
const NAME: ToolArgument = text("name", "Name.");
const ABOUT: ToolArgument = html("description", "Description.");
const STATUS: ToolArgument =
    text("status", "Visibility of the group.").among(&["public", "private", "hidden"]);
const CONTENT: ToolArgument = html("content", "Content.");

pub(super) const fn id(about: &'static str) -> ToolArgument {
    int("id", about).required()
}

/// The type of an activity; the first version of the API wraps an activity in a list.
const KIND_OF_ACTIVITY: Bind = Bind {
    name: "type",
    at: "/type|/0/type",
    missing: MissingValue::CallFailure("the site does not return the type of the activity"),
};

/// True if a friendship request was accepted; the first version of the API wraps a friendship in a list.
const ARE_FRIENDS: Bind =
    Bind { name: "friends", at: "/is_confirmed|/0/is_confirmed", missing: MissingValue::Nothing };

pub(super) const fn row(
    name: &'static str,
    title: &'static str,
    about: &'static str,
    arguments: &'static [ToolArgument],
    steps: &'static [Step],
) -> ToolRow {
    titled(name, title, about, arguments, steps, Shape::Whole)
}

/// A request with the call's arguments.
macro_rules! one {
    ($verb:ident $route:literal) => {
        &[$verb("buddypress", $route).step()]
    };
}
pub(super) use one;

pub(super) const COMMUNITY: &[ToolRow] = &[
    row(
        "buddypress_list_activities",
        "List activities",
        "Returns a page of activities.",
        &[
            PAGE,
            PER_PAGE,
            SEARCH,
            USER,
            int("group_id", "Return only activities of the group with this ID."),
            text("scope", "Scope of the activities to return.")
                .among(&["just-me", "friends", "groups", "favorites", "mentions", "all"])
                .form(Form::Unless("all")),
            flag("display_comments", "Include comments in the response."),
        ],
        one!(get "/activity"),
    )
    .shown(ACTIVITIES),
    row(
        "buddypress_get_activity",
        "Get an activity",
        "Returns one activity.",
        &[id("ID of the activity.")],
        one!(get "/activity/{id}"),
    ),
    row(
        "buddypress_create_activity",
        "Create an activity",
        "Creates an activity and returns it.",
        &[
            CONTENT.required(),
            USER,
            text("component", "Component that the activity belongs to."),
            text("type", "Type of the activity."),
            int("primary_item_id", "ID of the main item that the activity is about, such as a group."),
            int("secondary_item_id", "ID of a second item that the activity is about."),
        ],
        one!(post "/activity"),
    ),
    row(
        "buddypress_update_activity",
        "Update an activity",
        "Updates an activity and returns it.",
        &[id("ID of the activity."), CONTENT],
        // The route requires the type again.
        &[
            get("buddypress", "/activity/{id}").alone().binds(&[KIND_OF_ACTIVITY]).step(),
            put("buddypress", "/activity/{id}").with(&[value("type", "type", Form::Plain)]).step(),
        ],
    ),
    row(
        "buddypress_delete_activity",
        "Delete an activity",
        "Deletes an activity and returns the result.",
        &[id("ID of the activity.")],
        one!(delete "/activity/{id}"),
    ),
    row(
        "buddypress_favorite_activity",
        "Add or remove a favorite activity",
        "Adds an activity to the caller's favorites or removes it, and returns the activity.",
        &[id("ID of the activity.")],
        one!(put "/activity/{id}/favorite"),
    )
    .effect(Effect::Toggles),
    row(
        "buddypress_list_members",
        "List members",
        "Returns a page of members.",
        &[
            PAGE,
            PER_PAGE,
            SEARCH,
            text("user_ids", "Return only members with these IDs, separated by commas.").called("include"),
            KIND,
            text("exclude", "Exclude members with these IDs, separated by commas."),
        ],
        one!(get "/members"),
    )
    .shown(MEMBERS),
    row(
        "buddypress_get_member",
        "Get a member",
        "Returns one member.",
        &[id("ID of the member.")],
        one!(get "/members/{id}"),
    ),
    row(
        "buddypress_update_member",
        "Update a member",
        "Updates a member and returns it. Omitted fields keep their values.",
        &[id("ID of the member."), NAME, ABOUT.kept(), KIND],
        // The route for members cannot change descriptions; WordPress's own route can.
        &[
            put("wp", "/users/{id}")
                .when(StepCondition::Given("description"))
                .alone()
                .with(&[value("description", "description", Form::Plain)])
                .step(),
            put("buddypress", "/members/{id}").step(),
        ],
    ),
    row(
        "buddypress_delete_member",
        "Delete a member",
        "Permanently deletes a member's account and returns the result.",
        &[
            id("ID of the member."),
            int("reassign", "ID of the member to reassign the deleted member's content to."),
        ],
        // Accounts have no trash, and the site requires an explicit statement that nobody inherits the content.
        &[
            delete("buddypress", "/members/{id}")
                .when(StepCondition::Given("reassign"))
                .with(&[fixed("force", Literal::Flag(true))])
                .step(),
            delete("buddypress", "/members/{id}")
                .when(StepCondition::Absent("reassign"))
                .with(&[fixed("force", Literal::Flag(true)), fixed("reassign", Literal::Flag(false))])
                .step(),
        ],
    ),
    row(
        "buddypress_list_groups",
        "List groups",
        "Returns a page of groups.",
        &[PAGE, PER_PAGE, SEARCH, STATUS, USER, text("group_type", "Return only groups of this type.")],
        one!(get "/groups"),
    )
    .shown(GROUPS),
    row(
        "buddypress_get_group",
        "Get a group",
        "Returns one group.",
        &[id("ID of the group.")],
        one!(get "/groups/{id}"),
    ),
    row(
        "buddypress_create_group",
        "Create a group",
        "Creates a group and returns it.",
        &[
            NAME.required(),
            ABOUT.kept(),
            STATUS.or_text("public"),
            flag("enable_forum", "Enable a forum for the group."),
            int("creator_id", "ID of the member who creates the group. Default: the caller."),
        ],
        // The route requires a description.
        &[
            Step::Make("about", |values| Ok(values.get("description").or(values.get("name")).cloned())),
            caller_unless_given!("creator_id"),
            post("buddypress", "/groups").with(&[value("description", "about", Form::Plain)]).step(),
        ],
    ),
    row(
        "buddypress_update_group",
        "Update a group",
        "Updates a group and returns it. Omitted fields keep their values.",
        &[id("ID of the group."), NAME, ABOUT, STATUS],
        one!(put "/groups/{id}"),
    ),
    row(
        "buddypress_delete_group",
        "Delete a group",
        "Deletes a group and returns the result.",
        &[id("ID of the group.")],
        one!(delete "/groups/{id}"),
    ),
    row(
        "buddypress_list_group_members",
        "List group members",
        "Returns a page of the members of a group, including its administrators.",
        &[
            OF_GROUP,
            PAGE,
            PER_PAGE,
            text("roles", "Return only members with these roles, separated by commas."),
        ],
        &[get("buddypress", "/groups/{group_id}/members")
            .with(&[fixed("exclude_admins", Literal::Flag(false))])
            .step()],
    )
    .shown(GROUP_MEMBERS),
    row(
        "buddypress_add_group_member",
        "Add a group member",
        "Adds a member to a group, optionally with a role, and returns the membership.",
        &[
            OF_GROUP,
            MEMBER,
            text("role", "Role of the member in the group.").among(&["admin", "mod", "member"]),
        ],
        // Some sites assign the role immediately, and others ignore it. Assigning a role twice fails, so the request to
        // join does not ask for a role.
        &[
            post("buddypress", "/groups/{group_id}/members")
                .alone()
                .with(&[value("user_id", "user_id", Form::Plain)])
                .binds(ROLES)
                .step(),
            MISSING_ROLE,
            promoted!("buddypress"),
        ],
    ),
    row(
        "buddypress_remove_group_member",
        "Remove a group member",
        "Removes a member from a group and returns the result.",
        &[OF_GROUP, MEMBER],
        one!(delete "/groups/{group_id}/members/{user_id}"),
    ),
];

const FIELD: ToolArgument = int("field_id", "ID of the profile field.").required();
const WITH_DATA: ToolArgument = flag("fetch_field_data", "Include profile field data in the response.");
const WITH_FIELDS: ToolArgument = flag("fetch_fields", "Include the fields in the response.");

pub(super) const PROFILES: &[ToolRow] = &[
    row(
        "buddypress_list_xprofile_groups",
        "List profile field groups",
        "Returns the groups of profile fields.",
        &[WITH_FIELDS],
        one!(get "/xprofile/groups"),
    )
    .shown(FIELD_GROUPS),
    row(
        "buddypress_get_xprofile_group",
        "Get a profile field group",
        "Returns one group of profile fields.",
        &[id("ID of the profile field group."), WITH_FIELDS],
        one!(get "/xprofile/groups/{id}"),
    ),
    row(
        "buddypress_list_xprofile_fields",
        "List profile fields",
        "Returns the profile fields.",
        &[int("profile_group_id", "Return only fields of the profile field group with this ID."), WITH_DATA],
        one!(get "/xprofile/fields"),
    )
    .shown(FIELDS),
    row(
        "buddypress_get_xprofile_field",
        "Get a profile field",
        "Returns one profile field.",
        &[id("ID of the profile field."), WITH_DATA],
        one!(get "/xprofile/fields/{id}"),
    ),
    row(
        "buddypress_get_xprofile_data",
        "Get a profile value",
        "Returns a member's value for one profile field.",
        &[FIELD, MEMBER],
        one!(get "/xprofile/{field_id}/data/{user_id}"),
    ),
    row(
        "buddypress_update_xprofile_data",
        "Set a profile value",
        "Sets a member's value for one profile field and returns the value.",
        &[FIELD, MEMBER, text("value", "New value.").required()],
        one!(put "/xprofile/{field_id}/data/{user_id}"),
    ),
    row(
        "buddypress_list_friends",
        "List friends",
        "Returns a page of a member's friendships.",
        &[
            USER,
            flag("is_confirmed", "Return only confirmed friendships (true) or requests (false).")
                .form(Form::Bit),
            PAGE,
            PER_PAGE,
        ],
        &[caller_unless_given!("user_id"), get("buddypress", "/friends").step()],
    )
    .shown(FRIENDS),
    row(
        "buddypress_create_friendship",
        "Send a friendship request",
        "Sends a friendship request from one member to another and returns the friendship.",
        &[
            int("initiator_id", "ID of the member who sends the request.").required(),
            int("friend_id", "ID of the member who receives the request.").required(),
        ],
        one!(post "/friends"),
    ),
    row(
        "buddypress_delete_friendship",
        "Remove a friend",
        "Ends the caller's friendship with a member, or withdraws or rejects a pending request, and returns the result.",
        &[id("ID of the other member.")],
        // Without force, the route can only withdraw or refuse requests. With force, the route would count a withdrawn request as
        // a lost friend.
        &[
            get("buddypress", "/friends/{id}").alone().binds(&[ARE_FRIENDS]).step(),
            delete("buddypress", "/friends/{id}").with(&[value("force", "friends", Form::Plain)]).step(),
        ],
    ),
];

//! The rows: activity, members and groups; profiles and friends; messages and notifications.

use super::super::{MISSING_ROLE, NUMBER_ONLY, ROLES, caller, caller_unless_given, promoted};
use crate::rest::{Bind, Missing, Shape, Step, When, delete, fixed, get, post, put, value};
use crate::tools::{Argument, Effect, Form, Literal, Tool, flag, html, int, integers, text, tool};

const PAGE: Argument = int("page", "Which page of the list.").or_int(1);
const PER_PAGE: Argument = int("per_page", "How many on a page, 100 at most.").or_int(20);
const SEARCH: Argument = text("search", "Only those that have this text.");
const USER: Argument = int("user_id", "The number of the member.");
const MEMBER: Argument = int("user_id", "The number of the member.").required();
const OF_GROUP: Argument = int("group_id", "The number of the group.").required();
const KIND: Argument = text("member_type", "The member's type.");
const NAME: Argument = text("name", "The name.");
const ABOUT: Argument = html("description", "The description.");
const STATUS: Argument = text("status", "Who sees the group.").among(&["public", "private", "hidden"]);
const CONTENT: Argument = html("content", "What it says.");

const fn id(about: &'static str) -> Argument {
    int("id", about).required()
}

/// The type of an activity; the first version of the API puts one in a list.
const KIND_OF_ACTIVITY: Bind = Bind {
    name: "type",
    at: "/type|/0/type",
    missing: Missing::Trouble("the site does not say of which type the activity is"),
};

/// Whether a request to become friends was accepted; the first version of the API puts a friendship in a list.
const ARE_FRIENDS: Bind =
    Bind { name: "friends", at: "/is_confirmed|/0/is_confirmed", missing: Missing::Nothing };

const fn row(
    name: &'static str,
    about: &'static str,
    arguments: &'static [Argument],
    steps: &'static [Step],
) -> Tool {
    tool(name, about, arguments, steps, Shape::Whole)
}

/// A request with the call's arguments.
macro_rules! one {
    ($verb:ident $route:literal) => {
        &[$verb("buddypress", $route).step()]
    };
}

pub(super) const COMMUNITY: &[Tool] = &[
    row(
        "buddypress_list_activities",
        "Lists activity.",
        &[
            PAGE,
            PER_PAGE,
            SEARCH,
            USER,
            int("group_id", "Only that of this group."),
            text("scope", "Whose.")
                .among(&["just-me", "friends", "groups", "favorites", "mentions", "all"])
                .form(Form::Unless("all")),
            flag("display_comments", "Whether comments come along."),
        ],
        one!(get "/activity"),
    ),
    row(
        "buddypress_get_activity",
        "One activity.",
        &[id("The activity's number.")],
        one!(get "/activity/{id}"),
    ),
    row(
        "buddypress_create_activity",
        "Posts an activity.",
        &[
            CONTENT.required(),
            USER,
            text("component", "The component that it belongs to."),
            text("type", "Its type."),
            int("primary_item_id", "The number of what it is about."),
            int("secondary_item_id", "A second number of what it is about."),
        ],
        one!(post "/activity"),
    ),
    row(
        "buddypress_update_activity",
        "Changes an activity.",
        &[id("The activity's number."), CONTENT],
        // The route wants the type once more.
        &[
            get("buddypress", "/activity/{id}").alone().binds(&[KIND_OF_ACTIVITY]).step(),
            put("buddypress", "/activity/{id}").with(&[value("type", "type", Form::Plain)]).step(),
        ],
    ),
    row(
        "buddypress_delete_activity",
        "Removes an activity.",
        &[id("The activity's number.")],
        one!(delete "/activity/{id}"),
    ),
    row(
        "buddypress_favorite_activity",
        "Makes an activity a favourite of the caller's, or no longer.",
        &[id("The activity's number.")],
        one!(put "/activity/{id}/favorite"),
    )
    .effect(Effect::Toggles),
    row(
        "buddypress_list_members",
        "Lists members.",
        &[
            PAGE,
            PER_PAGE,
            SEARCH,
            text("user_ids", "Only those of these numbers, with commas.").called("include"),
            KIND,
            text("exclude", "Numbers of members to leave out, with commas."),
        ],
        one!(get "/members"),
    ),
    row("buddypress_get_member", "One member.", &[id("The member's number.")], one!(get "/members/{id}")),
    row(
        "buddypress_update_member",
        "Changes a member; what is left out stays.",
        &[id("The member's number."), NAME, ABOUT.kept(), KIND],
        // The route for members changes no descriptions; WordPress's own does.
        &[
            put("wp", "/users/{id}")
                .when(When::Given("description"))
                .alone()
                .with(&[value("description", "description", Form::Plain)])
                .step(),
            put("buddypress", "/members/{id}").step(),
        ],
    ),
    row(
        "buddypress_delete_member",
        "Removes an account.",
        &[
            id("The member's number."),
            int("reassign", "The number of the member who gets what this one has written."),
        ],
        // There is no bin for accounts, and the site wants to be told when nobody gets it.
        &[
            delete("buddypress", "/members/{id}")
                .when(When::Given("reassign"))
                .with(&[fixed("force", Literal::Flag(true))])
                .step(),
            delete("buddypress", "/members/{id}")
                .when(When::Absent("reassign"))
                .with(&[fixed("force", Literal::Flag(true)), fixed("reassign", Literal::Flag(false))])
                .step(),
        ],
    ),
    row(
        "buddypress_list_groups",
        "Lists groups.",
        &[PAGE, PER_PAGE, SEARCH, STATUS, USER, text("group_type", "Only those of this type.")],
        one!(get "/groups"),
    ),
    row("buddypress_get_group", "One group.", &[id("The group's number.")], one!(get "/groups/{id}")),
    row(
        "buddypress_create_group",
        "Makes a group.",
        &[
            NAME.required(),
            ABOUT.kept(),
            STATUS.or_text("public"),
            flag("enable_forum", "Whether it has a forum."),
            int("creator_id", "The number of the member who makes it."),
        ],
        // The route wants a description.
        &[
            Step::Make("about", |values| Ok(values.get("description").or(values.get("name")).cloned())),
            caller_unless_given!("creator_id"),
            post("buddypress", "/groups").with(&[value("description", "about", Form::Plain)]).step(),
        ],
    ),
    row(
        "buddypress_update_group",
        "Changes a group; what is left out stays.",
        &[id("The group's number."), NAME, ABOUT, STATUS],
        one!(put "/groups/{id}"),
    ),
    row(
        "buddypress_delete_group",
        "Removes a group.",
        &[id("The group's number.")],
        one!(delete "/groups/{id}"),
    ),
    row(
        "buddypress_list_group_members",
        "Lists who is in a group.",
        &[OF_GROUP, PAGE, PER_PAGE, text("roles", "Only those of these roles, with commas.")],
        &[get("buddypress", "/groups/{group_id}/members")
            .with(&[fixed("exclude_admins", Literal::Flag(false))])
            .step()],
    ),
    row(
        "buddypress_add_group_member",
        "Puts a member into a group.",
        &[OF_GROUP, MEMBER, text("role", "The member's role there.").among(&["admin", "mod", "member"])],
        // Some sites give the role at once, some pass over it, and asking twice for a role fails: so joining asks for none.
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
        "Takes a member out of a group.",
        &[OF_GROUP, MEMBER],
        one!(delete "/groups/{group_id}/members/{user_id}"),
    ),
];

const FIELD: Argument = int("field_id", "The number of the profile's field.").required();
const WITH_DATA: Argument = flag("fetch_field_data", "Whether what members have filled in comes along.");
const WITH_FIELDS: Argument = flag("fetch_fields", "Whether fields come along.");

pub(super) const PROFILES: &[Tool] = &[
    row(
        "buddypress_list_xprofile_groups",
        "Lists the parts of profiles.",
        &[WITH_FIELDS],
        one!(get "/xprofile/groups"),
    ),
    row(
        "buddypress_get_xprofile_group",
        "One part of profiles.",
        &[id("The part's number."), WITH_FIELDS],
        one!(get "/xprofile/groups/{id}"),
    ),
    row(
        "buddypress_list_xprofile_fields",
        "Lists the fields of profiles.",
        &[int("profile_group_id", "Only those of the part with this number."), WITH_DATA],
        one!(get "/xprofile/fields"),
    ),
    row(
        "buddypress_get_xprofile_field",
        "One field of profiles.",
        &[id("The field's number."), WITH_DATA],
        one!(get "/xprofile/fields/{id}"),
    ),
    row(
        "buddypress_get_xprofile_data",
        "What a member has filled in.",
        &[FIELD, MEMBER],
        one!(get "/xprofile/{field_id}/data/{user_id}"),
    ),
    row(
        "buddypress_update_xprofile_data",
        "Fills in a field of a member's profile.",
        &[FIELD, MEMBER, text("value", "The new value.").required()],
        one!(put "/xprofile/{field_id}/data/{user_id}"),
    ),
    row(
        "buddypress_list_friends",
        "Lists a member's friends.",
        &[USER, flag("is_confirmed", "Friends rather than requests.").form(Form::Bit), PAGE, PER_PAGE],
        &[caller_unless_given!("user_id"), get("buddypress", "/friends").step()],
    ),
    row(
        "buddypress_create_friendship",
        "Asks a member to become another's friend.",
        &[
            int("initiator_id", "The number of the member who asks.").required(),
            int("friend_id", "The number of the member who is asked.").required(),
        ],
        one!(post "/friends"),
    ),
    row(
        "buddypress_delete_friendship",
        "Ends a friendship.",
        &[id("The number of the friend.")],
        // Else the route takes back or refuses requests alone; with force it would count a request as one friend less.
        &[
            get("buddypress", "/friends/{id}").alone().binds(&[ARE_FRIENDS]).step(),
            delete("buddypress", "/friends/{id}").with(&[value("force", "friends", Form::Plain)]).step(),
        ],
    ),
];

pub(super) const TALK: &[Tool] = &[
    row(
        "buddypress_list_messages",
        "Lists messages by thread.",
        &[USER, text("box", "Which of them.").among(&["inbox", "sentbox", "notices"]), PAGE, PER_PAGE],
        // Notices are at a place of their own.
        &[
            caller_unless_given!("user_id"),
            get("buddypress", "/messages").when(When::IsNot("box", "notices")).step(),
            get("buddypress", "/sitewide-notices")
                .when(When::Is("box", "notices"))
                .alone()
                .with(&[value("page", "page", Form::Plain), value("per_page", "per_page", Form::Plain)])
                .step(),
        ],
    ),
    row(
        "buddypress_get_message",
        "One thread with its messages.",
        &[id("The thread's number.")],
        one!(get "/messages/{id}"),
    ),
    row(
        "buddypress_create_message",
        "Sends a message.",
        &[
            integers("recipients", "The numbers of the members who get it.").required(),
            text("subject", "The subject.").required(),
            html("message", "The message.").required(),
            int("sender_id", "The number of the member who sends it."),
        ],
        one!(post "/messages"),
    ),
    row(
        "buddypress_delete_message",
        "Removes a thread.",
        &[id("The thread's number.")],
        &[
            get("wp", "/users/me").alone().with(NUMBER_ONLY).binds(&[caller("caller")]).step(),
            delete("buddypress", "/messages/{id}").with(&[value("user_id", "caller", Form::Plain)]).step(),
        ],
    ),
    row(
        "buddypress_list_notifications",
        "Lists notifications.",
        &[
            USER,
            flag("is_new", "Unread ones rather than read ones."),
            text("component_name", "Only those of this component."),
            PAGE,
            PER_PAGE,
        ],
        &[caller_unless_given!("user_id"), get("buddypress", "/notifications").step()],
    ),
    row(
        "buddypress_get_notification",
        "One notification.",
        &[id("The notification's number.")],
        one!(get "/notifications/{id}"),
    ),
    row(
        "buddypress_update_notification",
        "Marks a notification as read or unread.",
        &[id("The notification's number."), flag("is_new", "Whether it is unread.").form(Form::Bit)],
        one!(put "/notifications/{id}"),
    ),
    row(
        "buddypress_delete_notification",
        "Removes a notification.",
        &[id("The notification's number.")],
        one!(delete "/notifications/{id}"),
    ),
    row(
        "buddypress_list_components",
        "Lists the components of BuddyPress.",
        &[
            text("status", "Which of them.").among(&["all", "active", "inactive"]),
            text("type", "Of which kind.").among(&["all", "optional", "retired", "required"]),
            PAGE,
            PER_PAGE,
        ],
        one!(get "/components"),
    ),
];

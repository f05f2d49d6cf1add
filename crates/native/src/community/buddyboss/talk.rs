//! Activity, messages, notifications.

use super::super::{NUMBER_ONLY, caller, caller_unless_given};
use super::{GROUP, PAGE, PER_PAGE, SEARCH, USER, id};
use crate::rest::{Shape, delete, fixed, get, post, put, value};
use crate::tools::{Argument, Effect, Form, Literal, Tool, flag, html, int, text, tool};

const ACTIVITY: Argument = id("The activity's number.");
const THREAD: Argument = id("The thread's number.");
const NOTIFICATION: Argument = id("The notification's number.");
const MINE: Argument = int("user_id", "The number of the member; the caller when left out.");

pub(super) const TOOLS: &[Tool] = &[
    tool(
        "buddyboss_list_activities",
        "Lists activity.",
        &[
            PAGE,
            PER_PAGE,
            SEARCH,
            USER,
            GROUP,
            text("component", "Only that of this component, such as groups."),
            text("type", "Only that of this type, such as activity_update."),
            text("scope", "Whose.").among(&["just-me", "friends", "groups", "favorites"]),
            text("display_comments", "How comments come along.").among(&["threaded", "stream", "false"]),
        ],
        &[get("buddyboss", "/activity").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_get_activity",
        "One activity.",
        &[ACTIVITY],
        &[get("buddyboss", "/activity/{id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_create_activity",
        "Posts an activity, or a comment on one.",
        &[
            html("content", "What is posted.").required(),
            MINE,
            text("component", "Where it belongs.").among(&["activity", "groups"]),
            text("type", "What it is.").among(&["activity_update", "activity_comment"]),
            int("primary_item_id", "The number of the group, for one in a group."),
        ],
        // Not even one's own number is let through where the platform takes the caller for a visitor; left out, the
        // activity is the caller's all the same.
        &[post("buddyboss", "/activity").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_update_activity",
        "Changes an activity.",
        &[ACTIVITY, html("content", "What it says from now on.")],
        &[put("buddyboss", "/activity/{id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_delete_activity",
        "Removes an activity.",
        &[ACTIVITY],
        &[delete("buddyboss", "/activity/{id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_favorite_activity",
        "Makes an activity a favourite of the caller's, or no longer.",
        &[ACTIVITY],
        &[put("buddyboss", "/activity/{id}/favorite").step()],
        Shape::Whole,
    )
    .effect(Effect::Toggles),
    tool(
        "buddyboss_list_message_threads",
        "Lists a member's messages by thread.",
        &[
            MINE,
            text("box", "Which of them.").among(&["inbox", "sentbox", "starred"]),
            text("type", "Read or not.").among(&["all", "read", "unread"]),
            PAGE,
            PER_PAGE,
        ],
        &[caller_unless_given!("user_id"), get("buddyboss", "/messages").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_get_message_thread",
        "One thread with its messages.",
        &[THREAD],
        &[get("buddyboss", "/messages/{id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_send_message",
        "Sends a message.",
        &[
            text("recipients", "The numbers of the members who get it, with commas.")
                .required()
                .form(Form::Commas),
            text("subject", "The subject.").required(),
            html("message", "The message.").required(),
            int("sender_id", "The number of the member who sends it; the caller when left out."),
        ],
        &[caller_unless_given!("sender_id"), post("buddyboss", "/messages").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_delete_message_thread",
        "Removes a thread from the caller's messages.",
        &[THREAD],
        &[
            get("wp", "/users/me").alone().with(NUMBER_ONLY).binds(&[caller("caller")]).step(),
            delete("buddyboss", "/messages/{id}").with(&[value("user_id", "caller", Form::Plain)]).step(),
        ],
        Shape::Whole,
    ),
    tool(
        "buddyboss_mark_message_read",
        "Marks a thread as read.",
        &[THREAD],
        &[post("buddyboss", "/messages/action/{id}")
            .with(&[fixed("action", Literal::Text("unread")), fixed("value", Literal::Flag(false))])
            .step()],
        Shape::Whole,
    )
    .effect(Effect::Changes),
    tool(
        "buddyboss_list_notifications",
        "Lists a member's notifications.",
        &[
            MINE,
            flag("is_new", "Unread ones rather than read ones."),
            text("component_name", "Only those of this component."),
            PAGE,
            PER_PAGE,
        ],
        &[caller_unless_given!("user_id"), get("buddyboss", "/notifications").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_get_notification",
        "One notification.",
        &[NOTIFICATION],
        &[get("buddyboss", "/notifications/{id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_mark_notification_read",
        "Marks a notification as read, or as unread again.",
        &[NOTIFICATION, flag("is_new", "Whether it is marked as unread.").or_flag(false).form(Form::Bit)],
        &[put("buddyboss", "/notifications/{id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_delete_notification",
        "Removes a notification.",
        &[NOTIFICATION],
        &[delete("buddyboss", "/notifications/{id}").step()],
        Shape::Whole,
    ),
];

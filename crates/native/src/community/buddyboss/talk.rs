//! Activity, messages, notifications.

use super::super::{NUMBER_ONLY, caller, caller_unless_given};
use super::{GROUP, PAGE, PER_PAGE, SEARCH, USER, id};
use crate::community::lists::{ACTIVITIES, NOTIFICATIONS, THREADS};
use crate::rest::{Shape, delete, fixed, get, post, put, value};
use crate::tools::{Effect, Form, Literal, ToolArgument, ToolRow, flag, html, int, text, tool};

const ACTIVITY: ToolArgument = id("ID of the activity.");
const THREAD: ToolArgument = id("ID of the message thread.");
const NOTIFICATION: ToolArgument = id("ID of the notification.");
const MINE: ToolArgument = int("user_id", "ID of the member. Default: the caller.");

pub(super) const TOOLS: &[ToolRow] = &[
    tool(
        "buddyboss_list_activities",
        "Returns a page of activities.",
        &[
            PAGE,
            PER_PAGE,
            SEARCH,
            USER,
            GROUP,
            text("component", "Return only activities of this component, such as groups."),
            text("type", "Return only activities of this type, such as activity_update."),
            text("scope", "Scope of the activities.").among(&["just-me", "friends", "groups", "favorites"]),
            text("display_comments", "Presentation of comments: nested (`threaded`), as separate items (`stream`) or none (`false`).").among(&["threaded", "stream", "false"]),
        ],
        &[get("buddyboss", "/activity").step()],
        ACTIVITIES,
    ),
    tool(
        "buddyboss_get_activity",
        "Returns one activity.",
        &[ACTIVITY],
        &[get("buddyboss", "/activity/{id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_create_activity",
        "Creates an activity and returns it.",
        &[
            html("content", "Content of the activity.").required(),
            MINE,
            text("component", "Component of the activity.").among(&["activity", "groups"]),
            text("type", "Type of the activity.").among(&["activity_update", "activity_comment"]),
            int("primary_item_id", "ID of the group, for an activity in a group."),
        ],
        // If the platform treats the caller as a visitor, it rejects even the caller's own ID. Without an ID, the
        // activity still belongs to the caller.
        &[post("buddyboss", "/activity").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_update_activity",
        "Updates an activity and returns it.",
        &[ACTIVITY, html("content", "New content.")],
        &[put("buddyboss", "/activity/{id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_delete_activity",
        "Deletes an activity and returns the result.",
        &[ACTIVITY],
        &[delete("buddyboss", "/activity/{id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_favorite_activity",
        "Adds an activity to the caller's favorites or removes it, and returns the activity.",
        &[ACTIVITY],
        &[put("buddyboss", "/activity/{id}/favorite").step()],
        Shape::Whole,
    )
    .effect(Effect::Toggles),
    tool(
        "buddyboss_list_message_threads",
        "Returns a page of a member's message threads.",
        &[
            MINE,
            text("box", "Mailbox.").among(&["inbox", "sentbox", "starred"]),
            text("type", "Return all threads, or only read or unread ones.").among(&["all", "read", "unread"]),
            PAGE,
            PER_PAGE,
        ],
        &[caller_unless_given!("user_id"), get("buddyboss", "/messages").step()],
        THREADS,
    ),
    tool(
        "buddyboss_get_message_thread",
        "Returns one message thread with its messages.",
        &[THREAD],
        &[get("buddyboss", "/messages/{id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_send_message",
        "Sends a message to members and returns its thread.",
        &[
            text("recipients", "IDs of the recipients, separated by commas.")
                .required()
                .form(Form::Commas),
            text("subject", "Subject.").required(),
            html("message", "Message.").required(),
            int("sender_id", "ID of the sender. Default: the caller."),
        ],
        &[caller_unless_given!("sender_id"), post("buddyboss", "/messages").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_delete_message_thread",
        "Deletes a message thread from the caller's mailbox and returns the result.",
        &[THREAD],
        &[
            get("wp", "/users/me").alone().with(NUMBER_ONLY).binds(&[caller("caller")]).step(),
            delete("buddyboss", "/messages/{id}").with(&[value("user_id", "caller", Form::Plain)]).step(),
        ],
        Shape::Whole,
    ),
    tool(
        "buddyboss_mark_message_read",
        "Marks a message thread as read and returns the result.",
        &[THREAD],
        &[post("buddyboss", "/messages/action/{id}")
            .with(&[fixed("action", Literal::Text("unread")), fixed("value", Literal::Flag(false))])
            .step()],
        Shape::Whole,
    )
    .effect(Effect::Changes),
    tool(
        "buddyboss_list_notifications",
        "Returns a page of a member's notifications.",
        &[
            MINE,
            flag("is_new", "Return unread notifications (true) or read ones (false)."),
            text("component_name", "Return only notifications of this component."),
            PAGE,
            PER_PAGE,
        ],
        &[caller_unless_given!("user_id"), get("buddyboss", "/notifications").step()],
        NOTIFICATIONS,
    ),
    tool(
        "buddyboss_get_notification",
        "Returns one notification.",
        &[NOTIFICATION],
        &[get("buddyboss", "/notifications/{id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_mark_notification_read",
        "Marks a notification as read or unread and returns it.",
        &[NOTIFICATION, flag("is_new", "Mark as unread (true) or read (false).").or_flag(false).form(Form::Bit)],
        &[put("buddyboss", "/notifications/{id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_delete_notification",
        "Deletes a notification and returns the result.",
        &[NOTIFICATION],
        &[delete("buddyboss", "/notifications/{id}").step()],
        Shape::Whole,
    ),
];

//! The rows about messages, notifications and components.

use super::super::{NUMBER_ONLY, caller, caller_unless_given};
use super::rows::{PAGE, PER_PAGE, USER, id, one, row};
use crate::community::lists::{COMPONENTS, NOTIFICATIONS, THREADS};
use crate::rest::{StepCondition, delete, get, post, put, value};
use crate::tools::{Form, ToolRow, flag, html, int, integers, text};

pub(super) const TALK: &[ToolRow] = &[
    row(
        "buddypress_list_messages",
        "List message threads",
        "Returns a page of a member's message threads, or of sitewide notices.",
        &[
            USER,
            text("box", "Mailbox to list: inbox, sent messages or sitewide notices.")
                .among(&["inbox", "sentbox", "notices"]),
            PAGE,
            PER_PAGE,
        ],
        // Notices have a route of their own.
        &[
            caller_unless_given!("user_id"),
            get("buddypress", "/messages").when(StepCondition::IsNot("box", "notices")).step(),
            get("buddypress", "/sitewide-notices")
                .when(StepCondition::Is("box", "notices"))
                .alone()
                .with(&[value("page", "page", Form::Plain), value("per_page", "per_page", Form::Plain)])
                .step(),
        ],
    )
    .shown(THREADS),
    row(
        "buddypress_get_message",
        "Get a message thread",
        "Returns one message thread with its messages.",
        &[id("ID of the message thread.")],
        one!(get "/messages/{id}"),
    ),
    row(
        "buddypress_create_message",
        "Send a message",
        "Sends a message to members and returns its thread.",
        &[
            integers("recipients", "IDs of the recipients.").required(),
            text("subject", "Subject.").required(),
            html("message", "Message text.").required(),
            int("sender_id", "ID of the sender."),
        ],
        one!(post "/messages"),
    ),
    row(
        "buddypress_delete_message",
        "Delete a message thread",
        "Deletes a message thread from the caller's mailbox and returns the result.",
        &[id("ID of the message thread.")],
        &[
            get("wp", "/users/me").alone().with(NUMBER_ONLY).binds(&[caller("caller")]).step(),
            delete("buddypress", "/messages/{id}").with(&[value("user_id", "caller", Form::Plain)]).step(),
        ],
    ),
    row(
        "buddypress_list_notifications",
        "List notifications",
        "Returns a page of a member's notifications.",
        &[
            USER,
            flag("is_new", "Return only unread (true) or read (false) notifications."),
            text("component_name", "Return only notifications of this component."),
            PAGE,
            PER_PAGE,
        ],
        &[caller_unless_given!("user_id"), get("buddypress", "/notifications").step()],
    )
    .shown(NOTIFICATIONS),
    row(
        "buddypress_get_notification",
        "Get a notification",
        "Returns one notification.",
        &[id("ID of the notification.")],
        one!(get "/notifications/{id}"),
    ),
    row(
        "buddypress_update_notification",
        "Mark a notification as read or unread",
        "Marks a notification as read or unread and returns it.",
        &[
            id("ID of the notification."),
            flag("is_new", "Mark the notification as unread (true) or read (false).").form(Form::Bit),
        ],
        one!(put "/notifications/{id}"),
    ),
    row(
        "buddypress_delete_notification",
        "Delete a notification",
        "Deletes a notification and returns the result.",
        &[id("ID of the notification.")],
        one!(delete "/notifications/{id}"),
    ),
    row(
        "buddypress_list_components",
        "List BuddyPress components",
        "Returns the components of BuddyPress with their status.",
        &[
            text("status", "Return only components with this status.").among(&["all", "active", "inactive"]),
            text("type", "Return only components of this type.")
                .among(&["all", "optional", "retired", "required"]),
            PAGE,
            PER_PAGE,
        ],
        one!(get "/components"),
    )
    .shown(COMPONENTS),
];

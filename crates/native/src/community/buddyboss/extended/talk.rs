//! Messages, notifications, subscriptions, reports.

use super::{PAGE, PER_PAGE, SEARCH, rows};
use crate::community::lists::{RECIPIENTS, SUBSCRIPTION_TYPES, SUBSCRIPTIONS};
use crate::tools::{Effect, ToolRow, flag, html, int, integers, object, text};

pub(super) const TOOLS: &[ToolRow] = rows! {
    "buddyboss_update_message_thread", "Update message attachments", "Sets the photos, videos, documents or GIF attached to one message of a thread, and returns the thread.",
        [int("id", "ID of the message thread.").required(), integers("bp_media_ids", "IDs of uploaded photos to attach."),
         object("media_gif", "GIF to attach: {url, mp4}.").having(&["url", "mp4"]),
         object("bp_videos", "IDs of uploaded videos to attach."),
         integers("bp_documents", "IDs of uploaded documents to attach."),
         flag("recipients_pagination", "Paginate the recipients in the response."),
         int("recipients_page", "Page of the list of recipients to return."),
         int("message_id", "ID of the message. Default: the newest message of the thread."), text("before", "Return only messages sent before this time.")];
        put "/messages/{id}";
    "buddyboss_update_message_thread_state", "Change the state of a message thread", "Hides a thread, marks it as read or unread, or deletes its messages, and returns the result.",
        [int("id", "ID of the message thread.").required(),
         text("action", "Action to perform.").among(&["delete_messages", "hide_thread", "unread"]).required(),
         flag("value", "Perform the action (true) or undo it (false)."), PAGE, PER_PAGE,
         SEARCH];
        edit "/messages/action/{id}";
    "buddyboss_send_group_message", "Send a message to group members", "Sends a message to all or some members of a group and returns the result.",
        [int("group_id", "ID of the group.").required(), html("message", "Message text.").required(),
         text("users", "Recipients: all members, or those in `users_list`.").among(&["all", "individual"]).required(),
         integers("users_list", "IDs of the recipients, if `users` is individual."),
         text("type", "Type.").among(&["open", "private"]).required(),
         integers("bp_media_ids", "IDs of uploaded photos to attach."),
         object("media_gif", "GIF to attach: {url, mp4}.").having(&["url", "mp4"]),
         integers("bp_documents", "IDs of uploaded documents to attach.")];
        post "/messages/group";
    "buddyboss_list_message_recipients", "List possible message recipients", "Returns the possible recipients of a message whose names match a term.",
        [text("term", "First letters of the member's name.").required(), int("group_id", "ID of the group."),
         integers("exclude", "Exclude items with these IDs."), PAGE, PER_PAGE];
        get "/messages/search-recipients" => RECIPIENTS;
    "buddyboss_find_message_thread", "Find a message thread with a member", "Returns the message thread between two members.",
        [int("user_id", "ID of the member. Default: the caller."),
         int("recipient_id", "ID of the other member.").required(),
         flag("include_group_thread", "Include group threads in the search.")];
        get "/messages/search-thread" as "user_id";
    "buddyboss_create_notification", "Create a notification", "Creates a notification for a member and returns it.",
        [int("user_id", "ID of the member."), int("item_id", "ID of the item that the notification is about, such as an activity, forum, topic or group."),
         int("secondary_item_id", "Secondary ID, whose meaning depends on the component or type."),
         text("component", "Component that the notification belongs to."), text("action", "Name of the component's action that the notification is about."),
         text("date", "Date and time of the notification."), int("is_new", "Read state: 1 is unread, 0 is read.")];
        post "/notifications";
    "buddyboss_update_notifications_read", "Mark all notifications as read", "Marks all notifications of the caller as read and returns the result.", [PER_PAGE];
        put "/notifications/bulk/read";
    "buddyboss_list_subscriptions", "List subscriptions", "Returns a page of subscriptions to forums, topics and groups.",
        [PAGE, PER_PAGE, SEARCH,
         integers("exclude", "Exclude items with these IDs."),
         integers("include", "Return only items with these IDs."),
         text("order", "Sort order.").among(&["asc", "desc"]),
         text("order_by", "Field to sort by.").among(&["id", "type", "item_id", "date_recorded"]),
         text("type", "Type.").among(&["group", "forum", "topic"]),
         int("item_id", "ID of the forum, topic or group."),
         int("secondary_id", "Secondary ID, whose meaning depends on the component or type."),
         int("status", "Return only subscriptions with this status: 1 is active, 0 is inactive.")];
        get "/subscriptions" => SUBSCRIPTIONS;
    "buddyboss_create_subscription", "Create a subscription", "Subscribes a member to a forum, topic or group and returns the subscription.",
        [int("user_id", "ID of the member. Default: the caller."),
         text("type", "Type.").among(&["group", "forum", "topic"]).required(),
         int("item_id", "ID of the forum, topic or group.").required(),
         int("secondary_item_id", "Secondary ID, whose meaning depends on the component or type."),
         int("status", "Status of the subscription: 1 is active, 0 is inactive.").required()];
        post "/subscriptions" as "user_id";
    "buddyboss_get_subscription", "Get a subscription", "Returns one subscription.", [int("id", "ID of the subscription.").required()];
        get "/subscriptions/{id}";
    "buddyboss_delete_subscription", "Delete a subscription", "Deletes a subscription and returns the result.",
        [int("id", "ID of the subscription.").required(), int("user_id", "ID of the member."),
         text("type", "Type.").among(&["group", "forum", "topic"]),
         int("item_id", "ID of the forum, topic or group."),
         int("secondary_item_id", "Secondary ID, whose meaning depends on the component or type."), int("status", "Status.")];
        delete "/subscriptions/{id}";
    "buddyboss_list_subscription_types", "List subscription types", "Returns the types of content that members can subscribe to.", [];
        get "/subscription-types" => SUBSCRIPTION_TYPES;
    "buddyboss_get_moderation_report", "Get a block or report", "Returns one moderation entry: a blocked member or reported content.", [int("id", "ID of the moderation entry.").required()];
        get "/moderation/{id}";
    "buddyboss_get_moderation_report_form", "Get the report form", "Returns the fields and categories of the form for reporting content.", [];
        get "/moderation/report";
};

pub(super) const TOGGLES: &[ToolRow] = &[rows! {
    "buddyboss_toggle_message_star", "Star or unstar a message", "Toggles the caller's star on a message thread and returns the result.", [int("id", "ID of the message thread.").required()];
        put "/messages/starred/{id}";
}[0]
.effect(Effect::Toggles)];

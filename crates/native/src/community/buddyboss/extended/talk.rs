//! Messages, notifications, subscriptions, reports.

use super::{PAGE, PER_PAGE, SEARCH, rows};
use crate::tools::{Effect, Tool, flag, html, int, integers, object, text};

pub(super) const TOOLS: &[Tool] = rows! {
    "buddyboss_update_message_thread", "Changes what goes with a message of the caller's own in a thread: photos, videos, documents.",
        [int("id", "Its number.").required(), integers("bp_media_ids", "The numbers of uploaded photos."),
         object("media_gif", "A moving picture: {url, mp4}.").having(&["url", "mp4"]),
         object("bp_videos", "The numbers of uploaded videos."),
         integers("bp_documents", "The numbers of uploaded documents."),
         flag("recipients_pagination", "Whether those who get it are shown in pages."),
         int("recipients_page", "Which page of those who get it."),
         int("message_id", "The number of the message."), text("before", "Only what was before this time.")];
        put "/messages/{id}";
    "buddyboss_update_message_thread_state", "Hides a thread, marks it as read or unread, or removes its messages.",
        [int("id", "Its number.").required(),
         text("action", "What is done.").among(&["delete_messages", "hide_thread", "unread"]).required(),
         flag("value", "Whether it is done or taken back."), PAGE, PER_PAGE,
         SEARCH];
        edit "/messages/action/{id}";
    "buddyboss_send_group_message", "Sends a message to members of a group.",
        [int("group_id", "The number of the group.").required(), html("message", "The message.").required(),
         text("users", "Whether all or some members get it.").among(&["all", "individual"]).required(),
         integers("users_list", "The numbers of those who get it."),
         text("type", "Of which kind.").among(&["open", "private"]).required(),
         integers("bp_media_ids", "The numbers of uploaded photos."),
         object("media_gif", "A moving picture: {url, mp4}.").having(&["url", "mp4"]),
         integers("bp_documents", "The numbers of uploaded documents.")];
        post "/messages/group";
    "buddyboss_list_message_recipients", "Lists members to whom a message can be sent.",
        [text("term", "The first letters of a name.").required(), int("group_id", "The number of the group."),
         integers("exclude", "Those with these numbers are left out."), PAGE, PER_PAGE];
        get "/messages/search-recipients";
    "buddyboss_find_message_thread", "The thread with a member.",
        [int("user_id", "The number of the member; the caller when left out."),
         int("recipient_id", "The number of the other member.").required(),
         flag("include_group_thread", "Whether groups' threads count, too.")];
        get "/messages/search-thread" as "user_id";
    "buddyboss_create_notification", "Makes a notification.",
        [int("user_id", "The number of the member."), int("item_id", "The number of what it is about."),
         int("secondary_item_id", "A second number of what it is about."),
         text("component", "The component that it comes from."), text("action", "What is done."),
         text("date", "When it was."), int("is_new", "Whether it is unread: 1 or 0.")];
        post "/notifications";
    "buddyboss_update_notifications_read", "Marks all notifications of the caller as read.", [PER_PAGE];
        put "/notifications/bulk/read";
    "buddyboss_list_subscriptions", "Lists what members follow: forums, topics, groups.",
        [PAGE, PER_PAGE, SEARCH,
         integers("exclude", "Those with these numbers are left out."),
         integers("include", "Only those with these numbers."),
         text("order", "Rising or falling.").among(&["asc", "desc"]),
         text("order_by", "What the list is ordered by.").among(&["id", "type", "item_id", "date_recorded"]),
         text("type", "Of which kind.").among(&["group", "forum", "topic"]),
         int("item_id", "The number of what it is about."),
         int("secondary_id", "A second number of what it is about."),
         int("status", "1 for those in force, 0 for others.")];
        get "/subscriptions";
    "buddyboss_create_subscription", "Follows a forum, a topic or a group.",
        [int("user_id", "The number of the member; the caller when left out."),
         text("type", "Of which kind.").among(&["group", "forum", "topic"]).required(),
         int("item_id", "The number of what it is about.").required(),
         int("secondary_item_id", "A second number of what it is about."),
         int("status", "1 for one in force, 0 for none.").required()];
        post "/subscriptions" as "user_id";
    "buddyboss_get_subscription", "One subscription.", [int("id", "Its number.").required()];
        get "/subscriptions/{id}";
    "buddyboss_delete_subscription", "Ends a subscription.",
        [int("id", "Its number.").required(), int("user_id", "The number of the member."),
         text("type", "Of which kind.").among(&["group", "forum", "topic"]),
         int("item_id", "The number of what it is about."),
         int("secondary_item_id", "A second number of what it is about."), int("status", "The status.")];
        delete "/subscriptions/{id}";
    "buddyboss_list_subscription_types", "Lists what can be followed.", [];
        get "/subscription-types";
    "buddyboss_get_moderation_report", "One block or report.", [int("id", "Its number.").required()];
        get "/moderation/{id}";
    "buddyboss_get_moderation_report_form", "What can be said in a report.", [];
        get "/moderation/report";
};

pub(super) const TOGGLES: &[Tool] = &[rows! {
    "buddyboss_toggle_message_star", "Stars a message, or no longer.", [int("id", "Its number.").required()];
        put "/messages/starred/{id}";
}[0]
.effect(Effect::Toggles)];

//! Topics and replies of forums.

use super::{PAGE, PER_PAGE, SEARCH, rows};
use crate::community::lists::TOPICS;
use crate::tools::{Effect, ToolRow, flag, html, int, integers, object, text};

pub(super) const TOOLS: &[ToolRow] = rows! {
    "buddyboss_get_forum_link_preview", "Preview a link for a forum", "Returns the title, description and images of a web page, for use in a forum.",
        [text("url", "URL of the web page.").required()];
        get "/forums/link-preview";
    "buddyboss_list_topics", "List forum topics", "Returns a page of forum topics.",
        [PAGE, PER_PAGE, SEARCH,
         text("author", "Return only topics started by the member with this ID."),
         integers("author_exclude", "Exclude topics started by members with these IDs."),
         integers("exclude", "Exclude items with these IDs."),
         integers("include", "Return only items with these IDs."),
         int("offset", "Number of items to skip."),
         text("order", "Sort order.").among(&["asc", "desc"]),
         text("orderby", "Field to sort by.")
             .among(&["meta_value", "date", "ID", "author", "title", "modified", "parent", "rand", "popular",
                 "activity", "include"]),
         text("status", "Status.").among(&["publish", "private", "hidden"]),
         int("parent", "Return only topics of the forum with this ID."),
         flag("subscriptions", "Return only topics to which the caller is subscribed."),
         flag("favorites", "Include favorites."), text("tag", "Return only topics with this tag.")];
        get "/topics" => TOPICS;
    "buddyboss_update_topic", "Update a forum topic", "Updates a forum topic and returns it.",
        [int("id", "ID of the topic.").required(),
         text("status", "Status.").among(&["publish", "closed", "spam", "trash", "pending"]),
         int("parent", "ID of the forum.").required(),
         text("sticky", "Scope in which the topic is sticky: its forum (stick), all forums (super) or none (unstick).").among(&["stick", "super", "unstick"]),
         text("title", "Title.").required(), html("content", "Content."),
         html("short_content", "Excerpt of the content."), int("group", "ID of the group."),
         text("topic_tags", "Comma-separated tags."), integers("bbp_media", "IDs of uploaded photos to attach."),
         object("bbp_media_gif", "GIF to attach: {url, mp4}.").having(&["url", "mp4"]),
         integers("bbp_documents", "IDs of uploaded documents to attach."),
         text("reason_editing", "Reason for the edit."), flag("log", "Record the edit in the public edit log.")];
        put "/topics/{id}";
    "buddyboss_delete_topic", "Delete a forum topic", "Deletes a forum topic and its replies, and returns the result.", [int("id", "ID of the topic.").required()];
        delete "/topics/{id}";
    "buddyboss_update_topic_by_merging", "Merge forum topics", "Merges a forum topic into another and returns the remaining topic.",
        [int("id", "ID of the topic.").required(),
         int("destination_id", "ID of the destination topic.").required(),
         flag("subscribers", "Move the subscribers of the topic."),
         flag("favorites", "Move the favorites of the topic."), flag("tags", "Move the tags of the topic.")];
        edit "/topics/merge/{id}";
    "buddyboss_update_topic_by_splitting", "Split a forum topic", "Moves a reply and all later ones from a forum topic into a new or existing topic, and returns the result.",
        [int("id", "ID of the topic.").required(),
         int("reply_id", "ID of the first reply to move.").required(),
         text("split_option", "Destination: a new topic (`reply`), or an existing one (`existing`).")
             .among(&["reply", "existing"]).required(),
         text("new_destination_title", "Title of the new topic."),
         int("destination_id", "ID of the destination topic."),
         flag("subscribers", "Move the subscribers of the topic."),
         flag("favorites", "Move the favorites of the topic."), flag("tags", "Move the tags of the topic.")];
        edit "/topics/split/{id}";
    "buddyboss_update_topic_state", "Change the state of a forum topic", "Sets or clears a state of a forum topic: favorite, subscribed, closed, sticky, spam or trashed. Returns the result.",
        [int("id", "ID of the topic.").required(),
         text("action", "Action to perform.")
             .among(&["favorite", "subscribe", "close", "sticky", "super_sticky", "spam", "trash"]).required(),
         flag("value", "Perform the action (true) or undo it (false).")];
        edit "/topics/action/{id}";
    "buddyboss_list_topic_destinations", "List merge destinations of a topic", "Returns the forum topics into which a topic can be merged.",
        [int("id", "ID of the topic.").required(), PAGE, PER_PAGE];
        get "/topics/dropdown/{id}" => TOPICS;
    "buddyboss_get_reply", "Get a forum reply", "Returns one reply to a forum topic.", [int("id", "ID of the reply.").required()];
        get "/reply/{id}";
    "buddyboss_update_reply", "Update a forum reply", "Updates a reply to a forum topic and returns it.",
        [int("id", "ID of the reply.").required(), text("title", "Title."),
         html("content", "Content.").required(), html("short_content", "Excerpt of the content."),
         integers("bbp_media", "IDs of uploaded photos to attach."),
         object("bbp_media_gif", "GIF to attach: {url, mp4}.").having(&["url", "mp4"]),
         integers("bbp_documents", "IDs of uploaded documents to attach."),
         int("reply_to", "ID of the parent reply."),
         int("topic_id", "ID of the topic.").required(), int("forum_id", "ID of the forum."),
         text("tags", "Tags of the topic."), flag("subscribe", "Subscribe the author to the topic."),
         text("reason", "Reason for the edit."), flag("log", "Record the edit in the public edit log.")];
        put "/reply/{id}";
    "buddyboss_delete_reply", "Delete a forum reply", "Deletes a reply to a forum topic and returns the result.", [int("id", "ID of the reply.").required()];
        delete "/reply/{id}";
    "buddyboss_update_reply_state", "Change the state of a forum reply", "Marks or unmarks a reply as spam, or moves it to or out of the trash, and returns the result.",
        [int("id", "ID of the reply.").required(), text("action", "Action to perform.").among(&["spam", "trash"]).required(),
         flag("value", "Perform the action (true) or undo it (false).")];
        edit "/reply/action/{id}";
    "buddyboss_update_reply_topic", "Move a forum reply", "Moves a reply to a new or existing forum topic and returns the result.",
        [int("id", "ID of the reply.").required(),
         text("move_option", "Destination: a new topic, or an existing one.").among(&["topic", "existing"]).required(),
         int("destination_topic_id", "ID of the destination topic."),
         text("destination_topic_title", "Title of the new topic.")];
        edit "/reply/move/{id}";
};

pub(super) const TOGGLES: &[ToolRow] = &[rows! {
    "buddyboss_toggle_forum_subscription", "Subscribe to or unsubscribe from a forum", "Toggles the caller's subscription to a forum and returns the result.", [int("id", "ID of the forum.").required()];
        put "/forums/subscribe/{id}";
}[0]
.effect(Effect::Toggles)];

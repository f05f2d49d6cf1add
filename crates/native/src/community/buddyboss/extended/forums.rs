//! Topics and replies of forums.

use super::{PAGE, PER_PAGE, SEARCH, rows};
use crate::tools::{Effect, Tool, flag, html, int, integers, object, text};

pub(super) const TOOLS: &[Tool] = rows! {
    "buddyboss_get_forum_link_preview", "What a page on the web says of itself, for a forum.",
        [text("url", "The page's address.").required()];
        get "/forums/link-preview";
    "buddyboss_list_topics", "Lists topics of forums.",
        [PAGE, PER_PAGE, SEARCH,
         text("author", "Only those by the member with this number."),
         integers("author_exclude", "Those by the members with these numbers are left out."),
         integers("exclude", "Those with these numbers are left out."),
         integers("include", "Only those with these numbers."),
         int("offset", "How many are skipped before the first."),
         text("order", "Rising or falling.").among(&["asc", "desc"]),
         text("orderby", "What the list is ordered by.")
             .among(&["meta_value", "date", "ID", "author", "title", "modified", "parent", "rand", "popular",
                 "activity", "include"]),
         text("status", "The status.").among(&["publish", "private", "hidden"]),
         int("parent", "Only those of the forum with this number."),
         flag("subscriptions", "Only those that the caller follows."),
         flag("favorites", "Whether favourites come along."), text("tag", "Only those with this tag.")];
        get "/topics";
    "buddyboss_update_topic", "Changes a topic.",
        [int("id", "Its number.").required(),
         text("status", "The status.").among(&["publish", "closed", "spam", "trash", "pending"]),
         int("parent", "The number of the forum.").required(),
         text("sticky", "Whether it stays on top.").among(&["stick", "super", "unstick"]),
         text("title", "The title.").required(), html("content", "What it says."),
         html("short_content", "What it says, in short."), int("group", "The number of the group."),
         text("topic_tags", "Tags, with commas."), integers("bbp_media", "The numbers of uploaded photos."),
         object("bbp_media_gif", "A moving picture: {url, mp4}.").having(&["url", "mp4"]),
         integers("bbp_documents", "The numbers of uploaded documents."),
         text("reason_editing", "Why it was changed."), flag("log", "Whether the change is noted in public.")];
        put "/topics/{id}";
    "buddyboss_delete_topic", "Removes a topic with its replies.", [int("id", "Its number.").required()];
        delete "/topics/{id}";
    "buddyboss_update_topic_by_merging", "Puts a topic into another.",
        [int("id", "Its number.").required(),
         int("destination_id", "The number of the topic that remains.").required(),
         flag("subscribers", "Whether those who follow it come along."),
         flag("favorites", "Whether favourites come along."), flag("tags", "Whether tags come along.")];
        edit "/topics/merge/{id}";
    "buddyboss_update_topic_by_splitting", "Takes replies out of a topic, into one of their own.",
        [int("id", "Its number.").required(),
         int("reply_id", "The number of the first reply that goes.").required(),
         text("split_option", "Whether replies become a new topic or join one.")
             .among(&["reply", "existing"]).required(),
         text("new_destination_title", "The title of the new topic."),
         int("destination_id", "The number of the topic that remains."),
         flag("subscribers", "Whether those who follow it come along."),
         flag("favorites", "Whether favourites come along."), flag("tags", "Whether tags come along.")];
        edit "/topics/split/{id}";
    "buddyboss_update_topic_state", "Closes, sticks, marks or trashes a topic, or makes it a favourite; or the opposite.",
        [int("id", "Its number.").required(),
         text("action", "What is done.")
             .among(&["favorite", "subscribe", "close", "sticky", "super_sticky", "spam", "trash"]).required(),
         flag("value", "Whether it is done or taken back.")];
        edit "/topics/action/{id}";
    "buddyboss_list_topic_destinations", "Lists topics into which one can be put.",
        [int("id", "Its number.").required(), PAGE, PER_PAGE];
        get "/topics/dropdown/{id}";
    "buddyboss_get_reply", "One reply.", [int("id", "Its number.").required()];
        get "/reply/{id}";
    "buddyboss_update_reply", "Changes a reply.",
        [int("id", "Its number.").required(), text("title", "The title."),
         html("content", "What it says.").required(), html("short_content", "What it says, in short."),
         integers("bbp_media", "The numbers of uploaded photos."),
         object("bbp_media_gif", "A moving picture: {url, mp4}.").having(&["url", "mp4"]),
         integers("bbp_documents", "The numbers of uploaded documents."),
         int("reply_to", "The number of the reply that it answers."),
         int("topic_id", "The number of the topic.").required(), int("forum_id", "The number of the forum."),
         text("tags", "Whether tags come along."), flag("subscribe", "Whether the writer follows the topic."),
         text("reason", "Why it was changed."), flag("log", "Whether the change is noted in public.")];
        put "/reply/{id}";
    "buddyboss_delete_reply", "Removes a reply.", [int("id", "Its number.").required()];
        delete "/reply/{id}";
    "buddyboss_update_reply_state", "Marks a reply as spam, or puts it into the bin; or the opposite.",
        [int("id", "Its number.").required(), text("action", "What is done.").among(&["spam", "trash"]).required(),
         flag("value", "Whether it is done or taken back.")];
        edit "/reply/action/{id}";
    "buddyboss_update_reply_topic", "Moves a reply into another topic.",
        [int("id", "Its number.").required(),
         text("move_option", "Whether it becomes a new topic or joins one.").among(&["topic", "existing"]).required(),
         int("destination_topic_id", "The number of the topic that it joins."),
         text("destination_topic_title", "The title of the new topic.")];
        edit "/reply/move/{id}";
};

pub(super) const TOGGLES: &[Tool] = &[rows! {
    "buddyboss_toggle_forum_subscription", "Follows a forum, or no longer.", [int("id", "Its number.").required()];
        put "/forums/subscribe/{id}";
}[0]
.effect(Effect::Toggles)];

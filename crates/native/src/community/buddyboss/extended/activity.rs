//! Comments on activity, reactions, topics that activity can be about.

use super::{EXTENDED, PAGE, PER_PAGE, rows};
use crate::rest::{Bind, Missing, Shape, get, put, value};
use crate::tools::{Argument, Form, Tool, flag, html, int, integers, object, objects, text, tool};

const TOPIC_OF: Argument =
    text("item_type", "Where it is used: activity, or groups for one of a single group.").required();
const TOPIC_IN: Argument = int("item_id", "The group's number, where it is one of a group.");

pub(super) const TOOLS: &[Tool] = rows! {
    "buddyboss_get_activity_details", "How lists of activity can be narrowed down.", [];
        get "/activity/details";
    "buddyboss_get_activity_link_preview", "What a page on the web says of itself, for an activity.",
        [text("url", "The page's address.").required()];
        get "/activity/link-preview";
    "buddyboss_update_activity_pin", "Pins an activity on top, or no longer.",
        [int("id", "Its number.").required(), flag("remove_pin", "Whether the pin is taken off.")];
        put "/activity/{id}/pin";
    "buddyboss_update_activity_comments", "Closes an activity to comments, or opens it again.",
        [int("id", "Its number.").required(), flag("turn_on_comments", "Whether comments are allowed again.")];
        put "/activity/{id}/close-comments";
    "buddyboss_update_activity_notification", "Mutes the notifications about an activity, or no longer.",
        [int("id", "Its number.").required(), text("action", "What is done.").among(&["mute", "unmute"]).required()];
        put "/activity/{id}/notification";
    "buddyboss_list_activity_comments", "Lists the comments on an activity.",
        [int("id", "Its number.").required(),
         text("display_comments", "How comments come along.").among(&["stream", "threaded"])];
        get "/activity/{id}/comment";
    "buddyboss_create_activity_comment", "Comments on an activity.",
        [int("id", "Its number.").required(),
         text("display_comments", "How comments come along.").among(&["stream", "threaded"]),
         html("content", "What it says.").required(),
         int("parent_id", "The number of the one that it belongs to or answers."),
         integers("bp_media_ids", "The numbers of uploaded photos."),
         object("media_gif", "A moving picture: {url, mp4}.").having(&["url", "mp4"]),
         integers("bp_videos", "The numbers of uploaded videos."),
         integers("bp_documents", "The numbers of uploaded documents.")];
        post "/activity/{id}/comment";
    "buddyboss_get_activity_comment", "One comment on an activity.",
        [int("id", "Its number.").required(), int("comment_id", "The comment's number.").required()];
        get "/activity/{id}/comment/{comment_id}";
    "buddyboss_delete_activity_comment", "Removes a comment on an activity.",
        [int("id", "Its number.").required(), int("comment_id", "The comment's number.").required()];
        delete "/activity/{id}/comment/{comment_id}";
    "buddyboss_list_member_reactions", "Lists who has reacted to what.",
        [PAGE, PER_PAGE, int("reaction_id", "The reaction's number."),
         text("item_type", "Only those on this.").among(&["activity", "activity_comment"]),
         int("item_id", "The number of what it is about."), int("user_id", "The number of the member."),
         text("order", "Rising or falling.").among(&["asc", "desc"]),
         text("order_by", "What the list is ordered by.").among(&["id", "date_created"])];
        get "/user-reactions";
    "buddyboss_create_member_reaction", "Reacts to something.",
        [int("reaction_id", "The reaction's number.").required(),
         text("item_type", "What it is about.").among(&["activity", "activity_comment"]).required(),
         int("item_id", "The number of what it is about.").required(),
         int("user_id", "The number of the member; the caller when left out.")];
        post "/user-reactions" as "user_id";
    "buddyboss_get_member_reaction", "One member's reaction.", [int("id", "Its number.").required()];
        get "/user-reactions/{id}";
    "buddyboss_delete_member_reaction", "Takes a reaction back.", [int("id", "Its number.").required()];
        delete "/user-reactions/{id}";
    "buddyboss_list_reactions", "Lists the reactions that there are.", [];
        get "/reactions";
    "buddyboss_list_activity_topics", "Lists the topics that activity can be about.",
        [PER_PAGE, PAGE,
         text("orderby", "What the list is ordered by.")
             .among(&["id", "name", "date_created", "menu_order", "date_updated"]),
         text("order", "Rising or falling.").among(&["ASC", "DESC"]),
         int("item_id", "The number of what it is about."), text("item_type", "What it is about.")];
        get "/bb-topics";
    "buddyboss_create_activity_topic", "Adds a topic that activity can be about.",
        [text("title", "The title.").required(), TOPIC_OF, TOPIC_IN,
         text("permission_type", "Who may use it, such as anyone or mods_admins.").required()];
        post "/bb-topics";
    "buddyboss_get_activity_topic", "One topic that activity can be about.", [int("id", "Its number.").required()];
        get "/bb-topics/{id}";
    "buddyboss_update_activity_topic", "Changes a topic that activity can be about.",
        [int("id", "Its number.").required(), text("title", "The title.").required(), TOPIC_OF, TOPIC_IN,
         text("permission_type", "Who may use it, such as anyone or mods_admins.")];
        put "/bb-topics/{id}";
    "buddyboss_delete_activity_topic", "Removes a topic that activity can be about.",
        [int("id", "Its number.").required(), TOPIC_OF, TOPIC_IN];
        delete "/bb-topics/{id}";
    "buddyboss_update_activity_topic_order", "Orders the topics that activity can be about.",
        [TOPIC_OF, TOPIC_IN,
         objects("topics", "Each {topic_id, menu_order}, the topic's number as a text.")
             .having(&["topic_id", "menu_order"]).required()];
        put "/bb-topics/order";
};

pub(super) const COMMENTS: &[Tool] = &[tool(
    "buddyboss_update_activity_comment",
    "Changes a comment on an activity.",
    &[
        int("comment_id", "The comment's number.").required(),
        int("id", "The activity's number.").required(),
        html("content", "What it says.").required(),
        text("display_comments", "How comments come along.").among(&["stream", "threaded"]),
    ],
    // The route takes a comment that does not say what it answers for one on the activity itself.
    &[
        get("buddyboss", "/activity/{id}/comment/{comment_id}").alone().binds(&[ANSWERED]).step(),
        put("buddyboss", "/activity/{id}/comment/{comment_id}")
            .with(&[value("parent_id", "answered", Form::Plain)])
            .step(),
    ],
    Shape::Whole,
)
.phase(EXTENDED)];

/// What a comment answers.
const ANSWERED: Bind = Bind { name: "answered", at: "/secondary_item_id", missing: Missing::Nothing };

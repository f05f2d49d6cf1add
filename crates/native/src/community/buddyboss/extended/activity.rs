//! Comments on activity, reactions, and topics of activity.

use super::{EXTENDED, PAGE, PER_PAGE, rows};
use crate::community::lists::{ACTIVITY_COMMENTS, ACTIVITY_TOPICS, MEMBER_REACTIONS, REACTIONS};
use crate::rest::{Bind, MissingValue, Shape, get, put, value};
use crate::tools::{Form, ToolArgument, ToolRow, flag, html, int, integers, object, objects, text, titled};

const TOPIC_OF: ToolArgument = text(
    "item_type",
    "Scope of the topic: `activity` for a topic of all activities, `groups` for a topic of a single group.",
)
.required();
const TOPIC_IN: ToolArgument = int("item_id", "ID of the group, if the topic belongs to a single group.");

pub(super) const TOOLS: &[ToolRow] = rows! {
    "buddyboss_get_activity_details", "Get activity list filters", "Returns the tabs and filters available for lists of activities.", [];
        get "/activity/details";
    "buddyboss_get_activity_link_preview", "Preview a link for an activity", "Returns the title, description and images of a web page, for use in an activity.",
        [text("url", "URL of the web page.").required()];
        get "/activity/link-preview";
    "buddyboss_update_activity_pin", "Pin or unpin an activity", "Pins an activity to the top of the feed or unpins it, and returns the activity.",
        [int("id", "ID of the activity.").required(), flag("remove_pin", "Unpin the activity instead of pinning it.")];
        put "/activity/{id}/pin";
    "buddyboss_update_activity_comments", "Close or open activity comments", "Allows or stops comments on an activity, and returns the activity.",
        [int("id", "ID of the activity.").required(), flag("turn_on_comments", "Allow comments (true) or stop them (false).")];
        put "/activity/{id}/close-comments";
    "buddyboss_update_activity_notification", "Mute or unmute an activity", "Mutes or unmutes the caller's notifications about an activity, and returns the activity.",
        [int("id", "ID of the activity.").required(), text("action", "Action to perform.").among(&["mute", "unmute"]).required()];
        put "/activity/{id}/notification";
    "buddyboss_list_activity_comments", "List activity comments", "Returns the comments on an activity.",
        [int("id", "ID of the activity.").required(),
         text("display_comments", "Presentation of comments: nested (`threaded`) or as separate items (`stream`).").among(&["stream", "threaded"])];
        get "/activity/{id}/comment" => ACTIVITY_COMMENTS;
    "buddyboss_create_activity_comment", "Comment on an activity", "Creates a comment on an activity and returns the comment.",
        [int("id", "ID of the activity.").required(),
         text("display_comments", "Presentation of comments: nested (`threaded`) or as separate items (`stream`).").among(&["stream", "threaded"]),
         html("content", "Content.").required(),
         int("parent_id", "ID of the parent comment."),
         integers("bp_media_ids", "IDs of uploaded photos to attach."),
         object("media_gif", "GIF to attach: {url, mp4}.").having(&["url", "mp4"]),
         integers("bp_videos", "IDs of uploaded videos to attach."),
         integers("bp_documents", "IDs of uploaded documents to attach.")];
        post "/activity/{id}/comment";
    "buddyboss_get_activity_comment", "Get an activity comment", "Returns one comment on an activity.",
        [int("id", "ID of the activity.").required(), int("comment_id", "ID of the comment.").required()];
        get "/activity/{id}/comment/{comment_id}";
    "buddyboss_delete_activity_comment", "Delete an activity comment", "Deletes a comment on an activity and returns the result.",
        [int("id", "ID of the activity.").required(), int("comment_id", "ID of the comment.").required()];
        delete "/activity/{id}/comment/{comment_id}";
    "buddyboss_list_member_reactions", "List reactions of members", "Returns a page of the reactions of members to activities and comments.",
        [PAGE, PER_PAGE, int("reaction_id", "ID of the reaction."),
         text("item_type", "Return only reactions to this type of item.").among(&["activity", "activity_comment"]),
         int("item_id", "ID of the activity or activity comment."), int("user_id", "ID of the member."),
         text("order", "Sort order.").among(&["asc", "desc"]),
         text("order_by", "Field to sort by.").among(&["id", "date_created"])];
        get "/user-reactions" => MEMBER_REACTIONS;
    "buddyboss_create_member_reaction", "Add a reaction", "Adds a member's reaction to an activity or comment and returns the reaction.",
        [int("reaction_id", "ID of the reaction.").required(),
         text("item_type", "Type of the item.").among(&["activity", "activity_comment"]).required(),
         int("item_id", "ID of the activity or activity comment.").required(),
         int("user_id", "ID of the member. Default: the caller.")];
        post "/user-reactions" as "user_id";
    "buddyboss_get_member_reaction", "Get a reaction of a member", "Returns one reaction of a member.", [int("id", "ID of the member's reaction.").required()];
        get "/user-reactions/{id}";
    "buddyboss_delete_member_reaction", "Remove a reaction", "Removes a member's reaction and returns the result.", [int("id", "ID of the member's reaction.").required()];
        delete "/user-reactions/{id}";
    "buddyboss_list_reactions", "List available reactions", "Returns the reactions that members can choose from.", [];
        get "/reactions" => REACTIONS;
    "buddyboss_list_activity_topics", "List activity topics", "Returns the topics available for activities.",
        [PER_PAGE, PAGE,
         text("orderby", "Field to sort by.")
             .among(&["id", "name", "date_created", "menu_order", "date_updated"]),
         text("order", "Sort order.").among(&["ASC", "DESC"]),
         int("item_id", "ID of the group that the topics belong to."), text("item_type", "Scope of the topics: `activity` for topics of all activities, `groups` for those of a single group.")];
        get "/bb-topics" => ACTIVITY_TOPICS;
    "buddyboss_create_activity_topic", "Create an activity topic", "Creates a topic for activities and returns it.",
        [text("title", "Title.").required(), TOPIC_OF, TOPIC_IN,
         text("permission_type", "The members who may use the topic, such as anyone or mods_admins.").required()];
        post "/bb-topics";
    "buddyboss_get_activity_topic", "Get an activity topic", "Returns one topic for activities.", [int("id", "ID of the topic.").required()];
        get "/bb-topics/{id}";
    "buddyboss_update_activity_topic", "Update an activity topic", "Updates a topic for activities and returns it.",
        [int("id", "ID of the topic.").required(), text("title", "Title.").required(), TOPIC_OF, TOPIC_IN,
         text("permission_type", "The members who may use the topic, such as anyone or mods_admins.")];
        put "/bb-topics/{id}";
    "buddyboss_delete_activity_topic", "Delete an activity topic", "Deletes a topic for activities and returns the result.",
        [int("id", "ID of the topic.").required(), TOPIC_OF, TOPIC_IN];
        delete "/bb-topics/{id}";
    "buddyboss_update_activity_topic_order", "Reorder activity topics", "Changes the order of the topics for activities and returns the result.",
        [TOPIC_OF, TOPIC_IN,
         objects("topics", "Topics in their new order, each {topic_id, menu_order}; topic_id is a string.")
             .having(&["topic_id", "menu_order"]).required()];
        put "/bb-topics/order";
};

pub(super) const COMMENTS: &[ToolRow] = &[titled(
    "buddyboss_update_activity_comment",
    "Update an activity comment",
    "Updates a comment on an activity and returns the comment.",
    &[
        int("comment_id", "ID of the comment.").required(),
        int("id", "ID of the activity.").required(),
        html("content", "Content.").required(),
        text(
            "display_comments",
            "Presentation of comments: nested (`threaded`) or as separate items (`stream`).",
        )
        .among(&["stream", "threaded"]),
    ],
    // If a call does not name the comment to reply to, the route treats the new comment as one on the activity itself.
    &[
        get("buddyboss", "/activity/{id}/comment/{comment_id}").alone().binds(&[ANSWERED]).step(),
        put("buddyboss", "/activity/{id}/comment/{comment_id}")
            .with(&[value("parent_id", "answered", Form::Plain)])
            .step(),
    ],
    Shape::Whole,
)
.phase(EXTENDED)];

/// The ID of the item that a comment replies to.
const ANSWERED: Bind = Bind { name: "answered", at: "/secondary_item_id", missing: MissingValue::Nothing };

//! The entries of community lists in compact answers: they contain everything that helps to choose an entry, and
//! nothing that only a web page needs. BuddyBoss and both versions of BuddyPress's API name some members
//! differently. This module must not know any tool.

use crate::rest::MemberSource::{Count, Each, Excerpt, First};
use crate::rest::{MemberSource, Shape, ShownMember, pick};

/// A member that has the same name in the answer and in the entry.
macro_rules! same {
    ($($name:literal),* $(,)?) => { [$(pick($name, concat!("/", $name))),*] };
}

/// A shape with members that keep their names, followed by members that are taken from elsewhere.
macro_rules! entries {
    ($list:literal: $($name:literal)*; $($new:literal = $from:expr),* $(,)?) => {
        Shape::Rows($list, &[$(pick($name, concat!("/", $name)),)* $(new($new, $from)),*])
    };
}

const fn new(name: &'static str, from: MemberSource) -> ShownMember {
    ShownMember { name, from }
}

const LOGIN: MemberSource = First(&["/user_login", "/mention_name"]);
/// The date of the last activity. BuddyPress sends a date and also a phrase for it.
const LAST_ACTIVITY: MemberSource = First(&["/last_activity/date", "/last_activity"]);
const FRIENDSHIP: MemberSource = First(&["/friendship_status_slug", "/friendship_status"]);
const TITLE: MemberSource = Excerpt(&["/title/raw", "/title/rendered", "/title"]);
const DESCRIPTION: MemberSource = Excerpt(&["/description/raw", "/description/rendered", "/description"]);
const POSTED: MemberSource = Excerpt(&["/short_content", "/content/raw", "/content/rendered"]);

pub(super) const MEMBERS: Shape = entries!("members": "id" "name" "link" "member_types";
    "username" = LOGIN, "last_activity" = LAST_ACTIVITY, "friendship" = FRIENDSHIP);
pub(super) const GROUP_MEMBERS: Shape = entries!("members":
    "id" "name" "is_admin" "is_mod" "is_banned" "is_confirmed";
    "username" = LOGIN, "joined" = First(&["/date_modified"]), "last_activity" = LAST_ACTIVITY);
pub(super) const ACTIVITIES: Shape = entries!("activities":
    "id" "user_id" "component" "type" "primary_item_id" "secondary_item_id" "date" "privacy" "comment_count"
    "favorite_count" "favorited" "link";
    "author" = First(&["/name"]),
    "text" = Excerpt(&["/content_stripped", "/content/raw", "/content/rendered", "/title"]));
pub(super) const ACTIVITY_COMMENTS: Shape = entries!("comments": "id" "user_id" "primary_item_id" "secondary_item_id" "date" "favorite_count";
    "author" = First(&["/name"]), "text" = Excerpt(&["/content_stripped", "/content/raw", "/content/rendered"]));
pub(super) const GROUPS: Shape = entries!("groups":
    "id" "name" "status" "creator_id" "parent_id" "role" "is_member" "types" "link";
    "description" = DESCRIPTION,
    "members" = First(&["/members_count", "/total_member_count"]), "last_activity" = LAST_ACTIVITY);
pub(super) const GROUP_INVITES: Shape = entries!("invites":
    "id" "group_id" "user_id" "inviter_id" "type" "invite_sent";
    "message" = Excerpt(&["/message/raw", "/message/rendered", "/message"]), "date" = First(&["/date_modified"]));
pub(super) const GROUP_REQUESTS: Shape = entries!("requests": "id" "group_id" "user_id";
    "message" = Excerpt(&["/message/raw", "/message/rendered", "/message"]), "date" = First(&["/date_modified"]));
pub(super) const GROUP_TYPES: Shape = entries!("types": "name" "directory_slug";
    "label" = First(&["/labels/singular_name", "/labels/name"]), "description" = DESCRIPTION);

/// A list of threads contains only a few recipients of each thread; the thread itself contains all of them. The
/// same list contains BuddyPress's notices.
pub(super) const THREADS: Shape = entries!("threads":
    "id" "date" "unread_count" "last_sender_id" "recipients_count" "is_active";
    "subject" = Excerpt(&["/subject/raw", "/subject/rendered", "/subject"]),
    "excerpt" = Excerpt(&["/excerpt/raw", "/excerpt/rendered", "/message/raw", "/message/rendered"]),
    "messages" = First(&["/messages_count"]),
    "recipients" = Each("/recipients", &[new("id", First(&["/user_id", "/id"])), pick("name", "/name")], 4));
pub(super) const NOTIFICATIONS: Shape = entries!("notifications":
    "id" "user_id" "component" "action" "item_id" "secondary_item_id" "is_new" "date";
    "text" = DESCRIPTION, "link" = First(&["/link_url"]));
pub(super) const FRIENDS: Shape =
    Shape::Rows("friends", &same!["id", "initiator_id", "friend_id", "is_confirmed", "date_created"]);

pub(super) const FIELD_GROUPS: Shape = entries!("groups": "id" "name" "group_order" "repeater_enabled";
    "description" = DESCRIPTION, "fields" = Each("/fields", &same!["id", "name", "type", "is_required"], 40));
pub(super) const FIELDS: Shape = entries!("fields": "id" "group_id" "name" "type" "is_required";
    "description" = DESCRIPTION,
    "options" = Each("/options", &same!["id", "name"], 10),
    "value" = Excerpt(&["/data/value/raw", "/data/value/rendered"]));

pub(super) const PHOTOS: Shape = entries!("media":
    "id" "user_id" "title" "album_id" "group_id" "activity_id" "privacy" "date_created" "url";
    "author" = First(&["/display_name"]), "description" = DESCRIPTION);
pub(super) const VIDEOS: Shape = entries!("videos":
    "id" "user_id" "title" "album_id" "group_id" "activity_id" "privacy" "date_created" "url";
    "author" = First(&["/display_name"]), "description" = DESCRIPTION);
pub(super) const DOCUMENTS: Shape = entries!("documents":
    "id" "user_id" "type" "title" "filename" "size" "folder_id" "group_id" "privacy" "date_created";
    "author" = First(&["/display_name"]), "description" = DESCRIPTION, "url" = First(&["/download_url"]));
pub(super) const FOLDERS: Shape = entries!("folders":
    "id" "user_id" "title" "folder_id" "group_id" "privacy" "date_created" "count";
    "author" = First(&["/display_name"]));
pub(super) const ALBUMS: Shape = entries!("albums": "id" "user_id" "title" "group_id" "privacy" "date_created";
    "author" = First(&["/display_name"]), "items" = First(&["/media/total"]));
pub(super) const POSTERS: Shape =
    Shape::Rows("posters", &same!["attachment_id", "url", "can_set", "can_delete"]);
pub(super) const REPORTS: Shape = entries!("reports": "id" "item_id" "type" "count" "hide_sitewide";
    "reporters" = Count("/reporters"));

pub(super) const FORUMS: Shape = entries!("forums":
    "id" "parent" "status" "is_closed" "date" "link" "total_topic_count" "total_reply_count";
    "title" = TITLE, "text" = POSTED, "last_activity" = First(&["/last_active_time"]));
pub(super) const TOPICS: Shape = entries!("topics":
    "id" "forum_id" "author" "status" "is_closed" "date" "link" "total_reply_count";
    "title" = TITLE, "text" = POSTED, "last_activity" = First(&["/last_active_time"]));
pub(super) const REPLIES: Shape = entries!("replies": "id" "parent" "reply_to" "author" "status" "date" "link";
    "text" = POSTED);
pub(super) const COURSES: Shape =
    entries!("courses": "id" "slug" "status" "author" "date" "link"; "title" = TITLE);

pub(super) const SUBSCRIPTIONS: Shape = entries!("subscriptions": "id" "user_id" "type" "item_id" "status" "date_created" "link"; "title" = TITLE);
pub(super) const SUBSCRIPTION_TYPES: Shape = Shape::Rows("types", &same!["type", "label", "count"]);
pub(super) const RECIPIENTS: Shape =
    entries!("members": "id"; "name" = First(&["/text"]), "username" = First(&["/userhandle"]));
pub(super) const MENTIONS: Shape = entries!("members": "name"; "id" = First(&["/user_id", "/id"]), "username" = First(&["/user_nicename", "/display_id"]));
pub(super) const SIGNUPS: Shape = Shape::Rows(
    "signups",
    &same!["id", "user_login", "user_name", "user_email", "registered", "date_sent", "count_sent"],
);
pub(super) const EMAIL_INVITES: Shape = entries!("invites": "id" "name" "email" "date";
    "status" = First(&["/invitee-status", "/status"]));
pub(super) const INVITE_TYPES: Shape = Shape::Rows("types", &same!["value", "label"]);
pub(super) const SECTIONS: Shape = Shape::Rows("sections", &same!["slug", "name", "link"]);
pub(super) const REACTIONS: Shape = Shape::Rows("reactions", &same!["id", "name"]);
pub(super) const MEMBER_REACTIONS: Shape =
    Shape::Rows("reactions", &same!["id", "user_id", "reaction_id", "item_type", "item_id", "date_created"]);
pub(super) const ACTIVITY_TOPICS: Shape =
    Shape::Rows("topics", &same!["topic_id", "name", "slug", "item_id", "is_global_activity"]);
pub(super) const BLOGS: Shape =
    entries!("sites": "id" "user_id" "name" "permalink" "last_activity"; "description" = DESCRIPTION);
pub(super) const COMPONENTS: Shape =
    entries!("components": "name" "title" "status" "is_active"; "description" = DESCRIPTION);
pub(super) const FIELD_TYPES: Shape = entries!("types": "name" "directory_slug";
    "label" = First(&["/labels/singular_name", "/labels/name", "/label"]));

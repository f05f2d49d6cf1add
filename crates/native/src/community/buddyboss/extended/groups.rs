//! Groups: who is in them, invitations, requests, settings, pictures.

use super::{PAGE, PER_PAGE, PICTURE, rows, upload};
use crate::rest::{Encoding, FileFrom, Step, fixed, post};
use crate::tools::{Literal, Tool, flag, html, int, integers, object, text};

pub(super) const TOOLS: &[Tool] = rows! {
    "buddyboss_get_groups_details", "How lists of groups can be narrowed down.",
        [text("type", "Of which kind.").among(&["active", "popular", "newest", "alphabetical"])];
        get "/groups/details";
    "buddyboss_get_group_detail", "The parts of a group's page, with their counts.",
        [int("id", "Its number.").required()];
        get "/groups/{id}/detail";
    "buddyboss_get_group_info", "A group in short.", [int("id", "Its number.").required()];
        get "/groups/{id}/info";
    "buddyboss_update_group_member", "Promotes, demotes, bans or admits a member of a group.",
        [int("group_id", "The number of the group.").required(),
         int("user_id", "The number of the member.").required(),
         text("role", "The role.").among(&["admin", "mod", "member"]),
         text("action", "What is done.").among(&["promote", "demote", "ban", "unban"]).required()];
        put "/groups/{group_id}/members/{user_id}";
    "buddyboss_get_group_settings", "One part of a group's settings.",
        [int("id", "Its number.").required(),
         text("nav", "Which part.").among(&["edit-details", "group-settings", "forum"]).required()];
        get "/groups/{id}/settings";
    "buddyboss_update_group_settings", "Changes one part of a group's settings.",
        [int("id", "Its number.").required(),
         text("nav", "Which part.").among(&["edit-details", "group-settings", "forum"]).required(),
         object("fields", "Values by the names that the part has.").required()];
        put "/groups/{id}/settings";
    "buddyboss_list_group_invites", "Lists invitations to groups.",
        [PAGE, PER_PAGE, int("group_id", "The number of the group."), int("user_id", "The number of the member."),
         int("inviter_id", "The number of the member who invites; the caller when left out."),
         text("invite_sent", "Whether they were sent.").among(&["draft", "sent", "all"]),
         text("order_by", "What the list is ordered by.").among(&["id", "include"]),
         text("sort_order", "Rising or falling.").among(&["asc", "desc"])];
        get "/groups/invites";
    "buddyboss_send_group_invite", "Invites a member to a group.",
        [int("user_id", "The number of the member.").required(),
         int("inviter_id", "The number of the member who invites; the caller when left out."),
         int("group_id", "The number of the group.").required(), html("message", "The message."),
         flag("send_invite", "Whether the invitation is sent at once.")];
        post "/groups/invites" as "inviter_id";
    "buddyboss_send_group_invites", "Invites several members to a group.",
        [integers("user_id", "The number of the member."),
         int("inviter_id", "The number of the member who invites; the caller when left out."),
         int("group_id", "The number of the group.").required(), html("message", "The message."),
         flag("send_invite", "Whether the invitation is sent at once.")];
        post "/groups/invites/multiple" as "inviter_id";
    "buddyboss_get_group_invite", "One invitation to a group.",
        [int("invite_id", "The invitation's number.").required()];
        get "/groups/invites/{invite_id}";
    "buddyboss_update_group_invite", "Accepts an invitation to a group.",
        [int("invite_id", "The invitation's number.").required()];
        put "/groups/invites/{invite_id}";
    "buddyboss_delete_group_invite", "Takes back or declines an invitation to a group.",
        [int("invite_id", "The invitation's number.").required()];
        delete "/groups/invites/{invite_id}";
    "buddyboss_list_group_membership_requests", "Lists requests to join groups.",
        [PAGE, PER_PAGE, int("group_id", "The number of the group."), int("user_id", "The number of the member."),
         text("order_by", "What the list is ordered by.").among(&["id", "include"]),
         text("sort_order", "Rising or falling.").among(&["asc", "desc"])];
        get "/groups/membership-requests";
    "buddyboss_create_group_membership_request", "Asks to join a group.",
        [int("user_id", "The number of the member; the caller when left out."),
         int("group_id", "The number of the group.").required(), html("message", "The message."),
         flag("joined", "Whether the member joins at once, where that is allowed.")];
        post "/groups/membership-requests" as "user_id";
    "buddyboss_get_group_membership_request", "One request to join a group.",
        [int("request_id", "The request's number.").required()];
        get "/groups/membership-requests/{request_id}";
    "buddyboss_update_group_membership_request", "Accepts a request to join a group.",
        [int("request_id", "The request's number.").required()];
        put "/groups/membership-requests/{request_id}";
    "buddyboss_delete_group_membership_request", "Declines or takes back a request to join a group.",
        [int("request_id", "The request's number.").required()];
        delete "/groups/membership-requests/{request_id}";
    "buddyboss_list_group_types", "Lists the types of groups.", [];
        get "/groups/types";
    "buddyboss_get_group_avatar", "The addresses of a group's picture.",
        [int("group_id", "The number of the group.").required(), flag("html", "Whether it is shown as markup."),
         text("alt", "The text that stands for the picture.")];
        get "/groups/{group_id}/avatar";
    "buddyboss_delete_group_avatar", "Removes a group's picture.",
        [int("group_id", "The number of the group.").required()];
        delete "/groups/{group_id}/avatar";
    "buddyboss_get_group_cover", "The address of the picture above a group's page.",
        [int("group_id", "The number of the group.").required()];
        get "/groups/{group_id}/cover";
    "buddyboss_delete_group_cover", "Removes the picture above a group's page.",
        [int("group_id", "The number of the group.").required()];
        delete "/groups/{group_id}/cover";
};

pub(super) const PICTURES: &[Tool] = &[
    upload(
        "buddyboss_upload_group_avatar",
        "Gives a group a picture.",
        &[int("group_id", "The number of the group.").required(), PICTURE],
        &[
            Step::File(FileFrom::Either("file")),
            post("buddyboss", "/groups/{group_id}/avatar")
                .encoded(Encoding::File("file"))
                .with(&[fixed("action", Literal::Text("bp_avatar_upload"))])
                .step(),
        ],
    ),
    upload(
        "buddyboss_upload_group_cover",
        "Puts a picture above a group's page.",
        &[int("group_id", "The number of the group.").required(), PICTURE],
        &[
            Step::File(FileFrom::Either("file")),
            post("buddyboss", "/groups/{group_id}/cover")
                .encoded(Encoding::File("file"))
                .with(&[fixed("action", Literal::Text("bp_cover_image_upload"))])
                .step(),
        ],
    ),
];

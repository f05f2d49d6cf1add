//! Groups: members, invitations, requests, settings, pictures.

use super::{PAGE, PER_PAGE, PICTURE, rows, upload};
use crate::community::lists::{GROUP_INVITES, GROUP_REQUESTS, GROUP_TYPES};
use crate::rest::{Encoding, FileFrom, Step, fixed, post};
use crate::tools::{Literal, ToolRow, flag, html, int, integers, object, text};

pub(super) const TOOLS: &[ToolRow] = rows! {
    "buddyboss_get_groups_details", "Get group list filters", "Returns the tabs and filters available for lists of groups.",
        [text("type", "Type.").among(&["active", "popular", "newest", "alphabetical"])];
        get "/groups/details";
    "buddyboss_get_group_detail", "Get group page tabs", "Returns the tabs of a group's page with their item counts.",
        [int("id", "ID of the group.").required()];
        get "/groups/{id}/detail";
    "buddyboss_get_group_info", "Get a group summary", "Returns a summary of a group.", [int("id", "ID of the group.").required()];
        get "/groups/{id}/info";
    "buddyboss_update_group_member", "Change a group membership", "Promotes, demotes, bans or unbans a member of a group, and returns the membership.",
        [int("group_id", "ID of the group.").required(),
         int("user_id", "ID of the member.").required(),
         text("role", "Role to promote the member to.").among(&["admin", "mod", "member"]),
         text("action", "Action to perform.").among(&["promote", "demote", "ban", "unban"]).required()];
        put "/groups/{group_id}/members/{user_id}";
    "buddyboss_get_group_settings", "Get group settings", "Returns one section of a group's settings.",
        [int("id", "ID of the group.").required(),
         text("nav", "Name of the section.").among(&["edit-details", "group-settings", "forum"]).required()];
        get "/groups/{id}/settings";
    "buddyboss_update_group_settings", "Update group settings", "Updates one section of a group's settings and returns the section.",
        [int("id", "ID of the group.").required(),
         text("nav", "Name of the section.").among(&["edit-details", "group-settings", "forum"]).required(),
         object("fields", "Object with the new values, keyed by the field names of the section.").required()];
        put "/groups/{id}/settings";
    "buddyboss_list_group_invites", "List group invitations", "Returns a page of invitations to groups.",
        [PAGE, PER_PAGE, int("group_id", "ID of the group."), int("user_id", "ID of the member."),
         int("inviter_id", "ID of the inviting member. Default: the caller."),
         text("invite_sent", "Return only drafts, only sent invitations, or all.").among(&["draft", "sent", "all"]),
         text("order_by", "Field to sort by.").among(&["id", "include"]),
         text("sort_order", "Sort order.").among(&["asc", "desc"])];
        get "/groups/invites" => GROUP_INVITES;
    "buddyboss_send_group_invite", "Invite a member to a group", "Invites one member to a group and returns the invitation.",
        [int("user_id", "ID of the member.").required(),
         int("inviter_id", "ID of the inviting member. Default: the caller."),
         int("group_id", "ID of the group.").required(), html("message", "Message text."),
         flag("send_invite", "Send the invitation immediately.")];
        post "/groups/invites" as "inviter_id";
    "buddyboss_send_group_invites", "Invite several members to a group", "Invites several members to a group and returns the result.",
        [integers("user_id", "IDs of the members to invite."),
         int("inviter_id", "ID of the inviting member. Default: the caller."),
         int("group_id", "ID of the group.").required(), html("message", "Message text."),
         flag("send_invite", "Send the invitation immediately.")];
        post "/groups/invites/multiple" as "inviter_id";
    "buddyboss_get_group_invite", "Get a group invitation", "Returns one invitation to a group.",
        [int("invite_id", "ID of the invitation.").required()];
        get "/groups/invites/{invite_id}";
    "buddyboss_update_group_invite", "Accept a group invitation", "Accepts an invitation to a group and returns the result.",
        [int("invite_id", "ID of the invitation.").required()];
        put "/groups/invites/{invite_id}";
    "buddyboss_delete_group_invite", "Withdraw or decline a group invitation", "Withdraws or declines an invitation to a group and returns the result.",
        [int("invite_id", "ID of the invitation.").required()];
        delete "/groups/invites/{invite_id}";
    "buddyboss_list_group_membership_requests", "List group membership requests", "Returns a page of requests to join a group.",
        [PAGE, PER_PAGE, int("group_id", "ID of the group."), int("user_id", "ID of the member."),
         text("order_by", "Field to sort by.").among(&["id", "include"]),
         text("sort_order", "Sort order.").among(&["asc", "desc"])];
        get "/groups/membership-requests" => GROUP_REQUESTS;
    "buddyboss_create_group_membership_request", "Request group membership", "Requests membership in a group and returns the request.",
        [int("user_id", "ID of the member. Default: the caller."),
         int("group_id", "ID of the group.").required(), html("message", "Message text."),
         flag("joined", "Join immediately, if the group allows it.")];
        post "/groups/membership-requests" as "user_id";
    "buddyboss_get_group_membership_request", "Get a group membership request", "Returns one request to join a group.",
        [int("request_id", "ID of the membership request.").required()];
        get "/groups/membership-requests/{request_id}";
    "buddyboss_update_group_membership_request", "Accept a group membership request", "Accepts a request to join a group and returns the result.",
        [int("request_id", "ID of the membership request.").required()];
        put "/groups/membership-requests/{request_id}";
    "buddyboss_delete_group_membership_request", "Reject a group membership request", "Rejects or withdraws a request to join a group and returns the result.",
        [int("request_id", "ID of the membership request.").required()];
        delete "/groups/membership-requests/{request_id}";
    "buddyboss_list_group_types", "List group types", "Returns the group types of the site.", [];
        get "/groups/types" => GROUP_TYPES;
    "buddyboss_get_group_avatar", "Get a group's avatar", "Returns the URLs of a group's avatar.",
        [int("group_id", "ID of the group.").required(), flag("html", "Return an HTML img element instead of URLs."),
         text("alt", "Alternative text of the image.")];
        get "/groups/{group_id}/avatar";
    "buddyboss_delete_group_avatar", "Delete a group's avatar", "Deletes a group's avatar and returns the result.",
        [int("group_id", "ID of the group.").required()];
        delete "/groups/{group_id}/avatar";
    "buddyboss_get_group_cover", "Get a group's cover image", "Returns the URL of a group's cover image.",
        [int("group_id", "ID of the group.").required()];
        get "/groups/{group_id}/cover";
    "buddyboss_delete_group_cover", "Delete a group's cover image", "Deletes a group's cover image and returns the result.",
        [int("group_id", "ID of the group.").required()];
        delete "/groups/{group_id}/cover";
};

pub(super) const PICTURES: &[ToolRow] = &[
    upload(
        "buddyboss_upload_group_avatar",
        "Upload a group avatar",
        "Uploads an image, makes it the avatar of a group, and returns its URLs.",
        &[int("group_id", "ID of the group.").required(), PICTURE],
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
        "Upload a group cover image",
        "Uploads an image, makes it the cover image of a group, and returns its URL.",
        &[int("group_id", "ID of the group.").required(), PICTURE],
        &[
            Step::File(FileFrom::Either("file")),
            post("buddyboss", "/groups/{group_id}/cover")
                .encoded(Encoding::File("file"))
                .with(&[fixed("action", Literal::Text("bp_cover_image_upload"))])
                .step(),
        ],
    ),
];

//! Members, their pictures and accounts; registrations, friends, invitations by e-mail.

use super::super::people::{ENDED, SURELY_ENDED};
use super::{EXTENDED, PAGE, PER_PAGE, PICTURE, rows, upload};
use crate::community::lists::{self, EMAIL_INVITES, INVITE_TYPES, MENTIONS, SECTIONS};
use crate::rest::{Encoding, FileFrom, Shape, Step, delete, fixed, post};
use crate::tools::{
    Form, Literal, ToolRow, flag, html, int, integers, list, object, objects, raw, text, titled,
};

pub(super) const TOOLS: &[ToolRow] = rows! {
    "buddyboss_get_current_member", "Get the current member", "Returns the member whose account this server uses.", [];
        get "/members/me";
    "buddyboss_update_current_member", "Update the current member", "Updates the member whose account this server uses, and returns it. Omitted fields keep their values.",
        [text("name", "Display name."), list("roles", "WordPress roles."),
         text("types", "Profile type of the member.")];
        put "/members/me";
    "buddyboss_get_current_member_permissions", "Get the current member's permissions", "Returns the permissions of the member whose account this server uses.", [];
        get "/members/me/permissions";
    "buddyboss_delete_current_member", "Delete the current member", "Permanently deletes the account that this server uses, and returns the result.",
        [flag("force", "Delete permanently."),
         int("reassign", "ID of the member to reassign the deleted member's content to; 0 for none.").required().form(Form::NumberOrFalse)];
        delete "/members/me";
    "buddyboss_update_member_following", "Follow or unfollow a member", "Follows or unfollows a member and returns the result.",
        [int("id", "ID of the member.").required(),
         text("action", "Action to perform.").among(&["follow", "unfollow"]).required()];
        put "/members/action/{id}";
    "buddyboss_get_member_presence", "Get members' online status", "Returns the online status of members.",
        [integers("ids", "IDs of the members.").required()];
        query "/members/presence";
    "buddyboss_get_members_details", "Get member list filters", "Returns the tabs and filters available for lists of members.", [];
        get "/members/details";
    "buddyboss_get_member_detail", "Get profile page tabs", "Returns the tabs of a member's profile page with their item counts.",
        [int("id", "ID of the member.").required()];
        get "/members/{id}/detail";
    "buddyboss_get_profile_dropdown", "Get the profile menu", "Returns the items of the current member's profile dropdown menu.",
        [flag("default", "Return the default menu.")];
        get "/members/profile-dropdown";
    "buddyboss_get_member_info", "Get a member summary", "Returns a summary of a member.", [int("id", "ID of the member.").required()];
        get "/members/{id}/info";
    "buddyboss_get_member_avatar", "Get a member's avatar", "Returns the URLs of a member's avatar.",
        [int("user_id", "ID of the member.").required(), flag("html", "Return an HTML img element instead of URLs."),
         text("alt", "Alternative text of the image."),
         flag("no_gravatar", "Exclude Gravatar images.")];
        get "/members/{user_id}/avatar";
    "buddyboss_delete_member_avatar", "Delete a member's avatar", "Deletes a member's avatar and returns the result.",
        [int("user_id", "ID of the member.").required()];
        delete "/members/{user_id}/avatar";
    "buddyboss_get_member_cover", "Get a member's cover image", "Returns the URL of a member's cover image.",
        [int("user_id", "ID of the member.").required()];
        get "/members/{user_id}/cover";
    "buddyboss_delete_member_cover", "Delete a member's cover image", "Deletes a member's cover image and returns the result.",
        [int("user_id", "ID of the member.").required()];
        delete "/members/{user_id}/cover";
    "buddyboss_list_account_settings", "List account settings sections", "Returns the sections of the current member's account settings.", [];
        get "/account-settings" => SECTIONS;
    "buddyboss_get_account_settings", "Get account settings", "Returns one section of the current member's account settings.", [text("nav", "Name of the section.").required()];
        get "/account-settings/{nav}";
    "buddyboss_update_account_settings", "Update account settings", "Updates one section of the current member's account settings and returns the result.",
        [text("nav", "Name of the section.").required(),
         object("fields", "Object with the new values, keyed by the field names of the section.").required()];
        put "/account-settings/{nav}";
    "buddyboss_list_signups", "List pending signups", "Returns a page of signups that await activation.",
        [integers("include", "Return only items with these IDs."), text("orderby", "Field to sort by."),
         text("order", "Sort order.").among(&["asc", "desc"]),
         text("user_login", "Return only the signup with this login name."), int("number", "Maximum number of items to return.").or_int(10),
         int("offset", "Number of items to skip.")];
        get "/signup" => lists::SIGNUPS;
    "buddyboss_get_signup", "Get a signup", "Returns one signup.", [text("id", "ID of the signup.").required()];
        get "/signup/{id}";
    "buddyboss_delete_signup", "Delete a signup", "Deletes a signup and returns the result.", [text("id", "ID of the signup.").required()];
        delete "/signup/{id}";
    "buddyboss_update_signup_activation", "Activate a signup", "Activates the account of a signup and returns the signup.",
        [text("activation_key", "Activation key from the email.").required()];
        put "/signup/activate/{activation_key}";
    "buddyboss_get_signup_form", "Get the signup form", "Returns the fields of the signup form, if the site shows the form to members.", [];
        get "/signup/form";
    "buddyboss_get_friendship", "Get a friendship", "Returns one friendship or friendship request.", [int("id", "ID of the friendship.").required()];
        get "/friends/{id}";
    "buddyboss_update_friendship", "Accept a friendship request", "Accepts a friendship request and returns the friendship.", [int("id", "ID of the friendship.").required()];
        put "/friends/{id}";
    "buddyboss_list_mention_suggestions", "List mention suggestions", "Returns the members whom the caller can mention and whose names match a term.",
        [text("term", "First letters of the member's name.").required(),
         flag("only_friends", "Return only friends of the caller."), int("group_id", "ID of the group.")];
        get "/mention" => MENTIONS;
    "buddyboss_list_email_invites", "List email invitations", "Returns a page of the invitations sent by email.",
        [PAGE, PER_PAGE, text("order", "Sort order.").among(&["asc", "desc"]),
         text("orderby", "Field to sort by.").among(&["date", "ID", "rand"])];
        get "/invites" => EMAIL_INVITES;
    "buddyboss_send_email_invites", "Send email invitations", "Invites people to the site by email and returns the invitations.",
        [objects("fields", "People to invite, each {name, email_id, profile_type}.")
             .having(&["name", "email_id", "profile_type"]).required(),
         html("email_content", "Text of the email.")];
        post "/invites";
    "buddyboss_delete_email_invite", "Revoke an email invitation", "Revokes an invitation sent by email and returns the result.", [int("id", "ID of the invitation.").required()];
        delete "/invites/{id}";
    "buddyboss_list_invite_profile_types", "List profile types for invitations", "Returns the profile types that can be assigned to invited people.", [];
        get "/invites/profile-type" => INVITE_TYPES;
};

pub(super) const FRIENDS: &[ToolRow] = &[titled(
    "buddyboss_remove_friend_by_member",
    "Remove a friend",
    "Ends the caller's friendship with a member and returns the result.",
    &[int("friend_id", "ID of the friend.").required()],
    &[delete("buddyboss", "/friends").binds(&[ENDED]).step(), SURELY_ENDED],
    Shape::Whole,
)
.phase(EXTENDED)];

pub(super) const SIGNUPS: &[ToolRow] = &[titled("buddyboss_create_signup", "Register a new member", "Creates a signup for a new member and returns it.",
    &[
        text("signup_email", "Email address.").required(),
        text("signup_email_confirm", "The same email address again, for confirmation."),
        raw("signup_password", "Password.").required(),
        raw("signup_password_confirm", "The same password again, for confirmation."),
        object(
            "fields",
            "Other fields of the signup form, such as {\"field_3\": \"ann\"}, where 3 is the ID of a profile field (see buddyboss_list_xprofile_fields). Usually a nickname is required.",
        )
        .form(Form::Spread),
    ],
    &[post("buddyboss", "/signup").step()],
    Shape::Whole,
)
.phase(EXTENDED)];

pub(super) const PICTURES: &[ToolRow] = &[
    upload(
        "buddyboss_upload_member_avatar",
        "Upload a member avatar",
        "Uploads an image, makes it the avatar of a member, and returns its URLs.",
        &[int("user_id", "ID of the member.").required(), PICTURE],
        &[
            Step::File(FileFrom::Either("file")),
            post("buddyboss", "/members/{user_id}/avatar")
                .encoded(Encoding::File("file"))
                .with(&[fixed("action", Literal::Text("bp_avatar_upload"))])
                .step(),
        ],
    ),
    upload(
        "buddyboss_upload_member_cover",
        "Upload a member cover image",
        "Uploads an image, makes it the cover image of a member, and returns its URL.",
        &[int("user_id", "ID of the member.").required(), PICTURE],
        &[
            Step::File(FileFrom::Either("file")),
            post("buddyboss", "/members/{user_id}/cover")
                .encoded(Encoding::File("file"))
                .with(&[fixed("action", Literal::Text("bp_cover_image_upload"))])
                .step(),
        ],
    ),
];

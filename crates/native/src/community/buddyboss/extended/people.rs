//! Members, their pictures and accounts; registrations, friends, invitations by e-mail.

use super::super::people::{ENDED, SURELY_ENDED};
use super::{EXTENDED, PAGE, PER_PAGE, PICTURE, rows, upload};
use crate::rest::{Encoding, FileFrom, Shape, Step, delete, fixed, post};
use crate::tools::{Form, Literal, Tool, flag, html, int, integers, list, object, objects, raw, text, tool};

pub(super) const TOOLS: &[Tool] = rows! {
    "buddyboss_get_current_member", "The member whose account is used here.", [];
        get "/members/me";
    "buddyboss_update_current_member", "Changes the member whose account is used here; what is left out stays.",
        [text("name", "The name that is shown."), list("roles", "The roles in WordPress."),
         text("types", "The member's type.")];
        put "/members/me";
    "buddyboss_get_current_member_permissions", "What the member whose account is used here may do.", [];
        get "/members/me/permissions";
    "buddyboss_delete_current_member", "Removes the account that is used here, for good.",
        [flag("force", "Whether it is removed for good."),
         int("reassign", "The number of the member who gets what this one has written; 0 for nobody.").required().form(Form::NumberOrFalse)];
        delete "/members/me";
    "buddyboss_update_member_following", "Follows a member, or no longer.",
        [int("id", "Its number.").required(),
         text("action", "What is done.").among(&["follow", "unfollow"]).required()];
        put "/members/action/{id}";
    "buddyboss_get_member_presence", "Whether members are online.",
        [integers("ids", "The numbers of the members.").required()];
        query "/members/presence";
    "buddyboss_get_members_details", "How lists of members can be narrowed down.", [];
        get "/members/details";
    "buddyboss_get_member_detail", "The parts of a member's profile page, with their counts.",
        [int("id", "Its number.").required()];
        get "/members/{id}/detail";
    "buddyboss_get_profile_dropdown", "What the menu of the member's own profile has.",
        [flag("default", "Whether the usual menu is meant.")];
        get "/members/profile-dropdown";
    "buddyboss_get_member_info", "A member in short.", [int("id", "The member's number.").required()];
        get "/members/{id}/info";
    "buddyboss_get_member_avatar", "The addresses of a member's picture.",
        [int("user_id", "The number of the member.").required(), flag("html", "Whether it is shown as markup."),
         text("alt", "The text that stands for the picture."),
         flag("no_gravatar", "Whether pictures of Gravatar are left out.")];
        get "/members/{user_id}/avatar";
    "buddyboss_delete_member_avatar", "Removes a member's picture.",
        [int("user_id", "The number of the member.").required()];
        delete "/members/{user_id}/avatar";
    "buddyboss_get_member_cover", "The address of the picture above a member's profile.",
        [int("user_id", "The number of the member.").required()];
        get "/members/{user_id}/cover";
    "buddyboss_delete_member_cover", "Removes the picture above a member's profile.",
        [int("user_id", "The number of the member.").required()];
        delete "/members/{user_id}/cover";
    "buddyboss_list_account_settings", "Lists the parts of the account's settings.", [];
        get "/account-settings";
    "buddyboss_get_account_settings", "One part of the account's settings.", [text("nav", "Which part.").required()];
        get "/account-settings/{nav}";
    "buddyboss_update_account_settings", "Changes one part of the account's settings.",
        [text("nav", "Which part.").required(),
         object("fields", "Values by the names that the part has.").required()];
        put "/account-settings/{nav}";
    "buddyboss_list_signups", "Lists registrations that wait to be confirmed.",
        [integers("include", "Only those with these numbers."), text("orderby", "What the list is ordered by."),
         text("order", "Rising or falling.").among(&["asc", "desc"]),
         text("user_login", "Only that of this name."), int("number", "How many at most."),
         int("offset", "How many are skipped before the first.")];
        get "/signup";
    "buddyboss_get_signup", "One registration.", [text("id", "Its number.").required()];
        get "/signup/{id}";
    "buddyboss_delete_signup", "Removes a registration.", [text("id", "Its number.").required()];
        delete "/signup/{id}";
    "buddyboss_update_signup_activation", "Confirms a registration.",
        [text("activation_key", "The key of the message that was sent.").required()];
        put "/signup/activate/{activation_key}";
    "buddyboss_get_signup_form", "What the form for registrations asks, where the site shows that to members.", [];
        get "/signup/form";
    "buddyboss_get_friendship", "One friendship.", [int("id", "Its number.").required()];
        get "/friends/{id}";
    "buddyboss_update_friendship", "Accepts a request to become friends.", [int("id", "Its number.").required()];
        put "/friends/{id}";
    "buddyboss_list_mention_suggestions", "Lists members whom a text can mention.",
        [text("term", "The first letters of a name.").required(),
         flag("only_friends", "Only the caller's friends."), int("group_id", "The number of the group.")];
        get "/mention";
    "buddyboss_list_email_invites", "Lists invitations that were sent by e-mail.",
        [PAGE, PER_PAGE, text("order", "Rising or falling.").among(&["asc", "desc"]),
         text("orderby", "What the list is ordered by.").among(&["date", "ID", "rand"])];
        get "/invites";
    "buddyboss_send_email_invites", "Invites people by e-mail.",
        [objects("fields", "Each {name, email_id, profile_type}.")
             .having(&["name", "email_id", "profile_type"]).required(),
         html("email_content", "What the e-mail says.")];
        post "/invites";
    "buddyboss_delete_email_invite", "Takes an invitation back.", [int("id", "Its number.").required()];
        delete "/invites/{id}";
    "buddyboss_list_invite_profile_types", "Lists the types that invited people may get.", [];
        get "/invites/profile-type";
};

pub(super) const FRIENDS: &[Tool] = &[tool(
    "buddyboss_remove_friend_by_member",
    "Ends the friendship with a member.",
    &[int("friend_id", "The number of the friend.").required()],
    &[delete("buddyboss", "/friends").binds(&[ENDED]).step(), SURELY_ENDED],
    Shape::Whole,
)
.phase(EXTENDED)];

pub(super) const SIGNUPS: &[Tool] = &[tool(
    "buddyboss_create_signup",
    "Registers somebody.",
    &[
        text("signup_email", "The e-mail address.").required(),
        text("signup_email_confirm", "The same once more."),
        raw("signup_password", "The password.").required(),
        raw("signup_password_confirm", "The same once more."),
        object(
            "fields",
            "What else the form for registrations asks, such as {\"field_3\": \"ann\"}, where 3 is the number of the \
             profile's field (buddyboss_list_xprofile_fields); a nickname as a rule.",
        )
        .form(Form::Spread),
    ],
    &[post("buddyboss", "/signup").step()],
    Shape::Whole,
)
.phase(EXTENDED)];

pub(super) const PICTURES: &[Tool] = &[
    upload(
        "buddyboss_upload_member_avatar",
        "Gives a member a picture.",
        &[int("user_id", "The number of the member.").required(), PICTURE],
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
        "Puts a picture above a member's profile.",
        &[int("user_id", "The number of the member.").required(), PICTURE],
        &[
            Step::File(FileFrom::Either("file")),
            post("buddyboss", "/members/{user_id}/cover")
                .encoded(Encoding::File("file"))
                .with(&[fixed("action", Literal::Text("bp_cover_image_upload"))])
                .step(),
        ],
    ),
];

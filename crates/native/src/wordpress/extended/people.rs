//! Users and their application passwords.

use super::arguments::{CONTEXT, EXCLUDE, INCLUDE, META, OFFSET, ORDER, PAGE, PER_PAGE, SEARCH, SLUGS, id};
use super::rows;
use crate::rest::Shape;
use crate::tools::{Form, ToolArgument, ToolRow, flag, int, list, raw, text, user};

const ID: ToolArgument = id("ID of the user.");
const LINES: Shape =
    Shape::List("users", "id name slug url description link username email roles registered_date");
const ONE: Shape = Shape::One(
    "id name slug url description link username email first_name last_name nickname locale roles registered_date \
     capabilities meta",
);

const NAME: ToolArgument = text("name", "Display name.");
const FIRST: ToolArgument = text("first_name", "First name.");
const LAST: ToolArgument = text("last_name", "Last name.");
const NICK: ToolArgument = text("nickname", "Nickname.");
const MAIL: ToolArgument = text("email", "Email address.");
const WEB: ToolArgument = text("url", "URL of the user's website.");
const ABOUT: ToolArgument = text("description", "Biographical description of the user.");
const LOCALE: ToolArgument = text("locale", "Language of the site's interface for the user, such as nb_NO.");
const ROLES: ToolArgument = list("roles", "Roles, such as editor.");
const SECRET: ToolArgument = raw("password", "Login password.");
const HANDLE: ToolArgument = text("slug", "Slug, used in URLs.");

const HEIR: ToolArgument =
    int("reassign", "ID of the user to reassign the deleted user's content to; 0 deletes the content.")
        .required()
        .least(0)
        .form(Form::NumberOrFalse);

pub(super) const USERS: &[ToolRow] = rows! {
    "wp_get_users", "List users", "Returns a page of the site's users.",
        [PER_PAGE, PAGE, SEARCH, INCLUDE, EXCLUDE, OFFSET, ORDER,
         text("orderby", "Field to sort by.")
             .among(&["id", "include", "name", "registered_date", "slug", "include_slugs", "email", "url"]),
         SLUGS, list("roles", "Return only users with at least one of these roles."),
         list("capabilities", "Return only users with at least one of these capabilities."),
         text("who", "Return only users who can be authors.").among(&["authors"]),
         flag("has_published_posts", "Return only users who have published posts."),
         list("search_columns", "Fields to search: email, name, id, username, slug. Default: all."),
         CONTEXT];
        get "/wp/v2/users" => LINES;
    "wp_get_user", "Get a user", "Returns one user.", [ID, CONTEXT];
        get "/wp/v2/users/{id}" => ONE;
    "wp_get_current_user", "Get the current user", "Returns the user whose account this server uses.", [CONTEXT];
        get "/wp/v2/users/me" => ONE;
    "wp_create_user", "Create a user", "Creates a user account and returns it.",
        [text("username", "Login name.").required(), MAIL.required(), SECRET.required(), NAME, FIRST, LAST,
         NICK, WEB, ABOUT, LOCALE, ROLES, HANDLE, META];
        post "/wp/v2/users" => ONE;
    "wp_update_user", "Update a user", "Updates a user and returns it. Omitted fields keep their values.",
        [ID, NAME, FIRST, LAST, NICK, MAIL, WEB, ABOUT, LOCALE, ROLES, HANDLE, SECRET, META];
        edit "/wp/v2/users/{id}" => ONE;
    "wp_update_current_user", "Update the current user", "Updates the user whose account this server uses, and returns it. Omitted fields keep their values.",
        [NAME, FIRST, LAST, NICK, MAIL, WEB, ABOUT, LOCALE, ROLES, HANDLE, SECRET, META];
        edit "/wp/v2/users/me" => ONE;
    "wp_delete_user", "Delete a user", "Permanently deletes a user account.",
        [ID, HEIR];
        purge "/wp/v2/users/{id}" => Shape::Whole;
    "wp_delete_current_user", "Delete the current user", "Permanently deletes the user account that this server uses.", [HEIR];
        purge "/wp/v2/users/me" => Shape::Whole;
};

const WHOSE: ToolArgument = user("user_id", "ID of the user, or `me`.").or_text("me");
const UUID: ToolArgument = text("uuid", "UUID of the application password.").required();
const WHAT_FOR: ToolArgument = text("name", "Description.");
const APP: ToolArgument = text("app_id", "UUID of the application that uses the password.");
const PASSWORD: Shape = Shape::One("uuid app_id name created last_used last_ip password");

/// The tools for application passwords. Only the answer to the creation of a password contains the password.
pub(super) const PASSWORDS: &[ToolRow] = rows! {
    "wp_get_application_passwords", "List application passwords", "Returns a user's application passwords, without the passwords themselves.", [WHOSE, CONTEXT];
        get "/wp/v2/users/{user_id}/application-passwords" => Shape::List(
            "passwords", "uuid app_id name created last_used last_ip");
    "wp_get_application_password", "Get an application password", "Returns one application password of a user, without the password itself.", [WHOSE, UUID, CONTEXT];
        get "/wp/v2/users/{user_id}/application-passwords/{uuid}" => PASSWORD;
    "wp_get_current_application_password", "Get the current application password", "Returns the application password that this server uses, without the password itself.", [WHOSE, CONTEXT];
        get "/wp/v2/users/{user_id}/application-passwords/introspect" => PASSWORD;
    "wp_create_application_password", "Create an application password", "Creates an application password and returns it. The password is shown only in this response.",
        [WHOSE, WHAT_FOR.required(), APP];
        post "/wp/v2/users/{user_id}/application-passwords" => PASSWORD;
    "wp_update_application_password", "Rename an application password", "Updates the name of an application password and returns its details.", [WHOSE, UUID, WHAT_FOR, APP];
        edit "/wp/v2/users/{user_id}/application-passwords/{uuid}" => PASSWORD;
    "wp_delete_application_password", "Revoke an application password", "Permanently revokes one application password of a user.", [WHOSE, UUID];
        delete "/wp/v2/users/{user_id}/application-passwords/{uuid}" => Shape::Whole;
    "wp_delete_application_passwords", "Revoke all application passwords", "Permanently revokes all application passwords of a user.",
        [user("user_id", "ID of the user, or `me`.").required()];
        delete "/wp/v2/users/{user_id}/application-passwords" => Shape::Whole;
};

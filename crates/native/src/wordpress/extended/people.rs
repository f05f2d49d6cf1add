//! Users and their application passwords.

use super::rows;
use crate::rest::Shape;
use crate::tools::{Argument, Form, Tool, flag, int, list, raw, text, user};
use crate::wordpress::arguments::{
    CONTEXT, EXCLUDE, INCLUDE, META, OFFSET, ORDER, PAGE, PER_PAGE, SEARCH, SLUGS, id,
};

const ID: Argument = id("The user's number.");
const LINES: Shape =
    Shape::List("users", "id name slug url description link username email roles registered_date");
const ONE: Shape = Shape::One(
    "id name slug url description link username email first_name last_name nickname locale roles registered_date \
     capabilities meta",
);

const NAME: Argument = text("name", "The name that is shown.");
const FIRST: Argument = text("first_name", "The first name.");
const LAST: Argument = text("last_name", "The last name.");
const NICK: Argument = text("nickname", "The nickname.");
const MAIL: Argument = text("email", "The e-mail address.");
const WEB: Argument = text("url", "The user's own address on the web.");
const ABOUT: Argument = text("description", "What is said of the user.");
const LOCALE: Argument = text("locale", "The language in which the site speaks to the user, such as nb_NO.");
const ROLES: Argument = list("roles", "The roles, such as editor.");
const SECRET: Argument = raw("password", "The password to log in with.");
const HANDLE: Argument = text("slug", "The name in addresses.");

const HEIR: Argument =
    int("reassign", "The number of the user who gets what this one has written; 0 removes that, too.")
        .required()
        .least(0)
        .form(Form::NumberOrFalse);

pub(super) const USERS: &[Tool] = rows! {
    "wp_get_users", "Lists users.",
        [PER_PAGE, PAGE, SEARCH, INCLUDE, EXCLUDE, OFFSET, ORDER,
         text("orderby", "What the list is ordered by.")
             .among(&["id", "include", "name", "registered_date", "slug", "include_slugs", "email", "url"]),
         SLUGS, list("roles", "Only those with one of these roles."),
         list("capabilities", "Only those who may do one of these things."),
         text("who", "Only those who may write.").among(&["authors"]),
         flag("has_published_posts", "Only those who have published something."),
         list("search_columns", "Where the text is looked for: email, name, id, username, slug; all when left out."),
         CONTEXT];
        get "/wp/v2/users" => LINES;
    "wp_get_user", "One user.", [ID, CONTEXT];
        get "/wp/v2/users/{id}" => ONE;
    "wp_get_current_user", "The user whose account is used here.", [CONTEXT];
        get "/wp/v2/users/me" => ONE;
    "wp_create_user", "Makes an account.",
        [text("username", "The name to log in with.").required(), MAIL.required(), SECRET.required(), NAME, FIRST, LAST,
         NICK, WEB, ABOUT, LOCALE, ROLES, HANDLE, META];
        post "/wp/v2/users" => ONE;
    "wp_update_user", "Changes a user; what is left out stays.",
        [ID, NAME, FIRST, LAST, NICK, MAIL, WEB, ABOUT, LOCALE, ROLES, HANDLE, SECRET, META];
        edit "/wp/v2/users/{id}" => ONE;
    "wp_update_current_user", "Changes the user whose account is used here; what is left out stays.",
        [NAME, FIRST, LAST, NICK, MAIL, WEB, ABOUT, LOCALE, ROLES, HANDLE, SECRET, META];
        edit "/wp/v2/users/me" => ONE;
    "wp_delete_user", "Removes an account for good.",
        [ID, HEIR];
        purge "/wp/v2/users/{id}" => Shape::Whole;
    "wp_delete_current_user", "Removes the account that is used here for good.", [HEIR];
        purge "/wp/v2/users/me" => Shape::Whole;
};

const WHOSE: Argument = user("user_id", "The user's number, or me.").or_text("me");
const UUID: Argument = text("uuid", "The password's identifier.").required();
const WHAT_FOR: Argument = text("name", "What it is for.");
const APP: Argument = text("app_id", "The identifier (a UUID) of the application that uses it.");
const PASSWORD: Shape = Shape::One("uuid app_id name created last_used last_ip password");

/// The password itself is in the answer that made it, and nowhere else.
pub(super) const PASSWORDS: &[Tool] = rows! {
    "wp_get_application_passwords", "Lists a user's application passwords, without the passwords.", [WHOSE, CONTEXT];
        get "/wp/v2/users/{user_id}/application-passwords" => Shape::List(
            "passwords", "uuid app_id name created last_used last_ip");
    "wp_get_application_password", "One application password, without the password.", [WHOSE, UUID, CONTEXT];
        get "/wp/v2/users/{user_id}/application-passwords/{uuid}" => PASSWORD;
    "wp_get_current_application_password", "The application password that is used here.", [WHOSE, CONTEXT];
        get "/wp/v2/users/{user_id}/application-passwords/introspect" => PASSWORD;
    "wp_create_application_password", "Makes an application password. It is shown once.",
        [WHOSE, WHAT_FOR.required(), APP];
        post "/wp/v2/users/{user_id}/application-passwords" => PASSWORD;
    "wp_update_application_password", "Gives an application password another name.", [WHOSE, UUID, WHAT_FOR, APP];
        edit "/wp/v2/users/{user_id}/application-passwords/{uuid}" => PASSWORD;
    "wp_delete_application_password", "Takes an application password back.", [WHOSE, UUID];
        delete "/wp/v2/users/{user_id}/application-passwords/{uuid}" => Shape::Whole;
    "wp_delete_application_passwords", "Takes all application passwords of a user back.",
        [user("user_id", "The user's number, or me.").required()];
        delete "/wp/v2/users/{user_id}/application-passwords" => Shape::Whole;
};

//! The platform itself.

use super::{EXTENDED, PAGE, PER_PAGE, SEARCH, rows};
use crate::rest::{Shape, edit};
use crate::tools::{Form, Tool, int, integers, object, text, tool};

pub(super) const TOOLS: &[Tool] = rows! {
    "buddyboss_list_blogs", "Lists the sites of a network.",
        [PAGE, PER_PAGE, SEARCH,
         int("user_id", "The number of the member."), integers("include", "Only those with these numbers."),
         text("type", "Of which kind.").among(&["active", "alphabetical", "newest", "random"])];
        get "/blogs";
    "buddyboss_get_blog", "One site of a network.", [int("id", "Its number.").required()];
        get "/blogs/{id}";
    "buddyboss_list_components", "Lists the platform's components.",
        [PAGE, PER_PAGE, SEARCH,
         text("status", "The status.").among(&["all", "active", "inactive"]),
         text("type", "Of which kind.").among(&["all", "optional", "retired", "required"])];
        get "/components";
    "buddyboss_update_component", "Switches a component of the platform on or off.",
        [text("name", "The component's name, such as forums.").required(),
         text("action", "What is done.").among(&["activate", "deactivate"]).required()];
        put "/components";
    "buddyboss_get_platform_settings", "The platform's settings.", [];
        get "/settings";
};

pub(super) const SETTINGS: &[Tool] = &[tool(
    "buddyboss_update_platform_settings",
    "Changes settings of the platform; what is left out stays.",
    &[object("settings", "Values by the names that buddyboss_get_platform_settings has under platform.")
        .required()
        .form(Form::Spread)],
    &[edit("buddyboss", "/settings").step()],
    Shape::Whole,
)
.phase(EXTENDED)];

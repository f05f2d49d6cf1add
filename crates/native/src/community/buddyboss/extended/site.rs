//! The platform itself.

use super::{PAGE, PER_PAGE, SEARCH, rows};
use crate::tools::{Tool, int, integers, text};

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
    "buddyboss_update_platform_settings", "Changes the platform's settings.",
        [text("name", "The name."), text("status", "The status.").among(&["active", "inactive"]),
         text("title", "The title."), text("description", "The description.")];
        edit "/settings";
};

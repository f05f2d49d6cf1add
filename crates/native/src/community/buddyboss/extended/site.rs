//! The platform itself.

use super::{EXTENDED, PAGE, PER_PAGE, SEARCH, rows};
use crate::community::lists::{BLOGS, COMPONENTS};
use crate::rest::{Shape, edit};
use crate::tools::{Form, ToolRow, int, integers, object, text, titled};

pub(super) const TOOLS: &[ToolRow] = rows! {
    "buddyboss_list_blogs", "List network sites", "Returns a page of the sites of a multisite network.",
        [PAGE, PER_PAGE, SEARCH,
         int("user_id", "ID of the member."), integers("include", "Return only items with these IDs."),
         text("type", "Type.").among(&["active", "alphabetical", "newest", "random"])];
        get "/blogs" => BLOGS;
    "buddyboss_get_blog", "Get a network site", "Returns one site of a multisite network.", [int("id", "ID of the site.").required()];
        get "/blogs/{id}";
    "buddyboss_list_components", "List platform components", "Returns the components of BuddyBoss Platform with their status.",
        [PAGE, PER_PAGE, SEARCH,
         text("status", "Status.").among(&["all", "active", "inactive"]),
         text("type", "Type.").among(&["all", "optional", "retired", "required"])];
        get "/components" => COMPONENTS;
    "buddyboss_update_component", "Activate or deactivate a component", "Activates or deactivates a component of BuddyBoss Platform and returns the component.",
        [text("name", "Name of the component, such as forums.").required(),
         text("action", "Action to perform.").among(&["activate", "deactivate"]).required()];
        put "/components";
    "buddyboss_get_platform_settings", "Get platform settings", "Returns the settings of BuddyBoss Platform.", [];
        get "/settings";
};

pub(super) const SETTINGS: &[ToolRow] = &[titled(
    "buddyboss_update_platform_settings",
    "Update platform settings",
    "Updates settings of BuddyBoss Platform and returns the result. Omitted settings keep their values.",
    &[object(
        "settings",
        "Settings by name, with the names that buddyboss_get_platform_settings returns under `platform`.",
    )
    .required()
    .form(Form::Spread)],
    &[edit("buddyboss", "/settings").step()],
    Shape::Whole,
)
.phase(EXTENDED)];

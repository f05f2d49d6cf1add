//! Menus, navigation, widgets.

use super::arguments::{
    AFTER, BEFORE, CONTEXT, DATE, DATE_GMT, EXCLUDE, FORCE, HIDE_EMPTY, INCLUDE, META, MODIFIED_AFTER,
    MODIFIED_BEFORE, OF_PASSWORD, OF_POST, OF_STATUS, OFFSET, ORDER, PAGE, PAGES_BY, PASSWORD, PER_PAGE,
    PLACED, POSTS_BY, SEARCH, SEARCH_IN, SEMANTICS, SLUG, SLUGS, TAX_RELATION, TEMPLATE, TERMS_BY,
    VERSIONS_BY, id,
};
use super::rows;
use crate::rest::Shape;
use crate::tools::{ToolArgument, ToolRow, flag, html, int, integers, list, object, text};

const ID: ToolArgument = id("ID of the item.");
const TITLE: ToolArgument = text("title", "Title.");
const STATUS: ToolArgument =
    text("status", "Status.").among(&["publish", "future", "draft", "pending", "private"]);

const MENU: Shape = Shape::One("id slug status title.raw|rendered content.raw|rendered modified link");
const BLOCKS: ToolArgument =
    html("content", "Menu content as block markup, such as core/navigation-link blocks.");

/// Menus of block themes.
pub(super) const NAVIGATION: &[ToolRow] = rows! {
    "wp_get_navigations", "List navigation menus", "Returns a page of the navigation menus of a block theme.",
        [PER_PAGE, PAGE, SEARCH, AFTER, BEFORE, INCLUDE, EXCLUDE, OFFSET, ORDER, POSTS_BY, SLUGS,
         OF_STATUS, MODIFIED_AFTER, MODIFIED_BEFORE, SEARCH_IN, SEMANTICS, CONTEXT];
        get "/wp/v2/navigation" => Shape::List("navigations", "id slug status title.rendered modified");
    "wp_get_navigation", "Get a navigation menu", "Returns one navigation menu of a block theme with its blocks.", [ID, CONTEXT, OF_PASSWORD];
        content "/wp/v2/navigation/{id}" => MENU;
    "wp_create_navigation", "Create a navigation menu", "Creates a navigation menu for a block theme and returns it.",
        [TITLE.required(), BLOCKS, STATUS.or_text("publish"), SLUG, DATE, DATE_GMT, PASSWORD, TEMPLATE];
        post "/wp/v2/navigation" => MENU;
    "wp_update_navigation", "Update a navigation menu", "Updates a navigation menu of a block theme and returns it. Omitted fields keep their values.",
        [ID, TITLE, BLOCKS, STATUS, SLUG, DATE, DATE_GMT, PASSWORD, TEMPLATE];
        edit "/wp/v2/navigation/{id}", keeps "/wp/v2/navigation/{id}" => MENU;
    "wp_delete_navigation", "Delete a navigation menu", "Moves a navigation menu of a block theme to the trash, or deletes it permanently with `force`.", [ID, FORCE];
        delete "/wp/v2/navigation/{id}" => Shape::Whole;
    "wp_get_navigation_revisions", "List navigation menu revisions", "Returns a list of revisions of a navigation menu of a block theme.",
        [ID, PER_PAGE, PAGE, SEARCH, INCLUDE, EXCLUDE, OFFSET, ORDER, VERSIONS_BY, CONTEXT];
        get "/wp/v2/navigation/{id}/revisions" => super::content::VERSIONS;
    "wp_get_navigation_fallback", "Get the fallback navigation menu", "Returns the navigation menu that a block theme shows when none is selected.", [];
        get "/wp-block-editor/v1/navigation-fallback" => Shape::Whole;
};

const NAME: ToolArgument = text("name", "Name.");
const ABOUT: ToolArgument = text("description", "Description.");
const PLACES: ToolArgument = list("locations", "Menu locations of the theme at which the menu is shown.");
const ADDS: ToolArgument = flag("auto_add", "Automatically add new top-level pages to the menu.");
const CLASSIC: Shape = Shape::One("id name slug description locations auto_add");
const ENTRY: Shape = Shape::One(
    "id title.rendered status url type type_label object object_id parent menu_order menus target classes \
     attr_title description xfn invalid",
);
const MENUS_OF: ToolArgument = integers("menus", "Return only items of the menus with these IDs.");
const KIND: ToolArgument =
    text("type", "Type of the link target.").among(&["taxonomy", "post_type", "post_type_archive", "custom"]);
const OBJECT: ToolArgument =
    text("object", "Post type or taxonomy of the link target, such as page or category.");
const OBJECT_ID: ToolArgument = int("object_id", "ID of the link target.").least(0);
const URL: ToolArgument = text("url", "URL of the link, for items of type custom.");
const UP: ToolArgument = int("parent", "ID of the parent menu item; 0 for a top-level item.").least(0);
const MENU_ID: ToolArgument = int("menus", "ID of the menu.").least(1);
const PLACE: ToolArgument = int("menu_order", "Position in the menu, starting at 1.").least(1);
const CLASSES: ToolArgument = list("classes", "CSS classes of the link.");
const HINT: ToolArgument = text("attr_title", "Title attribute of the link, shown on hover.");
const WITH: ToolArgument = list("xfn", "XFN relationships to the link target, such as friend.");

const TARGET: ToolArgument =
    text("target", "Link target: `_blank` opens a new window or tab; an empty value uses the current one.")
        .among(&["_blank", ""]);

/// Menus of classic themes.
pub(super) const MENUS: &[ToolRow] = rows! {
    "wp_get_menus", "List classic menus", "Returns a page of the menus of a classic theme.",
        [PER_PAGE, PAGE, SEARCH, INCLUDE, EXCLUDE, OFFSET, ORDER, TERMS_BY, SLUGS, HIDE_EMPTY, OF_POST, CONTEXT];
        get "/wp/v2/menus" => Shape::List("menus", "id name slug description locations auto_add");
    "wp_get_menu", "Get a classic menu", "Returns one menu of a classic theme, without its menu items.", [ID, CONTEXT];
        get "/wp/v2/menus/{id}" => CLASSIC;
    "wp_create_menu", "Create a classic menu", "Creates a menu for a classic theme and returns it.", [NAME.required(), ABOUT, SLUG, PLACES, ADDS, META];
        post "/wp/v2/menus" => CLASSIC;
    "wp_update_menu", "Update a classic menu", "Updates a menu of a classic theme and returns it. Omitted fields keep their values.",
        [ID, NAME, ABOUT, SLUG, PLACES, ADDS, META];
        edit "/wp/v2/menus/{id}" => CLASSIC;
    "wp_delete_menu", "Delete a classic menu", "Permanently deletes a menu of a classic theme.", [ID];
        purge "/wp/v2/menus/{id}" => Shape::Whole;
    "wp_get_menu_items", "List menu items", "Returns a page of menu items from the menus of a classic theme.",
        [PER_PAGE, PAGE, SEARCH, AFTER, BEFORE, MODIFIED_AFTER, MODIFIED_BEFORE, INCLUDE, EXCLUDE, OFFSET, ORDER,
         PAGES_BY, SLUGS, OF_STATUS, MENUS_OF,
         integers("menus_exclude", "Exclude items of the menus with these IDs."), PLACED, SEARCH_IN, SEMANTICS,
         TAX_RELATION, CONTEXT];
        get "/wp/v2/menu-items" => Shape::List(
            "menu_items", "id title.rendered status url type object object_id parent menu_order menus");
    "wp_get_menu_item", "Get a menu item", "Returns one menu item of a classic theme.", [ID, CONTEXT];
        get "/wp/v2/menu-items/{id}" => ENTRY;
    "wp_create_menu_item", "Create a menu item", "Adds a menu item to a menu of a classic theme and returns the item.",
        [MENU_ID.required(), TITLE, KIND.or_text("custom"), OBJECT, OBJECT_ID, URL, UP, PLACE, STATUS.or_text("publish"),
         CLASSES, HINT, ABOUT, WITH, TARGET, META];
        post "/wp/v2/menu-items" => ENTRY;
    "wp_update_menu_item", "Update a menu item", "Updates a menu item of a classic theme and returns it. Omitted fields keep their values.",
        [ID, MENU_ID, TITLE, KIND, OBJECT, OBJECT_ID, URL, UP, PLACE, STATUS, CLASSES, HINT, ABOUT, WITH,
         TARGET, META];
        edit "/wp/v2/menu-items/{id}" => ENTRY;
    "wp_delete_menu_item", "Delete a menu item", "Permanently deletes a menu item of a classic theme.", [ID];
        purge "/wp/v2/menu-items/{id}" => Shape::Whole;
    "wp_get_menu_locations", "List menu locations", "Returns the menu locations of the active theme and the menu assigned to each.", [CONTEXT];
        get "/wp/v2/menu-locations" => Shape::Map("locations", "name description menu");
    "wp_get_menu_location", "Get a menu location", "Returns one menu location of the active theme and the menu assigned to it.", [text("location", "Name of the menu location, such as primary.").required(), CONTEXT];
        get "/wp/v2/menu-locations/{location}" => Shape::One("name description menu");
};

const KEY: ToolArgument =
    text("id", "Identifier of the widget or sidebar, such as text-2 or sidebar-1.").required();
const OF_KIND: ToolArgument = text("id_base", "Widget type, such as text or block.");
const SIDEBAR: ToolArgument = text("sidebar", "Identifier of the sidebar that contains the widget.");
const INSTANCE: ToolArgument =
    object("instance", "Widget settings: {raw}, or {encoded, hash} as returned by the site.")
        .having(&["raw", "encoded", "hash"]);
const FORM: ToolArgument = text("form_data", "Widget settings as URL-encoded form data.");
const WIDGET: Shape = Shape::One("id id_base sidebar rendered instance rendered_form");
const TYPE: ToolArgument = text("id", "Widget type, such as text.").required();
const SETTINGS: ToolArgument = object("instance", "Widget settings.");

pub(super) const WIDGETS: &[ToolRow] = rows! {
    "wp_get_widgets", "List widgets", "Returns the site's widgets and the sidebar of each.", [text("sidebar", "Return only widgets of this sidebar."), CONTEXT];
        get "/wp/v2/widgets" => Shape::List("widgets", "id id_base sidebar rendered");
    "wp_get_widget", "Get a widget", "Returns one widget with its settings.", [KEY, CONTEXT];
        get "/wp/v2/widgets/{id}" => WIDGET;
    "wp_create_widget", "Add a widget", "Adds a widget to a sidebar and returns the widget.",
        [OF_KIND.required(), SIDEBAR.required(), INSTANCE, FORM];
        post "/wp/v2/widgets" => WIDGET;
    "wp_update_widget", "Update or move a widget", "Updates a widget or moves it to another sidebar, and returns it. Omitted fields keep their values.", [KEY, OF_KIND, SIDEBAR, INSTANCE, FORM];
        edit "/wp/v2/widgets/{id}" => WIDGET;
    "wp_delete_widget", "Deactivate or delete a widget", "Moves a widget to the inactive widgets, or deletes it permanently with `force`.", [KEY, FORCE];
        delete "/wp/v2/widgets/{id}" => Shape::Whole;
    "wp_get_widget_types", "List widget types", "Returns the widget types that the site offers.", [CONTEXT];
        get "/wp/v2/widget-types" => Shape::List("widget_types", "id name description is_multi classname");
    "wp_get_widget_type", "Get a widget type", "Returns one widget type.", [TYPE, CONTEXT];
        get "/wp/v2/widget-types/{id}" => Shape::Whole;
    "wp_get_encoded_widget", "Encode widget settings", "Returns a widget type's form and encoded instance for the given settings, without saving them.", [TYPE, SETTINGS, FORM];
        query "/wp/v2/widget-types/{id}/encode" => Shape::Whole;
    "wp_get_rendered_widget", "Render a widget", "Returns the HTML preview of a widget type with the given settings, without saving them.", [TYPE, SETTINGS];
        query "/wp/v2/widget-types/{id}/render" => Shape::Whole;
    "wp_get_sidebars", "List sidebars", "Returns the sidebars (widget areas) of the active theme with the identifiers of their widgets.", [CONTEXT];
        get "/wp/v2/sidebars" => Shape::List("sidebars", "id name description status widgets");
    "wp_get_sidebar", "Get a sidebar", "Returns one sidebar (widget area) with the identifiers of its widgets.", [KEY, CONTEXT];
        get "/wp/v2/sidebars/{id}" => Shape::One("id name description status widgets");
    "wp_update_sidebar", "Set the widgets of a sidebar", "Replaces the widgets of a sidebar with the given ones, in the given order, and returns the sidebar.",
        [KEY, list("widgets", "Identifiers of the widgets, in order.").required()];
        edit "/wp/v2/sidebars/{id}" => Shape::One("id name description status widgets");
};

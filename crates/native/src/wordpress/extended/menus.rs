//! Menus, navigation, widgets.

use super::rows;
use crate::rest::Shape;
use crate::tools::{Argument, Tool, flag, html, int, integers, list, object, text};
use crate::wordpress::arguments::{
    AFTER, BEFORE, CONTEXT, DATE, DATE_GMT, EXCLUDE, FORCE, HIDE_EMPTY, INCLUDE, META, MODIFIED_AFTER,
    MODIFIED_BEFORE, OF_PASSWORD, OF_POST, OF_STATUS, OFFSET, ORDER, PAGE, PAGES_BY, PASSWORD, PER_PAGE,
    PLACED, POSTS_BY, SEARCH, SEARCH_IN, SEMANTICS, SLUG, SLUGS, TAX_RELATION, TEMPLATE, TERMS_BY,
    VERSIONS_BY, id,
};

const ID: Argument = id("Its number.");
const TITLE: Argument = text("title", "The title.");
const STATUS: Argument =
    text("status", "The status.").among(&["publish", "future", "draft", "pending", "private"]);

const MENU: Shape = Shape::One("id slug status title.raw|rendered content.raw|rendered modified link");
const BLOCKS: Argument = html("content", "The menu, in blocks such as navigation-link.");

/// Menus of block themes.
pub(super) const NAVIGATION: &[Tool] = rows! {
    "wp_get_navigations", "Lists menus of a block theme.",
        [PER_PAGE, PAGE, SEARCH, AFTER, BEFORE, INCLUDE, EXCLUDE, OFFSET, ORDER, POSTS_BY, SLUGS,
         OF_STATUS, MODIFIED_AFTER, MODIFIED_BEFORE, SEARCH_IN, SEMANTICS, CONTEXT];
        get "/wp/v2/navigation" => Shape::List("navigations", "id slug status title.rendered modified");
    "wp_get_navigation", "One menu of a block theme.", [ID, CONTEXT, OF_PASSWORD];
        content "/wp/v2/navigation/{id}" => MENU;
    "wp_create_navigation", "Makes a menu of a block theme.",
        [TITLE.required(), BLOCKS, STATUS.or_text("publish"), SLUG, DATE, DATE_GMT, PASSWORD, TEMPLATE];
        post "/wp/v2/navigation" => MENU;
    "wp_update_navigation", "Changes a menu of a block theme; what is left out stays.",
        [ID, TITLE, BLOCKS, STATUS, SLUG, DATE, DATE_GMT, PASSWORD, TEMPLATE];
        edit "/wp/v2/navigation/{id}", keeps "/wp/v2/navigation/{id}" => MENU;
    "wp_delete_navigation", "Puts a menu of a block theme into the bin, or removes it.", [ID, FORCE];
        delete "/wp/v2/navigation/{id}" => Shape::Whole;
    "wp_get_navigation_revisions", "Lists earlier versions of a menu of a block theme.",
        [ID, PER_PAGE, PAGE, SEARCH, INCLUDE, EXCLUDE, OFFSET, ORDER, VERSIONS_BY, CONTEXT];
        get "/wp/v2/navigation/{id}/revisions" => super::content::VERSIONS;
    "wp_get_navigation_fallback", "The menu that is shown when none is chosen.", [];
        get "/wp-block-editor/v1/navigation-fallback" => Shape::Whole;
};

const NAME: Argument = text("name", "The name.");
const ABOUT: Argument = text("description", "What it is for.");
const PLACES: Argument = list("locations", "The theme's places where it is shown.");
const ADDS: Argument = flag("auto_add", "Whether new pages on top are put into it.");
const CLASSIC: Shape = Shape::One("id name slug description locations auto_add");
const ENTRY: Shape = Shape::One(
    "id title.rendered status url type type_label object object_id parent menu_order menus target classes \
     attr_title description xfn invalid",
);
const MENUS_OF: Argument = integers("menus", "Only those of the menus with these numbers.");
const KIND: Argument =
    text("type", "What it leads to.").among(&["taxonomy", "post_type", "post_type_archive", "custom"]);
const OBJECT: Argument = text("object", "The type or taxonomy, such as page or category.");
const OBJECT_ID: Argument = int("object_id", "The number of what it leads to.").least(0);
const URL: Argument = text("url", "Where it leads, for one of type custom.");
const UP: Argument = int("parent", "The number of the entry above it; 0 for none.").least(0);
const MENU_ID: Argument = int("menus", "The number of the menu.").least(1);
const PLACE: Argument = int("menu_order", "Its place in the menu, from 1 on.").least(1);
const CLASSES: Argument = list("classes", "Classes for its style.");
const HINT: Argument = text("attr_title", "What is shown when one points at it.");
const WITH: Argument = list("xfn", "How the one it leads to is related.");

const TARGET: Argument =
    text("target", "Whether it opens in a window of its own (_blank) or where one is (empty).")
        .among(&["_blank", ""]);

/// Menus of classic themes.
pub(super) const MENUS: &[Tool] = rows! {
    "wp_get_menus", "Lists menus of a classic theme.",
        [PER_PAGE, PAGE, SEARCH, INCLUDE, EXCLUDE, OFFSET, ORDER, TERMS_BY, SLUGS, HIDE_EMPTY, OF_POST, CONTEXT];
        get "/wp/v2/menus" => Shape::List("menus", "id name slug description locations auto_add");
    "wp_get_menu", "One menu of a classic theme.", [ID, CONTEXT];
        get "/wp/v2/menus/{id}" => CLASSIC;
    "wp_create_menu", "Makes a menu of a classic theme.", [NAME.required(), ABOUT, SLUG, PLACES, ADDS, META];
        post "/wp/v2/menus" => CLASSIC;
    "wp_update_menu", "Changes a menu of a classic theme; what is left out stays.",
        [ID, NAME, ABOUT, SLUG, PLACES, ADDS, META];
        edit "/wp/v2/menus/{id}" => CLASSIC;
    "wp_delete_menu", "Removes a menu of a classic theme for good.", [ID];
        purge "/wp/v2/menus/{id}" => Shape::Whole;
    "wp_get_menu_items", "Lists the entries of menus.",
        [PER_PAGE, PAGE, SEARCH, AFTER, BEFORE, MODIFIED_AFTER, MODIFIED_BEFORE, INCLUDE, EXCLUDE, OFFSET, ORDER,
         PAGES_BY, SLUGS, OF_STATUS, MENUS_OF,
         integers("menus_exclude", "Those of the menus with these numbers are left out."), PLACED, SEARCH_IN, SEMANTICS,
         TAX_RELATION, CONTEXT];
        get "/wp/v2/menu-items" => Shape::List(
            "menu_items", "id title.rendered status url type object object_id parent menu_order menus");
    "wp_get_menu_item", "One entry of a menu.", [ID, CONTEXT];
        get "/wp/v2/menu-items/{id}" => ENTRY;
    "wp_create_menu_item", "Adds an entry to a menu.",
        [MENU_ID.required(), TITLE, KIND.or_text("custom"), OBJECT, OBJECT_ID, URL, UP, PLACE, STATUS.or_text("publish"),
         CLASSES, HINT, ABOUT, WITH, TARGET, META];
        post "/wp/v2/menu-items" => ENTRY;
    "wp_update_menu_item", "Changes an entry of a menu; what is left out stays.",
        [ID, MENU_ID, TITLE, KIND, OBJECT, OBJECT_ID, URL, UP, PLACE, STATUS, CLASSES, HINT, ABOUT, WITH,
         TARGET, META];
        edit "/wp/v2/menu-items/{id}" => ENTRY;
    "wp_delete_menu_item", "Removes an entry of a menu for good.", [ID];
        purge "/wp/v2/menu-items/{id}" => Shape::Whole;
    "wp_get_menu_locations", "Lists the places that the theme has for menus.", [CONTEXT];
        get "/wp/v2/menu-locations" => Shape::Map("locations", "name description menu");
    "wp_get_menu_location", "One place for a menu.", [text("location", "Its name.").required(), CONTEXT];
        get "/wp/v2/menu-locations/{location}" => Shape::One("name description menu");
};

const KEY: Argument = text("id", "Its identifier, such as text-2.").required();
const OF_KIND: Argument = text("id_base", "The kind of widget, such as text or block.");
const SIDEBAR: Argument = text("sidebar", "The sidebar that it stands in.");
const INSTANCE: Argument =
    object("instance", "Its settings: {raw}, or {encoded, hash} as they were given out.")
        .having(&["raw", "encoded", "hash"]);
const FORM: Argument = text("form_data", "Its settings as a form's data.");
const WIDGET: Shape = Shape::One("id id_base sidebar rendered instance rendered_form");
const TYPE: Argument = text("id", "The kind of widget, such as text.").required();
const SETTINGS: Argument = object("instance", "The settings.");

pub(super) const WIDGETS: &[Tool] = rows! {
    "wp_get_widgets", "Lists widgets.", [text("sidebar", "Only those of this sidebar."), CONTEXT];
        get "/wp/v2/widgets" => Shape::List("widgets", "id id_base sidebar rendered");
    "wp_get_widget", "One widget.", [KEY, CONTEXT];
        get "/wp/v2/widgets/{id}" => WIDGET;
    "wp_create_widget", "Puts a widget into a sidebar.",
        [OF_KIND.required(), SIDEBAR.required(), INSTANCE, FORM];
        post "/wp/v2/widgets" => WIDGET;
    "wp_update_widget", "Changes a widget, or moves it; what is left out stays.", [KEY, OF_KIND, SIDEBAR, INSTANCE, FORM];
        edit "/wp/v2/widgets/{id}" => WIDGET;
    "wp_delete_widget", "Puts a widget among those that are not shown, or removes it.", [KEY, FORCE];
        delete "/wp/v2/widgets/{id}" => Shape::Whole;
    "wp_get_widget_types", "Lists kinds of widgets.", [CONTEXT];
        get "/wp/v2/widget-types" => Shape::List("widget_types", "id name description is_multi classname");
    "wp_get_widget_type", "One kind of widget.", [TYPE, CONTEXT];
        get "/wp/v2/widget-types/{id}" => Shape::Whole;
    "wp_get_encoded_widget", "A widget's settings as its form and as what saves them.", [TYPE, SETTINGS, FORM];
        query "/wp/v2/widget-types/{id}/encode" => Shape::Whole;
    "wp_get_rendered_widget", "What a widget looks like with these settings.", [TYPE, SETTINGS];
        query "/wp/v2/widget-types/{id}/render" => Shape::Whole;
    "wp_get_sidebars", "Lists the places that the theme has for widgets.", [CONTEXT];
        get "/wp/v2/sidebars" => Shape::List("sidebars", "id name description status widgets");
    "wp_get_sidebar", "One place for widgets.", [KEY, CONTEXT];
        get "/wp/v2/sidebars/{id}" => Shape::One("id name description status widgets");
    "wp_update_sidebar", "Says which widgets stand in a place, in their order.",
        [KEY, list("widgets", "Their identifiers.").required()];
        edit "/wp/v2/sidebars/{id}" => Shape::One("id name description status widgets");
};

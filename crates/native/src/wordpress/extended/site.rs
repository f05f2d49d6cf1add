//! Settings, themes, plugins, search, health, batches.

use super::rows;
use crate::rest::Shape;
use crate::tools::{Argument, Effect, Tool, flag, int, list, objects, text};
use crate::wordpress::arguments::{CONTEXT, EXCLUDE, INCLUDE, PAGE, PER_PAGE, SEARCH};

const OPEN: &[&str] = &["open", "closed"];

pub(super) const SETTINGS: &[Tool] = &[
    rows! {
        "wp_get_site", "What the site says of itself: its name, address, time zone and what it offers.", [];
            get "/" => Shape::One(
                "name description url home gmt_offset timezone_string show_on_front page_on_front page_for_posts \
                 namespaces site_logo site_icon site_icon_url");
    }[0],
    rows! { "wp_get_settings", "The site's settings.", []; get "/wp/v2/settings" => Shape::Whole; }[0],
    rows! {
        "wp_update_settings", "Changes settings of the site; what is left out stays.",
            [text("title", "The site's title."), text("description", "What it is about, in a few words."),
             text("url", "Its address."), text("email", "Its administrator's e-mail address."),
             text("timezone", "Its time zone, such as Europe/Oslo."), text("date_format", "How dates are written."),
             text("time_format", "How times are written."),
             int("start_of_week", "The first day of the week; 0 for Sunday.").least(0).most(6),
             text("language", "Its language, such as nb_NO."), flag("use_smilies", "Whether signs become faces."),
             int("default_category", "The number of the usual category.").least(1),
             text("default_post_format", "The usual format of posts."),
             int("posts_per_page", "How many posts on a page.").least(1),
             text("show_on_front", "What the front page shows.").among(&["posts", "page"]),
             int("page_on_front", "The number of the page in front.").least(0),
             int("page_for_posts", "The number of the page with the posts.").least(0),
             text("default_ping_status", "Whether other sites may announce links.").among(OPEN),
             text("default_comment_status", "Whether new posts can be commented on.").among(OPEN),
             int("site_logo", "The number of the logo's image.").least(0),
             int("site_icon", "The number of the icon's image.").least(0)];
            edit "/wp/v2/settings" => Shape::Whole;
    }[0],
    rows! {
        "wp_search", "Finds posts, pages and terms by words.",
            [SEARCH.required(), PER_PAGE, PAGE, text("type", "What is looked for.")
                .among(&["post", "term", "post-format"]),
             list("subtype", "Only these types or taxonomies, such as page or category."), INCLUDE, EXCLUDE,
             text("context", "How much is shown.").among(&["view", "embed"])];
            get "/wp/v2/search" => Shape::List("results", "id title url type subtype");
    }[0],
    rows! {
        "wp_batch", "Does up to 25 changes in one request.",
            [objects("requests", "Each {method: POST, PUT, PATCH or DELETE, path: such as /wp/v2/posts/7, body, headers}.")
                .having(&["method", "path", "body", "headers"]).required(),
             text("validation", "Whether all are checked before the first is done.")
                 .or_text("normal").among(&["require-all-validate", "normal"])];
            post "/batch/v1" => Shape::Whole;
    }[0]
    .effect(Effect::Toggles),
    rows! {
        "wp_get_embed", "How an address on this site is shown within others.",
            [text("url", "The address.").required(), int("maxwidth", "Its width in points, at most.").least(1)];
            get "/oembed/1.0/embed" => Shape::Whole;
    }[0],
    rows! {
        "wp_get_foreign_embed", "How an address elsewhere is shown within this site.",
            [text("url", "The address.").required(), int("maxwidth", "Its width in points, at most.").least(1),
             int("maxheight", "Its height in points, at most.").least(1),
             flag("discover", "Whether sites are asked that WordPress does not know.")];
            get "/oembed/1.0/proxy" => Shape::Whole;
    }[0],
    rows! {
        "wp_get_url_details", "What a page on the web says of itself: its title, icon, image, description.",
            [text("url", "The page's address.").required()];
            get "/wp-block-editor/v1/url-details" => Shape::Whole;
    }[0],
];

const THEME: &str = "stylesheet name.rendered version status author.rendered description.rendered template \
                     requires_wp requires_php theme_supports is_block_theme";
const PLUGIN: &str =
    "plugin name status version author description.rendered plugin_uri requires_wp requires_php";
const IN_USE: Argument = text("status", "Only active or only inactive ones.").among(&["active", "inactive"]);
const PLUGIN_FILE: Argument =
    text("plugin", "Its folder and file without .php, such as akismet/akismet.").required();

pub(super) const CODE: &[Tool] = rows! {
    "wp_get_themes", "Lists themes.", [IN_USE];
        get "/wp/v2/themes" => Shape::List("themes", THEME);
    "wp_get_theme", "One theme.", [text("stylesheet", "Its folder.").required()];
        get "/wp/v2/themes/{*stylesheet}" => Shape::One(THEME);
    "wp_get_plugins", "Lists plugins.", [SEARCH, IN_USE, CONTEXT];
        get "/wp/v2/plugins" => Shape::List("plugins", PLUGIN);
    "wp_get_plugin", "One plugin.", [PLUGIN_FILE, CONTEXT];
        get "/wp/v2/plugins/{*plugin}" => Shape::One(PLUGIN);
    "wp_create_plugin", "Installs a plugin from WordPress's own directory.",
        [text("slug", "Its name in the directory.").required(),
         text("status", "Whether it is switched on.").or_text("inactive").among(&["inactive", "active"])];
        post "/wp/v2/plugins" => Shape::One(PLUGIN);
    "wp_update_plugin", "Switches a plugin on or off.",
        [PLUGIN_FILE, text("status", "On or off.").required().among(&["inactive", "active"]), CONTEXT];
        edit "/wp/v2/plugins/{*plugin}" => Shape::One(PLUGIN);
    "wp_delete_plugin", "Removes a plugin that is switched off, with its files.", [PLUGIN_FILE, CONTEXT];
        delete "/wp/v2/plugins/{*plugin}" => Shape::Whole;
};

pub(super) const HEALTH: &[Tool] = rows! {
    "wp_get_site_health", "Runs one of the site's own checks.",
        [text("test", "Which check.").required().among(&[
            "background-updates", "loopback-requests", "https-status", "dotorg-communication", "authorization-header",
            "page-cache"])];
        get "/wp-site-health/v1/tests/{test}" => Shape::Whole;
    "wp_get_directory_sizes", "How much room the site's folders and its database take.", [];
        get "/wp-site-health/v1/directory-sizes" => Shape::Whole;
    "wp_get_view_config", "How the site's lists are shown to those who edit (newest WordPress).",
        [text("kind", "The kind of thing, such as postType.").required(),
         text("name", "Its name, such as page.").required()];
        get "/wp/v2/view-config" => Shape::Whole;
};

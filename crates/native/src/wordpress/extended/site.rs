//! Settings, themes, plugins, search, embeds, health.

use super::arguments::{CONTEXT, EXCLUDE, INCLUDE, PAGE, PER_PAGE, SEARCH};
use super::rows;
use crate::rest::{MemberSource, Shape, ShownMember, pick};
use crate::tools::{ToolArgument, ToolRow, flag, int, list, text};

const OPEN: &[&str] = &["open", "closed"];

pub(super) const SETTINGS: &[ToolRow] = &[
    rows! {
        "wp_get_site", "Get site information", "Returns the site's name, address, time zone, front page and API namespaces.", [];
            get "/" => Shape::One(
                "name description url home gmt_offset timezone_string show_on_front page_on_front page_for_posts \
                 namespaces site_logo site_icon site_icon_url");
    }[0],
    rows! { "wp_get_settings", "Get site settings", "Returns the site's settings.", []; get "/wp/v2/settings" => Shape::Whole; }
        [0],
    rows! {
        "wp_update_settings", "Update site settings", "Updates the site's settings and returns all of them. Omitted settings keep their values.",
            [text("title", "Site title."), text("description", "Site tagline."),
             text("url", "Site URL."), text("email", "Email address of the administrator."),
             text("timezone", "Time zone, such as Europe/Oslo."), text("date_format", "Date format, such as Y-m-d (PHP notation)."),
             text("time_format", "Time format, such as H:i (PHP notation)."),
             int("start_of_week", "First day of the week; 0 is Sunday.").least(0).most(6),
             text("language", "Site language, such as nb_NO."), flag("use_smilies", "Convert emoticons to graphics."),
             int("default_category", "ID of the default category.").least(1),
             text("default_post_format", "Default post format."),
             int("posts_per_page", "Number of posts per page.").least(1),
             text("show_on_front", "Content of the front page: the latest posts, or a static page.").among(&["posts", "page"]),
             int("page_on_front", "ID of the page used as the front page.").least(0),
             int("page_for_posts", "ID of the page that lists the posts.").least(0),
             text("default_ping_status", "Default ping status (pingbacks and trackbacks) of new posts.").among(OPEN),
             text("default_comment_status", "Default comment status of new posts.").among(OPEN),
             int("site_logo", "Media ID of the site logo.").least(0),
             int("site_icon", "Media ID of the site icon.").least(0)];
            edit "/wp/v2/settings" => Shape::Whole;
    }[0],
    rows! {
        "wp_search", "Search site content", "Searches posts, pages, terms and post formats, and returns a page of results.",
            [SEARCH.required(), PER_PAGE, PAGE, text("type", "Type of object to search.")
                .among(&["post", "term", "post-format"]),
             list("subtype", "Return only these post types or taxonomies, such as page or category."), INCLUDE, EXCLUDE,
             text("context", "Response context, which determines the fields in the response.").among(&["view", "embed"])];
            get "/wp/v2/search" => Shape::List("results", "id title url type subtype");
    }[0],
    rows! {
        "wp_get_embed", "Get the embed code of a page", "Returns the oEmbed data with which other sites can embed a page of this site.",
            [text("url", "URL to embed.").required(), int("maxwidth", "Maximum width in pixels.").least(1)];
            get "/oembed/1.0/embed" => Shape::Whole;
    }[0],
    rows! {
        "wp_get_foreign_embed", "Get an external embed", "Returns the oEmbed data with which this site can embed a page of another site.",
            [text("url", "URL to embed.").required(), int("maxwidth", "Maximum width in pixels.").least(1),
             int("maxheight", "Maximum height in pixels.").least(1),
             flag("discover", "Also search the page for oEmbed data if WordPress does not list its provider.")];
            get "/oembed/1.0/proxy" => Shape::Whole;
    }[0],
    rows! {
        "wp_get_url_details", "Get details of a web page", "Returns the title, icon, image and description of a web page.",
            [text("url", "URL of the web page.").required()];
            get "/wp-block-editor/v1/url-details" => Shape::Whole;
    }[0],
];

const THEMES: &[ShownMember] = &[
    pick("stylesheet", "/stylesheet"),
    pick("name", "/name/rendered"),
    pick("version", "/version"),
    pick("status", "/status"),
    pick("template", "/template"),
    pick("is_block_theme", "/is_block_theme"),
    ShownMember { name: "description", from: MemberSource::Excerpt(&["/description/rendered"]) },
];
const PLUGINS: &[ShownMember] = &[
    pick("plugin", "/plugin"),
    pick("name", "/name"),
    pick("status", "/status"),
    pick("version", "/version"),
    pick("author", "/author"),
    ShownMember {
        name: "description",
        from: MemberSource::Excerpt(&["/description/raw", "/description/rendered"]),
    },
];
const THEME: &str = "stylesheet name.rendered version status author.rendered description.rendered template \
                     requires_wp requires_php theme_supports is_block_theme";
const PLUGIN: &str =
    "plugin name status version author description.rendered plugin_uri requires_wp requires_php";
const IN_USE: ToolArgument =
    text("status", "Return only items with this status.").among(&["active", "inactive"]);
const PLUGIN_FILE: ToolArgument =
    text("plugin", "Plugin directory and file without .php, such as akismet/akismet.").required();

pub(super) const CODE: &[ToolRow] = rows! {
    "wp_get_themes", "List themes", "Returns the installed themes.", [IN_USE];
        get "/wp/v2/themes" => Shape::Listed("themes", THEMES);
    "wp_get_theme", "Get a theme", "Returns one installed theme.", [text("stylesheet", "Theme directory.").required()];
        get "/wp/v2/themes/{*stylesheet}" => Shape::One(THEME);
    "wp_get_plugins", "List plugins", "Returns the installed plugins.", [SEARCH, IN_USE, CONTEXT];
        get "/wp/v2/plugins" => Shape::Listed("plugins", PLUGINS);
    "wp_get_plugin", "Get a plugin", "Returns one installed plugin.", [PLUGIN_FILE, CONTEXT];
        get "/wp/v2/plugins/{*plugin}" => Shape::One(PLUGIN);
    "wp_create_plugin", "Install a plugin", "Installs a plugin from the WordPress.org plugin directory and returns it.",
        [text("slug", "Slug of the plugin in the WordPress.org plugin directory.").required(),
         text("status", "Status after installation.").or_text("inactive").among(&["inactive", "active"])];
        post "/wp/v2/plugins" => Shape::One(PLUGIN);
    "wp_update_plugin", "Activate or deactivate a plugin", "Activates or deactivates an installed plugin and returns it.",
        [PLUGIN_FILE, text("status", "New status.").required().among(&["inactive", "active"]), CONTEXT];
        edit "/wp/v2/plugins/{*plugin}" => Shape::One(PLUGIN);
    "wp_delete_plugin", "Delete a plugin", "Deletes an inactive plugin and its files.", [PLUGIN_FILE, CONTEXT];
        delete "/wp/v2/plugins/{*plugin}" => Shape::Whole;
};

pub(super) const HEALTH: &[ToolRow] = rows! {
    "wp_get_site_health", "Run a site health test", "Runs one site health test and returns its result.",
        [text("test", "Name of the test.").required().among(&[
            "background-updates", "loopback-requests", "https-status", "dotorg-communication", "authorization-header",
            "page-cache"])];
        get "/wp-site-health/v1/tests/{test}" => Shape::Whole;
    "wp_get_directory_sizes", "Get directory sizes", "Returns the disk usage of the site's directories and its database.", [];
        get "/wp-site-health/v1/directory-sizes" => Shape::Whole;
    "wp_get_view_config", "Get a view configuration", "Returns the configuration of an editor's list view. Requires a recent WordPress version.",
        [text("kind", "Kind of entity, such as postType.").required(),
         text("name", "Name of the entity, such as page.").required()];
        get "/wp/v2/view-config" => Shape::Whole;
};

//! Blocks, patterns, templates, styles, fonts, icons.

use serde_json::{Map, Value};

use super::arguments::{
    AFTER, AUTHOR, BEFORE, CONTEXT, DATE, DATE_GMT, EXCERPT_LENGTH, EXCLUDE, FORCE, HIDE_EMPTY, INCLUDE,
    META, MODIFIED_AFTER, MODIFIED_BEFORE, OF_PASSWORD, OF_POST, OF_STATUS, OFFSET, ORDER, PAGE, PASSWORD,
    PER_PAGE, POSTS_BY, SEARCH, SEARCH_IN, SEMANTICS, SLUG, SLUGS, TAX_RELATION, TEMPLATE, TERMS_BY,
    VERSIONS_BY, id,
};
use super::content::{VERSION, VERSIONS};
use super::{PHASE, rows};
use crate::rest::{Bind, Encoding, FileFrom, MissingValue, Shape, Step, get, post, value};
use crate::tools::{
    CallFailure, Form, ToolArgument, ToolRow, Values, flag, html, int, integers, object, raw, text, titled,
};

const ID: ToolArgument = id("ID of the item.");
const TITLE: ToolArgument = text("title", "Title.");
const CONTENT: ToolArgument = html("content", "Content as block markup.");
const EXCERPT: ToolArgument = text("excerpt", "Short description.");
const STATUS: ToolArgument =
    text("status", "Status.").among(&["publish", "future", "draft", "pending", "private"]);
const BLOCK: Shape =
    Shape::One("id slug status title.raw content.raw modified wp_pattern_sync_status wp_pattern_category");
const GROUPS: ToolArgument = integers("wp_pattern_category", "IDs of pattern categories.");
const NAMESPACE: ToolArgument = text("namespace", "Namespace of the block type, such as core.");

pub(super) const BLOCKS: &[ToolRow] = rows! {
    "wp_get_blocks", "List synced patterns and reusable blocks", "Returns a page of the site's own patterns and reusable blocks (post type wp_block).",
        [PER_PAGE, PAGE, SEARCH, AFTER, BEFORE, INCLUDE, EXCLUDE, OFFSET, ORDER, POSTS_BY, SLUGS,
         OF_STATUS, GROUPS,
         integers("wp_pattern_category_exclude", "Exclude patterns of the categories with these IDs."),
         MODIFIED_AFTER, MODIFIED_BEFORE, SEARCH_IN, SEMANTICS, TAX_RELATION, CONTEXT];
        get "/wp/v2/blocks" => Shape::List("blocks", "id slug status title.raw modified wp_pattern_category");
    "wp_get_block", "Get a reusable block", "Returns one of the site's own patterns or reusable blocks with its content.", [ID, CONTEXT, OF_PASSWORD, EXCERPT_LENGTH];
        content "/wp/v2/blocks/{id}" => BLOCK;
    "wp_create_block", "Create a reusable block", "Creates a pattern or reusable block and returns it.",
        [TITLE.required(), CONTENT.required(), STATUS.or_text("publish"), SLUG, GROUPS, EXCERPT, DATE, DATE_GMT,
         PASSWORD, TEMPLATE, META];
        post "/wp/v2/blocks" => BLOCK;
    "wp_update_block", "Update a reusable block", "Updates a pattern or reusable block and returns it. A synced pattern changes wherever it is used. Omitted fields keep their values.",
        [ID, TITLE, CONTENT, STATUS, SLUG, GROUPS, EXCERPT, DATE, DATE_GMT, PASSWORD, TEMPLATE, META];
        edit "/wp/v2/blocks/{id}", keeps "/wp/v2/blocks/{id}" => BLOCK;
    "wp_delete_block", "Delete a reusable block", "Moves a pattern or reusable block to the trash, or deletes it permanently with `force`.", [ID, FORCE];
        delete "/wp/v2/blocks/{id}" => Shape::Whole;
    "wp_get_block_types", "List block types", "Returns a page of the block types registered on the site.", [NAMESPACE, PER_PAGE.kept(), PAGE.kept(), CONTEXT];
        unpaged "/wp/v2/block-types" => Shape::List("block_types", "name title description category keywords is_dynamic");
    "wp_get_block_type", "Get a block type", "Returns one registered block type with its attributes.",
        [NAMESPACE.required(), text("name", "Name of the block type without its namespace, such as paragraph.").required(), CONTEXT];
        get "/wp/v2/block-types/{namespace}/{name}" => Shape::Whole;
    "wp_get_rendered_block", "Render a dynamic block", "Returns the HTML of a block type that the site renders on the server.",
        [text("name", "Full name of the block type, such as core/latest-posts.").required(),
         object("attributes", "Block attributes by name."), int("post_id", "ID of the post that provides the context.").least(1),
         text("context", "Response context.").or_text("edit").among(&["edit"])];
        query "/wp/v2/block-renderer/{*name}" => Shape::Whole;
    "wp_search_block_directory", "Search the block directory", "Searches the WordPress.org block directory and returns the blocks that can be installed.",
        [text("term", "Search text.").required(), PER_PAGE, PAGE];
        get "/wp/v2/block-directory/search" => Shape::List("blocks", "name title description id rating active_installs author");
    "wp_get_block_patterns", "List registered block patterns", "Returns the block patterns registered by the theme and by plugins.", [];
        get "/wp/v2/block-patterns/patterns" => Shape::List("patterns", "name title description categories block_types source");
    "wp_get_block_pattern_categories", "List registered pattern categories", "Returns the categories of the block patterns registered by the theme and by plugins.", [];
        get "/wp/v2/block-patterns/categories" => Shape::List("categories", "name label description");
    "wp_search_patterns", "Search the pattern directory", "Searches the WordPress.org pattern directory and returns the matching patterns.",
        [SEARCH, PER_PAGE, PAGE, int("category", "Return only patterns of the category with this ID."),
         int("keyword", "Return only patterns with the keyword that has this ID."), SLUGS, OFFSET, ORDER,
         text("orderby", "Field to sort by.")
             .among(&["date", "id", "relevance", "title", "favorite_count"]), CONTEXT];
        seldom_paged "/wp/v2/pattern-directory/patterns" => Shape::List("patterns", "id title description categories keywords");
    "wp_get_pattern_categories", "List the site's pattern categories", "Returns a page of the categories of the site's own patterns.",
        [PER_PAGE, PAGE, SEARCH, INCLUDE, EXCLUDE, OFFSET, ORDER, TERMS_BY, SLUGS, HIDE_EMPTY, OF_POST, CONTEXT];
        get "/wp/v2/wp_pattern_category" => Shape::List("categories", "id name slug description count");
    "wp_get_block_revisions", "List reusable block revisions", "Returns a list of revisions of a pattern or reusable block.",
        [ID, PER_PAGE, PAGE, SEARCH, INCLUDE, EXCLUDE, OFFSET, ORDER, VERSIONS_BY, CONTEXT];
        get "/wp/v2/blocks/{id}/revisions" => VERSIONS;
};

const KEY: ToolArgument =
    text("id", "Template identifier: theme directory, slash, name, such as mytheme/single.").required();
const NUMBER: ToolArgument = VERSION.saying("ID of the revision or autosave (`wp_id`).");
const THEME: ToolArgument = text("theme", "Theme directory, such as twentytwentyfive.");
const ABOUT: ToolArgument = text("description", "Description.");
const SHAPE: &str = "id slug theme type source origin title.raw description status content.raw wp_id has_theme_file is_custom area";
const LINE: &str =
    "id slug theme type source title.raw description status wp_id has_theme_file is_custom area";

/// The shape of a list of versions of templates. Versions have the template's ID; the ID of the version itself is
/// `wp_id`.
const DRAFTS: Shape =
    Shape::List("versions", "wp_id id parent author date modified slug title.rendered description");
const DRAFT: Shape =
    Shape::One("wp_id id parent author date modified title.rendered content.raw description");

/// The templates or the template parts of a theme.
macro_rules! templates {
    ($one:literal, $label:literal, $many:literal, $list:expr $(, $area:expr)?) => {
        rows! {
            concat!("wp_get_", $one, "s"), concat!("List ", $label, "s"),
                concat!("Returns the block theme's ", $label, "s."), $list;
                get concat!("/wp/v2/", $many) => Shape::List("templates", LINE);
            concat!("wp_get_", $one), concat!("Get a ", $label),
                concat!("Returns one ", $label, " with its content."), [KEY, CONTEXT];
                get concat!("/wp/v2/", $many, "/{*id}") => Shape::One(SHAPE);
            concat!("wp_find_", $one), concat!("Find a fallback ", $label),
                concat!("Returns the ", $label, " that the theme's template hierarchy uses for a slug."),
                [text("slug", "Slug of the template.").required(), flag("is_custom", "Look up a custom template rather than one of the template hierarchy."),
                 text("template_prefix", "Prefix of the template name, used to find a fallback, such as single-post.")];
                get concat!("/wp/v2/", $many, "/lookup") => Shape::One(SHAPE);
            concat!("wp_create_", $one), concat!("Create a ", $label),
                concat!("Creates a ", $label, " and returns it."),
                [text("slug", "Slug of the template.").required(), THEME, TITLE, CONTENT, ABOUT, STATUS, AUTHOR $(, $area)?];
                post concat!("/wp/v2/", $many) => Shape::One(SHAPE);
            concat!("wp_update_", $one), concat!("Update a ", $label),
                concat!("Updates a ", $label, " and returns it. Omitted fields keep their values."),
                [KEY, TITLE, CONTENT, ABOUT, STATUS, AUTHOR $(, $area)?];
                edit concat!("/wp/v2/", $many, "/{*id}"), keeps concat!("/wp/v2/", $many, "/{*id}") => Shape::One(SHAPE);
            concat!("wp_delete_", $one), concat!("Delete or reset a ", $label),
                concat!("Deletes the customized version of a ", $label, ". The theme's own version is kept."),
                [KEY, FORCE];
                delete concat!("/wp/v2/", $many, "/{*id}") => Shape::Whole;
            concat!("wp_get_", $one, "_revisions"), concat!("List ", $label, " revisions"),
                concat!("Returns a list of revisions of a ", $label, "."),
                [KEY, PER_PAGE, PAGE, SEARCH, INCLUDE, EXCLUDE, OFFSET, ORDER, VERSIONS_BY, CONTEXT];
                get concat!("/wp/v2/", $many, "/{*id}/revisions") => DRAFTS;
            concat!("wp_get_", $one, "_revision"), concat!("Get a ", $label, " revision"),
                concat!("Returns one revision of a ", $label, " with its content."), [KEY, NUMBER, CONTEXT];
                get concat!("/wp/v2/", $many, "/{*id}/revisions/{version}") => DRAFT;
            concat!("wp_delete_", $one, "_revision"), concat!("Delete a ", $label, " revision"),
                concat!("Permanently deletes one revision of a ", $label, "."), [KEY, NUMBER];
                purge concat!("/wp/v2/", $many, "/{*id}/revisions/{version}") => Shape::Whole;
            concat!("wp_get_", $one, "_autosaves"), concat!("List ", $label, " autosaves"),
                concat!("Returns the autosaves of a ", $label, "."), [KEY, CONTEXT];
                get concat!("/wp/v2/", $many, "/{*id}/autosaves") => DRAFTS;
            concat!("wp_get_", $one, "_autosave"), concat!("Get a ", $label, " autosave"),
                concat!("Returns one autosave of a ", $label, " with its content."), [KEY, NUMBER, CONTEXT];
                get concat!("/wp/v2/", $many, "/{*id}/autosaves/{version}") => DRAFT;
            concat!("wp_create_", $one, "_autosave"), concat!("Autosave a ", $label),
                concat!("Saves an autosave of a ", $label, " without publishing it, and returns the autosave."),
                [KEY, TITLE, CONTENT, ABOUT, STATUS, AUTHOR];
                post concat!("/wp/v2/", $many, "/{*id}/autosaves"), keeps concat!("/wp/v2/", $many, "/{*id}") => DRAFT;
        }
    };
}

pub(super) const TEMPLATES: &[ToolRow] = templates! {
    "template", "template", "templates",
    [int("wp_id", "Return only the template with this post ID.").least(1), text("area", "Return only templates for this area."),
     text("post_type", "Return only templates for this post type."), CONTEXT]
};

pub(super) const PARTS: &[ToolRow] = templates! {
    "template_part", "template part", "template-parts",
    [int("wp_id", "Return only the template with this post ID.").least(1), text("area", "Return only template parts for this area, such as header."),
     text("post_type", "Return only templates for this post type."), CONTEXT],
    text("area", "Area of the template part: header, footer, sidebar or uncategorized.")
};

const FAMILY: ToolArgument = int("font_family_id", "ID of the font family.").required().least(1);
const STYLESHEET: ToolArgument = text("stylesheet", "Theme directory, such as twentytwentyfive.").required();

pub(super) const STYLES: &[ToolRow] = rows! {
    "wp_get_global_styles", "Get global styles", "Returns the site's own global styles, which override those of the theme.", [ID];
        get "/wp/v2/global-styles/{id}" => Shape::Whole;
    "wp_update_global_styles", "Update global styles", "Updates the site's own global styles and returns them.",
        [ID, object("styles", "Styles as in theme.json, such as colors, spacing and typography."), object("settings", "Settings as in theme.json, such as the available colors and font sizes."), TITLE];
        edit "/wp/v2/global-styles/{id}" => Shape::Whole;
    "wp_get_theme_styles", "Get theme styles", "Returns the global styles that a theme provides.", [STYLESHEET];
        get "/wp/v2/global-styles/themes/{*stylesheet}" => Shape::Whole;
    "wp_get_theme_style_variations", "List theme style variations", "Returns the style variations that a theme provides.", [STYLESHEET];
        get "/wp/v2/global-styles/themes/{*stylesheet}/variations" => Shape::List("variations", "title version");
    "wp_get_global_styles_revisions", "List global styles revisions", "Returns a list of revisions of the site's own global styles.", [ID, PER_PAGE, PAGE, OFFSET, CONTEXT];
        get "/wp/v2/global-styles/{id}/revisions" => Shape::List("versions", "id parent author date modified");
};

/// The check that an answer is a revision of styles: a revision has a parent, but the styles themselves have none.
/// An older site returns the styles themselves at any path below theirs.
const OF_STYLES: &[Bind] = &[Bind {
    name: "parent",
    at: "/parent",
    missing: MissingValue::CallFailure(
        "the site does not return single revisions of styles: its software may be too old to support this request",
    ),
}];

const FONTS_BY: ToolArgument = text("orderby", "Field to sort by.").among(&["id", "include"]);
const THEME_JSON: ToolArgument =
    int("theme_json_version", "Version of the theme.json format that the settings use.").least(2);
const FACE: &str = "JSON object as a string, with fontFamily, fontStyle, fontWeight and src.";

pub(super) const FONTS: &[ToolRow] = rows! {
    "wp_get_font_families", "List font families", "Returns a page of the installed font families.",
        [PER_PAGE, PAGE, INCLUDE, EXCLUDE, OFFSET, ORDER, FONTS_BY, SLUGS, CONTEXT];
        get "/wp/v2/font-families" => Shape::List("font_families", "id font_faces font_family_settings");
    "wp_get_font_family", "Get a font family", "Returns one installed font family.", [ID, CONTEXT];
        get "/wp/v2/font-families/{id}" => Shape::Whole;
    "wp_create_font_family", "Install a font family", "Installs a font family and returns it.",
        [text("font_family_settings", "JSON object as a string, with name, slug and fontFamily.").required(), THEME_JSON];
        post "/wp/v2/font-families" => Shape::Whole;
    "wp_update_font_family", "Update a font family", "Updates the settings of a font family and returns it.",
        [ID, text("font_family_settings", "JSON object as a string, with name, slug and fontFamily.").required(), THEME_JSON];
        edit "/wp/v2/font-families/{id}" => Shape::Whole;
    "wp_delete_font_family", "Delete a font family", "Permanently deletes a font family and its font faces.", [ID];
        purge "/wp/v2/font-families/{id}" => Shape::Whole;
    "wp_get_font_faces", "List font faces", "Returns a page of the font faces of a font family.", [FAMILY, PER_PAGE, PAGE, INCLUDE, EXCLUDE, OFFSET, ORDER, FONTS_BY, CONTEXT];
        get "/wp/v2/font-families/{font_family_id}/font-faces" => Shape::List("font_faces", "id parent font_face_settings");
    "wp_get_font_face", "Get a font face", "Returns one font face of a font family.", [FAMILY, ID, CONTEXT];
        get "/wp/v2/font-families/{font_family_id}/font-faces/{id}" => Shape::Whole;
    "wp_create_font_face", "Add a font face", "Adds a font face to a font family, with a font file that is loaded from a URL, and returns the font face.",
        [FAMILY, text("font_face_settings", FACE).required(), THEME_JSON];
        post "/wp/v2/font-families/{font_family_id}/font-faces" => Shape::Whole;
    "wp_delete_font_face", "Delete a font face", "Permanently deletes a font face.", [FAMILY, ID];
        purge "/wp/v2/font-families/{font_family_id}/font-faces/{id}" => Shape::Whole;
    "wp_get_font_collections", "List font collections", "Returns a page of the collections from which fonts can be installed.", [PER_PAGE, PAGE, CONTEXT];
        get "/wp/v2/font-collections" => Shape::List("font_collections", "slug name description");
    "wp_get_font_collection", "Get a font collection", "Returns one font collection with its fonts.", [text("slug", "Slug of the collection.").required(), CONTEXT];
        get "/wp/v2/font-collections/{slug}" => Shape::Whole;
    "wp_get_icons", "List icons", "Returns a page of icons, without their SVG content. Requires a recent WordPress version.",
        [SEARCH, PER_PAGE, PAGE, text("collection", "Return only icons of this collection."), CONTEXT];
        unpaged "/wp/v2/icons" => Shape::List("icons", "name label collection");
    "wp_get_icon", "Get an icon", "Returns one icon with its SVG content. Requires a recent WordPress version.",
        [text("name", "Full name of the icon, such as core/home.").required(), CONTEXT];
        get "/wp/v2/icons/{*name}" => Shape::Whole;
    "wp_get_icon_collections", "List icon collections", "Returns a page of icon collections. Requires a recent WordPress version.", [SEARCH, PER_PAGE, PAGE, CONTEXT];
        unpaged "/wp/v2/icon-collections" => Shape::List("collections", "slug label description");
    "wp_get_icon_collection", "Get an icon collection", "Returns one icon collection. Requires a recent WordPress version.", [text("slug", "Slug of the collection.").required(), CONTEXT];
        get "/wp/v2/icon-collections/{slug}" => Shape::Whole;
};

/// The name of the part that carries the file in the same request.
const FONT_FILE: &str = "file";

/// Tools that return a file, send a file, or check an answer before it is shown.
pub(super) const MORE: &[ToolRow] = &[
    titled(
        "wp_get_global_styles_revision",
        "Get a global styles revision",
        "Returns one revision of the site's own global styles.",
        &[ID, VERSION, CONTEXT],
        &[get("index", "/wp/v2/global-styles/{id}/revisions/{version}").binds(OF_STYLES).step()],
        Shape::Whole,
    )
    .phase(PHASE),
    titled(
        "wp_upload_font_face",
        "Upload a font face",
        "Uploads a font file, adds it as a font face to a font family, and returns the font face.",
        &[
            FAMILY,
            text(
                "font_face_settings",
                "JSON object as a string, with fontFamily, fontStyle, fontWeight and other properties, but without src.",
            )
            .required()
            .kept(),
            raw("file", "Font file: a public URL, or the content in base64.").required().kept(),
            THEME_JSON,
        ],
        &[
            Step::Make("settings", with_file),
            Step::File(FileFrom::Either("file")),
            post("index", "/wp/v2/font-families/{font_family_id}/font-faces")
                .encoded(Encoding::File(FONT_FILE))
                .with(&[value("font_face_settings", "settings", Form::Plain)])
                .step(),
        ],
        Shape::Whole,
    )
    .phase(PHASE),
    titled(
        "wp_get_theme_export",
        "Export the active theme",
        "Returns the active theme with all of its customizations as a ZIP file.",
        &[],
        &[get("index", "/wp-block-editor/v1/export").bringing_file().step()],
        Shape::File,
    )
    .phase(PHASE),
];

/// The settings of a font face whose source is the file in the same request.
fn with_file(values: &Values) -> Result<Option<Value>, CallFailure> {
    let settings = serde_json::from_str(values.text("font_face_settings"));
    let mut settings: Map<String, Value> = settings.map_err(|_| {
        CallFailure::arguments("the argument \"font_face_settings\" must be a JSON object, as text")
    })?;
    settings.insert("src".to_owned(), Value::from(FONT_FILE));
    Ok(Some(Value::from(Value::Object(settings).to_string())))
}

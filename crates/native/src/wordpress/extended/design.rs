//! Blocks, patterns, templates, styles, fonts, icons.

use serde_json::{Map, Value};

use super::content::{VERSION, VERSIONS};
use super::{PHASE, rows};
use crate::rest::{Bind, Encoding, FileFrom, Missing, Shape, Step, get, post, value};
use crate::tools::{
    Argument, Form, Tool, Trouble, Values, flag, html, int, integers, object, raw, text, tool,
};
use crate::wordpress::arguments::{
    AFTER, AUTHOR, BEFORE, CONTEXT, DATE, DATE_GMT, EXCERPT_LENGTH, EXCLUDE, FORCE, HIDE_EMPTY, INCLUDE,
    META, MODIFIED_AFTER, MODIFIED_BEFORE, OF_PASSWORD, OF_POST, OF_STATUS, OFFSET, ORDER, PAGE, PASSWORD,
    PER_PAGE, POSTS_BY, SEARCH, SEARCH_IN, SEMANTICS, SLUG, SLUGS, TAX_RELATION, TEMPLATE, TERMS_BY,
    VERSIONS_BY, id,
};

const ID: Argument = id("Its number.");
const TITLE: Argument = text("title", "The title.");
const CONTENT: Argument = html("content", "The content, in blocks.");
const EXCERPT: Argument = text("excerpt", "What it is for, in a few words.");
const STATUS: Argument =
    text("status", "The status.").among(&["publish", "future", "draft", "pending", "private"]);
const BLOCK: Shape =
    Shape::One("id slug status title.raw content.raw modified wp_pattern_sync_status wp_pattern_category");
const GROUPS: Argument = integers("wp_pattern_category", "The numbers of the pattern categories.");
const NAMESPACE: Argument = text("namespace", "What its name begins with, such as core.");

pub(super) const BLOCKS: &[Tool] = rows! {
    "wp_get_blocks", "Lists patterns and blocks that the site keeps for use in many places.",
        [PER_PAGE, PAGE, SEARCH, AFTER, BEFORE, INCLUDE, EXCLUDE, OFFSET, ORDER, POSTS_BY, SLUGS,
         OF_STATUS, GROUPS,
         integers("wp_pattern_category_exclude", "Those of the pattern categories with these numbers are left out."),
         MODIFIED_AFTER, MODIFIED_BEFORE, SEARCH_IN, SEMANTICS, TAX_RELATION, CONTEXT];
        get "/wp/v2/blocks" => Shape::List("blocks", "id slug status title.raw modified wp_pattern_category");
    "wp_get_block", "One of them with its content.", [ID, CONTEXT, OF_PASSWORD, EXCERPT_LENGTH];
        content "/wp/v2/blocks/{id}" => BLOCK;
    "wp_create_block", "Keeps a block for use in many places.",
        [TITLE.required(), CONTENT.required(), STATUS.or_text("publish"), SLUG, GROUPS, EXCERPT, DATE, DATE_GMT,
         PASSWORD, TEMPLATE, META];
        post "/wp/v2/blocks" => BLOCK;
    "wp_update_block", "Changes it in all places; what is left out stays.",
        [ID, TITLE, CONTENT, STATUS, SLUG, GROUPS, EXCERPT, DATE, DATE_GMT, PASSWORD, TEMPLATE, META];
        edit "/wp/v2/blocks/{id}", keeps "/wp/v2/blocks/{id}" => BLOCK;
    "wp_delete_block", "Puts it into the bin, or removes it.", [ID, FORCE];
        delete "/wp/v2/blocks/{id}" => Shape::Whole;
    "wp_get_block_types", "Lists the kinds of blocks that the site has.", [NAMESPACE, CONTEXT];
        get "/wp/v2/block-types" => Shape::List("block_types", "name title description category keywords is_dynamic");
    "wp_get_block_type", "One kind of block, with its attributes.",
        [NAMESPACE.required(), text("name", "The name behind it, such as paragraph.").required(), CONTEXT];
        get "/wp/v2/block-types/{namespace}/{name}" => Shape::Whole;
    "wp_get_rendered_block", "What a block looks like, where the site makes it.",
        [text("name", "The block's full name, such as core/latest-posts.").required(),
         object("attributes", "Its attributes."), int("post_id", "The number of the post that it stands in.").least(1),
         text("context", "For whom.").or_text("edit").among(&["edit"])];
        query "/wp/v2/block-renderer/{*name}" => Shape::Whole;
    "wp_search_block_directory", "Finds blocks that can be installed.",
        [text("term", "Words.").required(), PER_PAGE, PAGE];
        get "/wp/v2/block-directory/search" => Shape::List("blocks", "name title description id rating active_installs author");
    "wp_get_block_patterns", "Lists the patterns that theme and plugins bring.", [];
        get "/wp/v2/block-patterns/patterns" => Shape::List("patterns", "name title description categories block_types source");
    "wp_get_block_pattern_categories", "Lists the categories of those patterns.", [];
        get "/wp/v2/block-patterns/categories" => Shape::List("categories", "name label description");
    "wp_search_patterns", "Finds patterns in WordPress's own directory.",
        [SEARCH, PER_PAGE, PAGE, int("category", "Only those of the category with this number."),
         int("keyword", "Only those of the keyword with this number."), SLUGS, OFFSET, ORDER,
         text("orderby", "What the list is ordered by.")
             .among(&["date", "id", "relevance", "title", "favorite_count"]), CONTEXT];
        get "/wp/v2/pattern-directory/patterns" => Shape::Whole;
    "wp_get_pattern_categories", "Lists the categories of the site's own patterns.",
        [PER_PAGE, PAGE, SEARCH, INCLUDE, EXCLUDE, OFFSET, ORDER, TERMS_BY, SLUGS, HIDE_EMPTY, OF_POST, CONTEXT];
        get "/wp/v2/wp_pattern_category" => Shape::List("categories", "id name slug description count");
    "wp_get_block_revisions", "Lists earlier versions of a kept block.",
        [ID, PER_PAGE, PAGE, SEARCH, INCLUDE, EXCLUDE, OFFSET, ORDER, VERSIONS_BY, CONTEXT];
        get "/wp/v2/blocks/{id}/revisions" => VERSIONS;
};

const KEY: Argument =
    text("id", "Its identifier: the theme's folder, a slash and its name, such as mine/single.").required();
const NUMBER: Argument = VERSION.saying("The number of the version (`wp_id`).");
const THEME: Argument = text("theme", "The theme's folder.");
const ABOUT: Argument = text("description", "What it is for.");
const SHAPE: &str = "id slug theme type source origin title.raw description status content.raw wp_id has_theme_file is_custom area";
const LINE: &str =
    "id slug theme type source title.raw description status wp_id has_theme_file is_custom area";

/// Versions of templates have the template's identifier; the number of the version itself is `wp_id`.
const DRAFTS: Shape =
    Shape::List("versions", "wp_id id parent author date modified slug title.rendered description");
const DRAFT: Shape =
    Shape::One("wp_id id parent author date modified title.rendered content.raw description");

/// The templates or the template parts of a theme.
macro_rules! templates {
    ($one:literal, $many:literal, $list:expr $(, $area:expr)?) => {
        rows! {
            concat!("wp_get_", $one, "s"), "Lists them.", $list;
                get concat!("/wp/v2/", $many) => Shape::List("templates", LINE);
            concat!("wp_get_", $one), "One of them with its content.", [KEY, CONTEXT];
                get concat!("/wp/v2/", $many, "/{*id}") => Shape::One(SHAPE);
            concat!("wp_find_", $one), "The one that shows what has this name, or would.",
                [text("slug", "The name.").required(), flag("is_custom", "Whether it is one of the user's own."),
                 text("template_prefix", "What the name begins with, such as single-post.")];
                get concat!("/wp/v2/", $many, "/lookup") => Shape::One(SHAPE);
            concat!("wp_create_", $one), "Makes one.",
                [text("slug", "The name.").required(), THEME, TITLE, CONTENT, ABOUT, STATUS, AUTHOR $(, $area)?];
                post concat!("/wp/v2/", $many) => Shape::One(SHAPE);
            concat!("wp_update_", $one), "Changes one; what is left out stays.",
                [KEY, TITLE, CONTENT, ABOUT, STATUS, AUTHOR $(, $area)?];
                edit concat!("/wp/v2/", $many, "/{*id}"), keeps concat!("/wp/v2/", $many, "/{*id}") => Shape::One(SHAPE);
            concat!("wp_delete_", $one), "Removes what was changed in one; what the theme brings stays.",
                [KEY, FORCE];
                delete concat!("/wp/v2/", $many, "/{*id}") => Shape::Whole;
            concat!("wp_get_", $one, "_revisions"), "Lists earlier versions of one.",
                [KEY, PER_PAGE, PAGE, SEARCH, INCLUDE, EXCLUDE, OFFSET, ORDER, VERSIONS_BY, CONTEXT];
                get concat!("/wp/v2/", $many, "/{*id}/revisions") => DRAFTS;
            concat!("wp_get_", $one, "_revision"), "An earlier version of one.", [KEY, NUMBER, CONTEXT];
                get concat!("/wp/v2/", $many, "/{*id}/revisions/{version}") => DRAFT;
            concat!("wp_delete_", $one, "_revision"), "Removes an earlier version of one for good.", [KEY, NUMBER];
                purge concat!("/wp/v2/", $many, "/{*id}/revisions/{version}") => Shape::Whole;
            concat!("wp_get_", $one, "_autosaves"), "Lists what was saved while one was written.", [KEY, CONTEXT];
                get concat!("/wp/v2/", $many, "/{*id}/autosaves") => DRAFTS;
            concat!("wp_get_", $one, "_autosave"), "What was saved while one was written.", [KEY, NUMBER, CONTEXT];
                get concat!("/wp/v2/", $many, "/{*id}/autosaves/{version}") => DRAFT;
            concat!("wp_create_", $one, "_autosave"), "Saves a version of one without putting it in force.",
                [KEY, TITLE, CONTENT, ABOUT, STATUS, AUTHOR];
                post concat!("/wp/v2/", $many, "/{*id}/autosaves"), keeps concat!("/wp/v2/", $many, "/{*id}") => DRAFT;
        }
    };
}

pub(super) const TEMPLATES: &[Tool] = templates! {
    "template", "templates",
    [int("wp_id", "Only the one with this number.").least(1), text("area", "Only those for this area."),
     text("post_type", "Only those for this type of content."), CONTEXT]
};

pub(super) const PARTS: &[Tool] = templates! {
    "template_part", "template-parts",
    [int("wp_id", "Only the one with this number.").least(1), text("area", "Only those for this area, such as header."),
     text("post_type", "Only those for this type of content."), CONTEXT],
    text("area", "Where it stands: header, footer, sidebar or uncategorized.")
};

const FAMILY: Argument = int("font_family_id", "The number of the family.").required().least(1);
const STYLESHEET: Argument = text("stylesheet", "The theme's folder.").required();

pub(super) const STYLES: &[Tool] = rows! {
    "wp_get_global_styles", "The site's own styles, which lie over the theme's.", [ID];
        get "/wp/v2/global-styles/{id}" => Shape::Whole;
    "wp_update_global_styles", "Changes the site's own styles.",
        [ID, object("styles", "Colours, spacing, letters and so on."), object("settings", "What may be chosen."), TITLE];
        edit "/wp/v2/global-styles/{id}" => Shape::Whole;
    "wp_get_theme_styles", "The styles that a theme brings.", [STYLESHEET];
        get "/wp/v2/global-styles/themes/{*stylesheet}" => Shape::Whole;
    "wp_get_theme_style_variations", "The variations of styles that a theme brings.", [STYLESHEET];
        get "/wp/v2/global-styles/themes/{*stylesheet}/variations" => Shape::Whole;
    "wp_get_global_styles_revisions", "Lists earlier versions of the site's own styles.", [ID, PER_PAGE, PAGE, OFFSET, CONTEXT];
        get "/wp/v2/global-styles/{id}/revisions" => Shape::List("versions", "id parent author date modified settings styles");
};

/// A version of styles has a parent; the styles themselves, which an older site shows at any path below them, have none.
const OF_STYLES: &[Bind] = &[Bind {
    name: "parent",
    at: "/parent",
    missing: Missing::Trouble(
        "the site shows no earlier versions of styles one by one: it may be too old for this",
    ),
}];

const FONTS_BY: Argument = text("orderby", "What the list is ordered by.").among(&["id", "include"]);
const THEME_JSON: Argument =
    int("theme_json_version", "The version of theme.json in which the settings are written.").least(2);
const FACE: &str = "Its fontFamily, fontStyle, fontWeight and src, as JSON.";

pub(super) const FONTS: &[Tool] = rows! {
    "wp_get_font_families", "Lists the families of fonts that are installed.",
        [PER_PAGE, PAGE, INCLUDE, EXCLUDE, OFFSET, ORDER, FONTS_BY, SLUGS, CONTEXT];
        get "/wp/v2/font-families" => Shape::List("font_families", "id font_faces font_family_settings");
    "wp_get_font_family", "One family of fonts.", [ID, CONTEXT];
        get "/wp/v2/font-families/{id}" => Shape::Whole;
    "wp_create_font_family", "Installs a family of fonts.",
        [text("font_family_settings", "Its name, slug and fontFamily, as JSON.").required(), THEME_JSON];
        post "/wp/v2/font-families" => Shape::Whole;
    "wp_update_font_family", "Changes what is said of a family of fonts.",
        [ID, text("font_family_settings", "Its name, slug and fontFamily, as JSON.").required(), THEME_JSON];
        edit "/wp/v2/font-families/{id}" => Shape::Whole;
    "wp_delete_font_family", "Removes a family of fonts with its faces for good.", [ID];
        purge "/wp/v2/font-families/{id}" => Shape::Whole;
    "wp_get_font_faces", "Lists the faces of a family.", [FAMILY, PER_PAGE, PAGE, INCLUDE, EXCLUDE, OFFSET, ORDER, FONTS_BY, CONTEXT];
        get "/wp/v2/font-families/{font_family_id}/font-faces" => Shape::List("font_faces", "id parent font_face_settings");
    "wp_get_font_face", "One face of a family.", [FAMILY, ID, CONTEXT];
        get "/wp/v2/font-families/{font_family_id}/font-faces/{id}" => Shape::Whole;
    "wp_create_font_face", "Adds a face to a family, from a file on the web.",
        [FAMILY, text("font_face_settings", FACE).required(), THEME_JSON];
        post "/wp/v2/font-families/{font_family_id}/font-faces" => Shape::Whole;
    "wp_delete_font_face", "Removes a face for good.", [FAMILY, ID];
        purge "/wp/v2/font-families/{font_family_id}/font-faces/{id}" => Shape::Whole;
    "wp_get_font_collections", "Lists the collections from which fonts can be installed.", [PER_PAGE, PAGE, CONTEXT];
        get "/wp/v2/font-collections" => Shape::List("font_collections", "slug name description");
    "wp_get_font_collection", "One collection with its fonts.", [text("slug", "Its name.").required(), CONTEXT];
        get "/wp/v2/font-collections/{slug}" => Shape::Whole;
    "wp_get_icons", "Lists icons (newest WordPress).",
        [SEARCH, PER_PAGE, PAGE, text("collection", "Only those of this collection."), CONTEXT];
        get "/wp/v2/icons" => Shape::Whole;
    "wp_get_icon", "One icon with its drawing (newest WordPress).",
        [text("name", "Its full name, such as core/home.").required(), CONTEXT];
        get "/wp/v2/icons/{*name}" => Shape::Whole;
    "wp_get_icon_collections", "Lists collections of icons (newest WordPress).", [SEARCH, PER_PAGE, PAGE, CONTEXT];
        get "/wp/v2/icon-collections" => Shape::Whole;
    "wp_get_icon_collection", "One collection of icons (newest WordPress).", [text("slug", "Its name.").required(), CONTEXT];
        get "/wp/v2/icon-collections/{slug}" => Shape::Whole;
};

/// What a file in the same request is called there.
const FONT_FILE: &str = "file";

/// What answers with a file, is sent with one, or is looked at before it is shown.
pub(super) const MORE: &[Tool] = &[
    tool(
        "wp_get_global_styles_revision",
        "An earlier version of the site's own styles.",
        &[ID, VERSION, CONTEXT],
        &[get("index", "/wp/v2/global-styles/{id}/revisions/{version}").binds(OF_STYLES).step()],
        Shape::Whole,
    )
    .phase(PHASE),
    tool(
        "wp_upload_font_face",
        "Adds a face to a family and puts its file on the site.",
        &[
            FAMILY,
            text(
                "font_face_settings",
                "Its fontFamily, fontStyle, fontWeight and so on, as JSON, without src.",
            )
            .required()
            .kept(),
            raw("file", "The font's file: a public URL, or its content in base64.").required().kept(),
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
    tool(
        "wp_get_theme_export",
        "The theme that is in use with all that was changed in it, as a ZIP file beside the answer.",
        &[],
        &[get("index", "/wp-block-editor/v1/export").bringing_file().step()],
        Shape::File,
    )
    .phase(PHASE),
];

/// The settings of a face whose source is the file in the same request.
fn with_file(values: &Values) -> Result<Option<Value>, Trouble> {
    let settings = serde_json::from_str(values.text("font_face_settings"));
    let mut settings: Map<String, Value> = settings.map_err(|_| {
        Trouble::arguments("the argument \"font_face_settings\" must be an object as JSON text")
    })?;
    settings.insert("src".to_owned(), Value::from(FONT_FILE));
    Ok(Some(Value::from(Value::Object(settings).to_string())))
}

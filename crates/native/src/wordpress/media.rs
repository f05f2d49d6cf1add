//! Media, and the host of images.

use serde_json::Value;

use super::arguments::{
    AFTER, AUTHOR, AUTHORS, BEFORE, COMMENTS, DATE, DATE_GMT, EXCLUDE, IMAGE, INCLUDE, META, MODIFIED_AFTER,
    MODIFIED_BEFORE, NOT_AUTHORS, NOT_PARENTS, OFFSET, ORDER, PAGE, PARENTS, PER_PAGE, PINGS, POSTS_BY,
    SEARCH, SEARCH_IN, SEMANTICS, SLUG, SLUGS, TEMPLATE, id,
};
use crate::rest::{
    Encoding, Field, FileFrom, From, Pick, Shape, Source, Step, content, get, pick, post, value,
};
use crate::tools::{Argument, Form, Tool, Trouble, Values, flag, int, raw, text, tool};

const TITLE: Argument = text("title", "The title.");
const ALTERNATIVE: Argument = text("alt_text", "What the image shows, for those who do not see it.");
const CAPTION: Argument = text("caption", "The caption.");

const ABOUT: Argument = text("description", "The description.");
const POST: Argument = int("post", "The number of the post that it belongs to.").least(1);

const STATUS: Argument =
    text("status", "Who sees it: as far as its post is seen, or those alone who see what is private.")
        .among(&["publish", "private"]);
const SUB_SIZES: Argument =
    flag("generate_sub_sizes", "Whether the site makes smaller sizes of an image (WordPress 7.1 and newer).");
const CONVERTS: Argument =
    flag("convert_format", "Whether the site may keep an image in another format (WordPress 7.1 and newer).");

/// What can be said of a file when it is put up.
macro_rules! uploaded {
    ($($first:expr),*) => {
        &[
            $($first,)*
            TITLE, ALTERNATIVE, CAPTION, ABOUT, POST, DATE, DATE_GMT, SLUG, STATUS, AUTHOR, IMAGE, COMMENTS, PINGS,
            TEMPLATE, META, SUB_SIZES, CONVERTS,
        ]
    };
}

const LINE: &[Pick] = &[
    pick("id", "/id"),
    pick("title", "/title/rendered"),
    pick("link", "/link"),
    pick("source_url", "/source_url"),
    pick("media_type", "/media_type"),
    pick("mime_type", "/mime_type"),
    pick("alt_text", "/alt_text"),
];

const WHOLE: &[Pick] = &[
    pick("id", "/id"),
    Pick { name: "title", from: From::First(&["/title/raw", "/title/rendered"]) },
    pick("link", "/link"),
    pick("source_url", "/source_url"),
    pick("media_type", "/media_type"),
    pick("mime_type", "/mime_type"),
    pick("alt_text", "/alt_text"),
    Pick { name: "caption", from: From::First(&["/caption/raw", "/caption/rendered"]) },
    pick("media_details", "/media_details"),
];

const UPLOADED: &[Pick] = &[
    pick("id", "/id"),
    pick("title", "/title/rendered"),
    pick("link", "/link"),
    pick("source_url", "/source_url"),
    pick("media_type", "/media_type"),
    pick("mime_type", "/mime_type"),
];

const UPLOAD: Step = post("wp", "/media").encoded(Encoding::File("file")).step();

pub(super) const TOOLS: &[Tool] = &[
    tool(
        "wp_get_media",
        "Lists media.",
        &[
            PER_PAGE,
            PAGE,
            text("media_type", "Only those of this kind.").among(&[
                "image",
                "video",
                "audio",
                "application",
                "text",
            ]),
            SEARCH,
            PARENTS,
            text("mime_type", "Only those of this media type, such as image/png."),
            AUTHORS,
            AFTER,
            BEFORE,
            INCLUDE,
            EXCLUDE,
            OFFSET,
            ORDER,
            POSTS_BY,
            SLUGS,
            NOT_PARENTS,
            NOT_AUTHORS,
            MODIFIED_AFTER,
            MODIFIED_BEFORE,
            SEARCH_IN,
            SEMANTICS,
            text("status", "Only those of this status.").among(&["inherit", "private", "trash"]),
        ],
        &[get("wp", "/media").step()],
        Shape::Listed("media", LINE),
    ),
    tool(
        "wp_get_media_item",
        "One item of the media.",
        &[id("The item's number.")],
        &[content("wp", "/media/{id}").step()],
        Shape::Picked(WHOLE),
    ),
    tool(
        "wp_upload_media_from_url",
        "Fetches a file from a public URL and puts it into the media.",
        uploaded!(text("url", "The file's URL.").required().kept()),
        &[Step::File(FileFrom::Url("url")), UPLOAD],
        Shape::Picked(UPLOADED),
    ),
    tool(
        "wp_upload_media_from_base64",
        "Puts a file into the media.",
        uploaded!(
            raw("base64", "The content in base64, or as a data URL.").required().kept(),
            text("fileName", "The file's name.").required().kept(),
            text("mimeType", "Its media type, such as image/png.").required().kept()
        ),
        &[Step::File(FileFrom::Base64 { data: "base64", name: "fileName", mime: "mimeType" }), UPLOAD],
        Shape::Picked(UPLOADED),
    ),
    tool(
        "upload_to_imgbb",
        "Puts an image on imgbb, a public host of images. Whoever has its address can see it.",
        &[
            raw("base64", "The image in base64, or as a data URL.").required().kept(),
            text("name", "The image's name."),
            int("expiration", "Seconds after which it is removed; never when left out.")
                .least(60)
                .most(15_552_000),
            raw("apiKey", "The key for imgbb; left out where one is configured.").kept(),
        ],
        &[
            Step::Make("image", image),
            post("images", "/upload")
                .encoded(Encoding::Form)
                .with(&[
                    Field { name: "key", source: Source::Secret("image key"), form: Form::Plain },
                    value("image", "image", Form::Plain),
                ])
                .step(),
        ],
        Shape::Picked(&[
            pick("originalContentUrl", "/data/url"),
            pick("previewImageUrl", "/data/thumb/url"),
            pick("displayUrl", "/data/display_url"),
            pick("deleteUrl", "/data/delete_url"),
        ]),
    ),
];

/// Bytes of base64 that the host of images takes.
const LARGEST: usize = 44 << 20;

/// The image without the head of a data URL.
fn image(values: &Values) -> Result<Option<Value>, Trouble> {
    let text = values.text("base64").trim();
    let data =
        if text.starts_with("data:") { text.split_once(',').map_or("", |(_, data)| data) } else { text };
    let data: String = data.split_ascii_whitespace().collect();
    let fits = !data.is_empty()
        && data.len() <= LARGEST
        && data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
    if fits {
        return Ok(Some(Value::from(data)));
    }
    Err(Trouble::arguments("the argument \"base64\" is no base64, is empty, or is larger than 32 MiB"))
}

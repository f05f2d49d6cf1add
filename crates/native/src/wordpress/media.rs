//! Media, and the image host.

use serde_json::Value;

use super::arguments::{
    AFTER, AUTHOR, AUTHORS, BEFORE, COMMENTS, DATE, DATE_GMT, EXCLUDE, IMAGE, INCLUDE, META, MODIFIED_AFTER,
    MODIFIED_BEFORE, NOT_AUTHORS, NOT_PARENTS, OFFSET, ORDER, PAGE, PARENTS, PER_PAGE, PINGS, POSTS_BY,
    SEARCH, SEARCH_IN, SEMANTICS, SLUG, SLUGS, TEMPLATE, id,
};
use crate::rest::{
    Encoding, Field, FieldSource, FileFrom, MemberSource, Shape, ShownMember, Step, content, get, pick, post,
    value,
};
use crate::tools::{CallFailure, Form, ToolArgument, ToolRow, Values, flag, int, raw, text, tool};

const TITLE: ToolArgument = text("title", "Title.");
const ALTERNATIVE: ToolArgument = text("alt_text", "Alternative text that describes the image.");
const CAPTION: ToolArgument = text("caption", "Caption.");

const ABOUT: ToolArgument = text("description", "Description.");
const POST: ToolArgument = int("post", "ID of the post to attach the file to.").least(1);

const STATUS: ToolArgument =
    text("status", "Visibility: `publish` makes the file as visible as its post, `private` limits access to users who can read private content.")
        .among(&["publish", "private"]);
const SUB_SIZES: ToolArgument =
    flag("generate_sub_sizes", "Generate smaller sizes of an image. Requires WordPress 7.1 or newer.");
const CONVERTS: ToolArgument = flag(
    "convert_format",
    "Allow the site to convert an image to another format. Requires WordPress 7.1 or newer.",
);

/// The arguments of an upload: the given ones, then the details of the file.
macro_rules! uploaded {
    ($($first:expr),*) => {
        &[
            $($first,)*
            TITLE, ALTERNATIVE, CAPTION, ABOUT, POST, DATE, DATE_GMT, SLUG, STATUS, AUTHOR, IMAGE, COMMENTS, PINGS,
            TEMPLATE, META, SUB_SIZES, CONVERTS,
        ]
    };
}

const LINE: &[ShownMember] = &[
    pick("id", "/id"),
    pick("title", "/title/rendered"),
    pick("link", "/link"),
    pick("source_url", "/source_url"),
    pick("media_type", "/media_type"),
    pick("mime_type", "/mime_type"),
    pick("alt_text", "/alt_text"),
];

const WHOLE: &[ShownMember] = &[
    pick("id", "/id"),
    ShownMember { name: "title", from: MemberSource::First(&["/title/raw", "/title/rendered"]) },
    pick("link", "/link"),
    pick("source_url", "/source_url"),
    pick("media_type", "/media_type"),
    pick("mime_type", "/mime_type"),
    pick("alt_text", "/alt_text"),
    ShownMember { name: "caption", from: MemberSource::First(&["/caption/raw", "/caption/rendered"]) },
    pick("media_details", "/media_details"),
];

const UPLOADED: &[ShownMember] = &[
    pick("id", "/id"),
    pick("title", "/title/rendered"),
    pick("link", "/link"),
    pick("source_url", "/source_url"),
    pick("media_type", "/media_type"),
    pick("mime_type", "/mime_type"),
];

const UPLOAD: Step = post("wp", "/media").encoded(Encoding::File("file")).step();

pub(super) const TOOLS: &[ToolRow] = &[
    tool(
        "wp_get_media",
        "Returns a list of media items.",
        &[
            PER_PAGE,
            PAGE,
            text("media_type", "Return only files of this kind.").among(&[
                "image",
                "video",
                "audio",
                "application",
                "text",
            ]),
            SEARCH,
            PARENTS,
            text("mime_type", "Return only files of this media type, such as image/png."),
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
            text("status", "Return only items with this status.").among(&["inherit", "private", "trash"]),
        ],
        &[get("wp", "/media").step()],
        Shape::Listed("media", LINE),
    ),
    tool(
        "wp_get_media_item",
        "Returns one media item with its URL, caption and sizes.",
        &[id("ID of the media item.")],
        &[content("wp", "/media/{id}").step()],
        Shape::Picked(WHOLE),
    ),
    tool(
        "wp_upload_media_from_url",
        "Downloads a file from a public URL into the media library and returns the new media item.",
        uploaded!(text("url", "URL of the file.").required().kept()),
        &[Step::File(FileFrom::Url("url")), UPLOAD],
        Shape::Picked(UPLOADED),
    ),
    tool(
        "wp_upload_media_from_base64",
        "Uploads a file to the media library and returns the new media item.",
        uploaded!(
            raw("base64", "Content in base64, or as a data URL.").required().kept(),
            text("fileName", "File name.").required().kept(),
            text("mimeType", "Media type, such as image/png.").required().kept()
        ),
        &[Step::File(FileFrom::Base64 { data: "base64", name: "fileName", mime: "mimeType" }), UPLOAD],
        Shape::Picked(UPLOADED),
    ),
    tool(
        "upload_to_imgbb",
        "Uploads an image to imgbb, a public image host, and returns its URLs. Anyone with a URL can see the image.",
        &[
            raw("base64", "Image in base64, or as a data URL.").required().kept(),
            text("name", "Name of the image."),
            int("expiration", "Seconds after which the image is deleted. Default: never.")
                .least(60)
                .most(15_552_000),
            raw("apiKey", "API key for imgbb. Optional if the server has one configured.").kept(),
        ],
        &[
            Step::Make("image", image),
            post("images", "/upload")
                .encoded(Encoding::Form)
                .with(&[
                    Field { name: "key", source: FieldSource::Secret("image key"), form: Form::Plain },
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

/// The largest image that the image host accepts, in bytes of base64.
const LARGEST: usize = 44 << 20;

/// The image without the prefix of a data URL.
fn image(values: &Values) -> Result<Option<Value>, CallFailure> {
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
    Err(CallFailure::arguments(
        "the argument \"base64\" is not valid base64, is empty, or is longer than 44 MiB (about 33 MiB of image)",
    ))
}

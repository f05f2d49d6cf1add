//! Changing media.

use super::{PHASE, rows};
use crate::rest::Shape;
use crate::rest::{Encoding, FileFrom, Step, post};
use crate::tools::{Argument, Tool, flag, html, number, objects, raw, text, tool};
use crate::wordpress::arguments::{AUTHOR, COMMENTS, DATE, DATE_GMT, IMAGE, META, PINGS, SLUG, TEMPLATE, id};

const ID: Argument = id("The item's number.");
const TITLE: Argument = text("title", "The title.");
const ALTERNATIVE: Argument = text("alt_text", "What the image shows, for those who do not see it.");
const CAPTION: Argument = html("caption", "The caption.");
const ABOUT: Argument = html("description", "The description.");
const POST: Argument = crate::tools::int("post", "The number of the post that it belongs to.").least(0);
const SAVED: Shape = Shape::One(
    "id title.rendered link source_url media_type mime_type alt_text caption.rendered description.rendered post",
);

pub(super) const TOOLS: &[Tool] = rows! {
    "wp_update_media_item", "Changes what is said of an item of the media; what is left out stays.",
        [ID, TITLE, ALTERNATIVE, CAPTION, ABOUT, POST, SLUG, AUTHOR, DATE, DATE_GMT, COMMENTS, PINGS, IMAGE, TEMPLATE,
         META,
         text("status", "Who sees it: as far as its post is seen, or those alone who see what is private.")
             .among(&["publish", "private"])];
        edit "/wp/v2/media/{id}" => SAVED;
    "wp_delete_media_item", "Removes an item of the media and its files for good: there is no bin for them.", [ID];
        purge "/wp/v2/media/{id}" => Shape::Whole;
    "wp_create_edited_image", "Makes a turned or cut copy of an image.",
        [ID, text("src", "The address of the image's file (`source_url`).").required(),
         crate::tools::int("rotation", "Degrees by which it is turned clockwise.").least(1).most(359),
         number("x", "Where the part begins that is kept: per cent from the left."),
         number("y", "Where the part begins that is kept: per cent from the top."),
         number("width", "How wide that part is, in per cent."), number("height", "How high that part is, in per cent."),
         objects("modifiers", "Several changes one after the other, each {type: rotate or crop, args}.")
             .having(&["type", "args"]),
         TITLE, ALTERNATIVE, CAPTION, ABOUT, POST];
        post "/wp/v2/media/{id}/edit" => SAVED;
    "wp_update_image_sizes", "Makes the smaller sizes of an image that are missing.",
        [ID, text("action", "What is done.").or_text("create-image-subsizes").among(&["create-image-subsizes"])];
        edit "/wp/v2/media/{id}/post-process" => SAVED;
    "wp_finalize_media_item",
        "Ends the putting up of an image whose smaller sizes came one by one (WordPress 7.1 and newer, where it is on).",
        [ID, objects("sub_sizes", "What wp_upload_image_size answered for each: image_size, width, height, file, \
                                   mime_type, filesize.")];
        edit "/wp/v2/media/{id}/finalize" => SAVED;
};

/// Smaller sizes of images that are made elsewhere than at the site.
pub(super) const SIZES: &[Tool] = &[tool(
    "wp_upload_image_size",
    "Puts up a smaller size of an image (WordPress 7.1 and newer, where it is on); wp_finalize_media_item ends it.",
    &[
        ID,
        text("image_size", "The size's name, such as thumbnail or medium.").required(),
        raw("base64", "The content in base64, or as a data URL.").required().kept(),
        text("fileName", "The file's name, such as fish-300x200.jpg.").required().kept(),
        text("mimeType", "Its media type, such as image/jpeg.").required().kept(),
        flag("convert_format", "Whether the site may keep it in another format."),
    ],
    &[
        Step::File(FileFrom::Base64 { data: "base64", name: "fileName", mime: "mimeType" }),
        post("index", "/wp/v2/media/{id}/sideload").encoded(Encoding::File("file")).step(),
    ],
    Shape::Whole,
)
.phase(PHASE)];

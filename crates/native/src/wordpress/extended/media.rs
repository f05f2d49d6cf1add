//! Changing media.

use super::arguments::{AUTHOR, COMMENTS, DATE, DATE_GMT, IMAGE, META, PINGS, SLUG, TEMPLATE, id};
use super::{PHASE, rows};
use crate::rest::Shape;
use crate::rest::{Encoding, FileFrom, Step, post};
use crate::tools::{ToolArgument, ToolRow, flag, html, number, objects, raw, text, titled};

const ID: ToolArgument = id("ID of the media item.");
const TITLE: ToolArgument = text("title", "Title.");
const ALTERNATIVE: ToolArgument = text("alt_text", "Alternative text of the image.");
const CAPTION: ToolArgument = html("caption", "Caption.");
const ABOUT: ToolArgument = html("description", "Description.");
const POST: ToolArgument =
    crate::tools::int("post", "ID of the post that the media item is attached to.").least(0);
const SAVED: Shape = Shape::One(
    "id title.rendered link source_url media_type mime_type alt_text caption.rendered description.rendered post",
);

pub(super) const TOOLS: &[ToolRow] = rows! {
    "wp_update_media_item", "Update a media item", "Updates the details of a media item and returns it. Omitted fields keep their values.",
        [ID, TITLE, ALTERNATIVE, CAPTION, ABOUT, POST, SLUG, AUTHOR, DATE, DATE_GMT, COMMENTS, PINGS, IMAGE, TEMPLATE,
         META,
         text("status", "Visibility: `publish` makes the file as visible as its post, `private` limits access to users who can read private content.")
             .among(&["publish", "private"])];
        edit "/wp/v2/media/{id}" => SAVED;
    "wp_delete_media_item", "Delete a media item", "Permanently deletes a media item and its files. Media items cannot be moved to the trash.", [ID];
        purge "/wp/v2/media/{id}" => Shape::Whole;
    "wp_create_edited_image", "Create an edited image", "Creates a rotated or cropped copy of an image and returns the new media item.",
        [ID, text("src", "URL of the image file (`source_url`).").required(),
         crate::tools::int("rotation", "Clockwise rotation in degrees.").least(1).most(359),
         number("x", "Left edge of the crop, as a percentage of the image width."),
         number("y", "Top edge of the crop, as a percentage of the image height."),
         number("width", "Width of the crop, as a percentage of the image width."), number("height", "Height of the crop, as a percentage of the image height."),
         objects("modifiers", "Edits to apply in order, each {type, args}; the type is rotate or crop.")
             .having(&["type", "args"]),
         TITLE, ALTERNATIVE, CAPTION, ABOUT, POST];
        post "/wp/v2/media/{id}/edit" => SAVED;
    "wp_update_image_sizes", "Create missing image sizes", "Creates the missing smaller sizes of an image and returns the media item.",
        [ID, text("action", "Action to perform.").or_text("create-image-subsizes").among(&["create-image-subsizes"])];
        edit "/wp/v2/media/{id}/post-process" => SAVED;
    "wp_finalize_media_item", "Finalize an image upload", "Finishes an image upload after its smaller sizes were uploaded, and returns the media item. Requires WordPress 7.1 or newer with client-side media processing.",
        [ID, objects("sub_sizes", "Results of wp_upload_image_size, one for each size: {image_size, width, height, file, mime_type, filesize}.")];
        edit "/wp/v2/media/{id}/finalize" => SAVED;
};

/// Smaller sizes of images that are created outside the site.
pub(super) const SIZES: &[ToolRow] = &[titled("wp_upload_image_size", "Upload an image size", "Uploads a smaller size of an image and returns its details for wp_finalize_media_item. Requires WordPress 7.1 or newer with client-side media processing.",
    &[
        ID,
        text("image_size", "Name of the image size, such as thumbnail or medium.").required(),
        raw("base64", "Content in base64, or as a data URL.").required().kept(),
        text("fileName", "File name, such as fish-300x200.jpg.").required().kept(),
        text("mimeType", "Media type, such as image/jpeg.").required().kept(),
        flag("convert_format", "Allow the site to convert the image to another format."),
    ],
    &[
        Step::File(FileFrom::Base64 { data: "base64", name: "fileName", mime: "mimeType" }),
        post("index", "/wp/v2/media/{id}/sideload").encoded(Encoding::File("file")).step(),
    ],
    Shape::Whole,
)
.phase(PHASE)];

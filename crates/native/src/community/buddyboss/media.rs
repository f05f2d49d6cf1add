//! Photos, videos, documents, moderation. A file is uploaded first, and then referred to by its ID.

use super::{BUDDYBOSS, GROUP, PAGE, PER_PAGE, USER, id};
use crate::community::lists::{DOCUMENTS, FOLDERS, PHOTOS, REPORTS, VIDEOS};
use crate::rest::{
    Bind, Encoding, FileFrom, MissingValue, Shape, Step, delete, fixed, get, patch, post, value,
};
use crate::tools::{Form, Literal, ToolArgument, ToolRow, int, raw, text, tool};

const PRIVACY: ToolArgument =
    text("privacy", "Visibility.").among(&["public", "loggedin", "onlyme", "friends", "grouponly"]);
const FILE: ToolArgument = raw("file", "The file: base64, a data URL, or a public URL.").required().kept();
const ACTIVITY: ToolArgument = int("activity_id", "ID of the activity.");
const ALBUM: ToolArgument = int("album_id", "ID of the album.");
const FOLDER: ToolArgument = int("folder_id", "ID of the folder.");
const CONTENT: ToolArgument = text("content", "Text of the activity that accompanies the file.");

/// Binds the ID of an upload, found at this JSON Pointer in the answer.
const fn uploaded(at: &'static str) -> Bind {
    Bind {
        name: "upload",
        at,
        missing: MissingValue::CallFailure("the site does not return the ID of the uploaded file"),
    }
}

const fn row(
    name: &'static str,
    about: &'static str,
    arguments: &'static [ToolArgument],
    steps: &'static [Step],
) -> ToolRow {
    tool(name, about, arguments, steps, Shape::Whole).phase(BUDDYBOSS)
}

pub(super) const TOOLS: &[ToolRow] = &[
    row(
        "buddyboss_list_media",
        "Returns a page of photos.",
        &[
            PAGE,
            int("per_page", "Number of items per page.").or_int(10).least(1).most(10),
            USER,
            ALBUM,
            GROUP,
            PRIVACY,
        ],
        &[get("buddyboss", "/media").step()],
    )
    .shown(PHOTOS),
    row(
        "buddyboss_get_media",
        "Returns one photo.",
        &[id("ID of the photo.")],
        &[get("buddyboss", "/media/{id}").step()],
    ),
    row(
        "buddyboss_upload_media",
        "Uploads a photo and returns the result.",
        &[FILE, ACTIVITY, ALBUM, GROUP, PRIVACY, CONTENT],
        &[
            Step::File(FileFrom::Either("file")),
            post("buddyboss", "/media/upload")
                .alone()
                .encoded(Encoding::File("file"))
                .binds(&[uploaded("/upload_id")])
                .step(),
            post("buddyboss", "/media").with(&[value("upload_ids", "upload", Form::Single)]).step(),
        ],
    ),
    row(
        "buddyboss_update_media",
        "Updates a photo and returns the result. Omitted fields keep their values.",
        &[id("ID of the photo."), PRIVACY, ALBUM, CONTENT],
        &[patch("buddyboss", "/media/{id}").step()],
    ),
    row(
        "buddyboss_delete_media",
        "Deletes a photo and returns the result.",
        &[id("ID of the photo.")],
        &[delete("buddyboss", "/media/{id}").step()],
    ),
    row(
        "buddyboss_list_videos",
        "Returns a page of videos.",
        &[PAGE, PER_PAGE, USER, GROUP, ACTIVITY, PRIVACY],
        &[get("buddyboss", "/video").step()],
    )
    .shown(VIDEOS),
    row(
        "buddyboss_get_video",
        "Returns one video.",
        &[id("ID of the video.")],
        &[get("buddyboss", "/video/{id}").step()],
    ),
    row(
        "buddyboss_upload_video",
        "Uploads a video and returns the result.",
        &[FILE, ACTIVITY, GROUP, PRIVACY, CONTENT],
        &[
            Step::File(FileFrom::Either("file")),
            post("buddyboss", "/video/upload")
                .alone()
                .encoded(Encoding::File("file"))
                .binds(&[uploaded("/upload_id")])
                .step(),
            post("buddyboss", "/video").with(&[value("upload_ids", "upload", Form::Single)]).step(),
        ],
    ),
    row(
        "buddyboss_delete_video",
        "Deletes a video and returns the result.",
        &[id("ID of the video.")],
        &[delete("buddyboss", "/video/{id}").step()],
    ),
    row(
        "buddyboss_list_documents",
        "Returns a page of documents.",
        &[PAGE, PER_PAGE, USER, FOLDER, GROUP, PRIVACY],
        &[get("buddyboss", "/document").step()],
    )
    .shown(DOCUMENTS),
    row(
        "buddyboss_get_document",
        "Returns one document.",
        &[id("ID of the document.")],
        &[get("buddyboss", "/document/{id}").step()],
    ),
    row(
        "buddyboss_upload_document",
        "Uploads a document and returns the result.",
        &[FILE, FOLDER, GROUP, PRIVACY, CONTENT],
        &[
            Step::File(FileFrom::Either("file")),
            post("buddyboss", "/document/upload")
                .alone()
                .encoded(Encoding::File("file"))
                .binds(&[uploaded("/id")])
                .step(),
            post("buddyboss", "/document").with(&[value("document_ids", "upload", Form::Single)]).step(),
        ],
    ),
    row(
        "buddyboss_delete_document",
        "Deletes a document and returns the result.",
        &[id("ID of the document.")],
        &[delete("buddyboss", "/document/{id}").step()],
    ),
    row(
        "buddyboss_list_document_folders",
        "Returns a page of document folders.",
        &[USER, GROUP, PAGE, PER_PAGE],
        &[get("buddyboss", "/document/folder").step()],
    )
    .shown(FOLDERS),
    row(
        "buddyboss_list_moderation_reports",
        "Returns a page of moderation entries: blocked members and reported content.",
        &[PAGE, PER_PAGE],
        &[get("buddyboss", "/moderation").step()],
    )
    .shown(REPORTS),
    row(
        "buddyboss_report_content",
        "Reports content or a member to the moderators and returns the result.",
        &[
            int("content_id", "ID of the reported item.").required().called("item_id"),
            text("content_type", "Type of the reported item.")
                .required()
                .called("item_type")
                .among(&["activity", "user", "group", "forum", "topic", "reply"])
                .form(Form::Words(&[
                    ("group", "groups"),
                    ("topic", "forum_topic"),
                    ("reply", "forum_reply"),
                ])),
            text("reason", "Reason for the report.").or_text("No reason was given.").called("note"),
        ],
        &[post("buddyboss", "/moderation/report")
            .with(&[fixed("report_category", Literal::Text("other"))])
            .step()],
    ),
    row(
        "buddyboss_block_member",
        "Blocks a member for the caller and returns the result.",
        &[int("user_id", "ID of the member.").required().called("item_id")],
        &[post("buddyboss", "/moderation").with(&[fixed("type", Literal::Text("user"))]).step()],
    ),
    row(
        "buddyboss_unblock_member",
        "Unblocks a member for the caller and returns the result.",
        &[int("user_id", "ID of the member.").required().kept()],
        &[
            get("buddyboss", "/moderation")
                .with(&[value("item_id", "user_id", Form::Plain)])
                .binds(&[Bind {
                    name: "block",
                    at: "/0/id",
                    missing: MissingValue::CallFailure("this member is not blocked"),
                }])
                .step(),
            delete("buddyboss", "/moderation/{block}").step(),
        ],
    ),
];

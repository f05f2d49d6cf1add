//! Photos, videos, documents, moderation. A file is uploaded first, and then used by its number.

use super::{BUDDYBOSS, GROUP, PAGE, PER_PAGE, USER, id};
use crate::rest::{Bind, Encoding, FileFrom, Missing, Shape, Step, delete, fixed, get, patch, post, value};
use crate::tools::{Argument, Form, Literal, Tool, int, raw, text, tool};

const PRIVACY: Argument =
    text("privacy", "Who sees it.").among(&["public", "loggedin", "onlyme", "friends", "grouponly"]);
const FILE: Argument =
    raw("file", "The file: in base64, as a data URL, or its public URL.").required().kept();
const ACTIVITY: Argument = int("activity_id", "The number of the activity that it belongs to.");
const ALBUM: Argument = int("album_id", "The number of the album.");
const FOLDER: Argument = int("folder_id", "The number of the folder.");
const CONTENT: Argument = text("content", "What is written beside it.");

/// The number of an upload, where its answer has it.
const fn uploaded(at: &'static str) -> Bind {
    Bind {
        name: "upload",
        at,
        missing: Missing::Trouble("the site does not say under which number the file is"),
    }
}

const fn row(
    name: &'static str,
    about: &'static str,
    arguments: &'static [Argument],
    steps: &'static [Step],
) -> Tool {
    tool(name, about, arguments, steps, Shape::Whole).phase(BUDDYBOSS)
}

pub(super) const TOOLS: &[Tool] = &[
    row(
        "buddyboss_list_media",
        "Lists photos.",
        &[
            PAGE,
            int("per_page", "How many on a page.").or_int(10).least(1).most(10),
            USER,
            ALBUM,
            GROUP,
            PRIVACY,
        ],
        &[get("buddyboss", "/media").step()],
    ),
    row(
        "buddyboss_get_media",
        "One photo.",
        &[id("The photo's number.")],
        &[get("buddyboss", "/media/{id}").step()],
    ),
    row(
        "buddyboss_upload_media",
        "Uploads a photo.",
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
        "Changes a photo; what is left out stays.",
        &[id("The photo's number."), PRIVACY, ALBUM, CONTENT],
        &[patch("buddyboss", "/media/{id}").step()],
    ),
    row(
        "buddyboss_delete_media",
        "Removes a photo.",
        &[id("The photo's number.")],
        &[delete("buddyboss", "/media/{id}").step()],
    ),
    row(
        "buddyboss_list_videos",
        "Lists videos.",
        &[PAGE, PER_PAGE, USER, GROUP, ACTIVITY, PRIVACY],
        &[get("buddyboss", "/video").step()],
    ),
    row(
        "buddyboss_get_video",
        "One video.",
        &[id("The video's number.")],
        &[get("buddyboss", "/video/{id}").step()],
    ),
    row(
        "buddyboss_upload_video",
        "Uploads a video.",
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
        "Removes a video.",
        &[id("The video's number.")],
        &[delete("buddyboss", "/video/{id}").step()],
    ),
    row(
        "buddyboss_list_documents",
        "Lists documents.",
        &[PAGE, PER_PAGE, USER, FOLDER, GROUP, PRIVACY],
        &[get("buddyboss", "/document").step()],
    ),
    row(
        "buddyboss_get_document",
        "One document.",
        &[id("The document's number.")],
        &[get("buddyboss", "/document/{id}").step()],
    ),
    row(
        "buddyboss_upload_document",
        "Uploads a document.",
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
        "Removes a document.",
        &[id("The document's number.")],
        &[delete("buddyboss", "/document/{id}").step()],
    ),
    row(
        "buddyboss_list_document_folders",
        "Lists folders of documents.",
        &[USER, GROUP, PAGE, PER_PAGE],
        &[get("buddyboss", "/document/folder").step()],
    ),
    row(
        "buddyboss_list_moderation_reports",
        "Lists what was blocked or reported.",
        &[PAGE, PER_PAGE],
        &[get("buddyboss", "/moderation").step()],
    ),
    row(
        "buddyboss_report_content",
        "Reports something to the moderators.",
        &[
            int("content_id", "Its number.").required().called("item_id"),
            text("content_type", "What it is.")
                .required()
                .called("item_type")
                .among(&["activity", "user", "group", "forum", "topic", "reply"])
                .form(Form::Words(&[
                    ("group", "groups"),
                    ("topic", "forum_topic"),
                    ("reply", "forum_reply"),
                ])),
            text("reason", "What is wrong with it.").or_text("No reason was given.").called("note"),
        ],
        &[post("buddyboss", "/moderation/report")
            .with(&[fixed("report_category", Literal::Text("other"))])
            .step()],
    ),
    row(
        "buddyboss_block_member",
        "Blocks a member for the caller.",
        &[int("user_id", "The member's number.").required().called("item_id")],
        &[post("buddyboss", "/moderation").with(&[fixed("type", Literal::Text("user"))]).step()],
    ),
    row(
        "buddyboss_unblock_member",
        "Ends the blocking of a member.",
        &[int("user_id", "The member's number.").required().kept()],
        &[
            get("buddyboss", "/moderation")
                .with(&[value("item_id", "user_id", Form::Plain)])
                .binds(&[Bind {
                    name: "block",
                    at: "/0/id",
                    missing: Missing::Trouble("this member is not blocked"),
                }])
                .step(),
            delete("buddyboss", "/moderation/{block}").step(),
        ],
    ),
];

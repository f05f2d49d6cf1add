//! Albums, posters of videos, folders of documents.

use super::{PAGE, PER_PAGE, PICTURE, SEARCH, rows, upload};
use crate::rest::{Encoding, FileFrom, Step, post};
use crate::tools::{Tool, flag, html, int, integers, text};

pub(super) const TOOLS: &[Tool] = rows! {
    "buddyboss_get_media_details", "How lists of photos can be narrowed down.", [];
        get "/media/details";
    "buddyboss_delete_media_items", "Removes several photos.",
        [integers("media_ids", "The numbers of the photos.").required()];
        delete "/media";
    "buddyboss_delete_media_upload", "Removes an upload that nothing uses yet.",
        [int("id", "Its number.").required()];
        delete "/media/upload";
    "buddyboss_update_media_album_of", "Moves photos into an album.",
        [integers("media_ids", "The numbers of the photos.").required(),
         int("group_id", "The number of the group."), int("album_id", "The number of the album.").required()];
        edit "/media/move";
    "buddyboss_list_media_albums", "Lists albums.",
        [PAGE, PER_PAGE, SEARCH,
         text("order", "Rising or falling.").among(&["asc", "desc"]),
         text("orderby", "What the list is ordered by.").among(&["date_created", "menu_order"]),
         int("max", "How many at most."), int("user_id", "The number of the member."),
         int("group_id", "The number of the group."),
         text("privacy", "Who sees it.").among(&["public", "loggedin", "friends", "onlyme", "grouponly"]),
         integers("include", "Only those with these numbers."),
         integers("exclude", "Those with these numbers are left out.")];
        get "/media/albums";
    "buddyboss_create_media_album", "Makes an album.",
        [text("title", "The title.").required(),
         text("privacy", "Who sees it.").among(&["public", "loggedin", "friends", "onlyme", "grouponly"]),
         int("group_id", "The number of the group."), int("user_id", "The number of the member."),
         integers("upload_ids", "The numbers of uploads that are put into it.")];
        post "/media/albums";
    "buddyboss_get_media_album", "One album with its photos.",
        [int("id", "Its number.").required(), int("media_page", "Which page of its photos."),
         int("media_per_page", "How many of its photos on a page.")];
        get "/media/albums/{id}";
    "buddyboss_update_media_album", "Changes an album; what is left out stays.",
        [int("id", "Its number.").required(), text("title", "The title."),
         text("privacy", "Who sees it.").among(&["public", "loggedin", "friends", "onlyme", "grouponly"])];
        put "/media/albums/{id}";
    "buddyboss_delete_media_album", "Removes an album.", [int("id", "Its number.").required()];
        delete "/media/albums/{id}";
    "buddyboss_get_video_details", "How lists of videos can be narrowed down.", [];
        get "/video/details";
    "buddyboss_delete_video_upload", "Removes an upload that nothing uses yet.",
        [int("id", "Its number.").required()];
        delete "/video/upload";
    "buddyboss_update_video", "Changes a video; what is left out stays.",
        [int("id", "Its number.").required(), int("group_id", "The number of the group."),
         int("album_id", "The number of the album."),
         text("privacy", "Who sees it.").among(&["public", "loggedin", "onlyme", "friends", "grouponly"])];
        put "/video/{id}";
    "buddyboss_list_video_posters", "Lists the pictures that can stand for a video.",
        [int("id", "Its number.").required()];
        get "/video/{id}/poster";
    "buddyboss_update_video_poster", "Chooses the picture that stands for a video.",
        [int("id", "Its number.").required(), int("attachment_id", "The picture's number."),
         text("file", "The file.")];
        edit "/video/{id}/poster";
    "buddyboss_delete_video_poster", "Removes a picture that can stand for a video.",
        [int("id", "Its number.").required(), int("attachment_id", "The picture's number.").required()];
        delete "/video/{id}/poster";
    "buddyboss_get_document_details", "How lists of documents can be narrowed down.", [];
        get "/document/details";
    "buddyboss_update_document", "Changes a document; what is left out stays.",
        [int("id", "Its number.").required(), html("content", "What it says."),
         int("group_id", "The number of the group."), int("folder_id", "The number of the folder."),
         text("privacy", "Who sees it.").among(&["public", "loggedin", "friends", "onlyme", "grouponly"])];
        put "/document/{id}";
    "buddyboss_delete_document_upload", "Removes an upload that nothing uses yet.",
        [int("id", "Its number.").required()];
        delete "/document/upload";
    "buddyboss_create_document_folder", "Makes a folder.",
        [text("title", "The title.").required(), int("parent", "The number of the one above it."),
         int("group_id", "The number of the group."),
         text("privacy", "Who sees it.").among(&["public", "loggedin", "friends", "onlyme", "grouponly"])];
        post "/document/folder";
    "buddyboss_get_document_folder", "One folder with its documents.", [int("id", "Its number.").required()];
        get "/document/folder/{id}";
    "buddyboss_update_document_folder", "Changes a folder; what is left out stays.",
        [int("id", "Its number.").required(), text("title", "The title."),
         int("parent", "The number of the one above it."), int("group_id", "The number of the group."),
         text("privacy", "Who sees it.").among(&["public", "loggedin", "friends", "onlyme", "grouponly"])];
        put "/document/folder/{id}";
    "buddyboss_delete_document_folder", "Removes a folder.", [int("id", "Its number.").required()];
        delete "/document/folder/{id}";
    "buddyboss_get_document_folder_tree", "The folders, one within the other.",
        [int("group_id", "The number of the group."),
         flag("hierarchical", "Whether folders stand one within the other.")];
        get "/document/folder/tree";
};

pub(super) const PICTURES: &[Tool] = &[upload(
    "buddyboss_upload_video_poster",
    "Uploads a picture that can stand for a video.",
    &[int("id", "Its number.").required(), PICTURE],
    &[
        Step::File(FileFrom::Either("file")),
        post("buddyboss", "/video/{id}/upload_poster").encoded(Encoding::File("file")).step(),
    ],
)];

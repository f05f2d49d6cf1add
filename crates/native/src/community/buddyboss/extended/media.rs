//! Albums, posters of videos, folders of documents.

use super::{PAGE, PER_PAGE, PICTURE, SEARCH, rows, upload};
use crate::community::lists::{ALBUMS, POSTERS};
use crate::rest::{Encoding, FileFrom, Step, post};
use crate::tools::{ToolRow, flag, html, int, integers, text};

pub(super) const TOOLS: &[ToolRow] = rows! {
    "buddyboss_get_media_details", "Get photo list filters", "Returns the tabs and filters available for lists of photos.", [];
        get "/media/details";
    "buddyboss_delete_media_items", "Delete several photos", "Deletes several photos and returns the result.",
        [integers("media_ids", "IDs of the photos.").required()];
        delete "/media";
    "buddyboss_delete_media_upload", "Delete an unused photo upload", "Deletes an uploaded photo that is not used yet, and returns the result.",
        [int("id", "ID of the upload.").required()];
        delete "/media/upload";
    "buddyboss_update_media_album_of", "Move photos to an album", "Moves photos to an album and returns the result.",
        [integers("media_ids", "IDs of the photos.").required(),
         int("group_id", "ID of the group."), int("album_id", "ID of the album.").required()];
        edit "/media/move";
    "buddyboss_list_media_albums", "List albums", "Returns a page of photo and video albums.",
        [PAGE, PER_PAGE, SEARCH,
         text("order", "Sort order.").among(&["asc", "desc"]),
         text("orderby", "Field to sort by.").among(&["date_created", "menu_order"]),
         int("max", "Maximum number of items to return."), int("user_id", "ID of the member."),
         int("group_id", "ID of the group."),
         text("privacy", "Visibility.").among(&["public", "loggedin", "friends", "onlyme", "grouponly"]),
         integers("include", "Return only items with these IDs."),
         integers("exclude", "Exclude items with these IDs.")];
        get "/media/albums" => ALBUMS;
    "buddyboss_create_media_album", "Create an album", "Creates an album and returns it.",
        [text("title", "Title.").required(),
         text("privacy", "Visibility.").among(&["public", "loggedin", "friends", "onlyme", "grouponly"]),
         int("group_id", "ID of the group."), int("user_id", "ID of the member."),
         integers("upload_ids", "IDs of uploads to add to the album.")];
        post "/media/albums";
    "buddyboss_get_media_album", "Get an album", "Returns one album with a page of its photos and videos.",
        [int("id", "ID of the album.").required(), int("media_page", "Page of photos to return."),
         int("media_per_page", "Number of photos per page.")];
        get "/media/albums/{id}";
    "buddyboss_update_media_album", "Update an album", "Updates an album and returns it. Omitted fields keep their values.",
        [int("id", "ID of the album.").required(), text("title", "Title."),
         text("privacy", "Visibility.").among(&["public", "loggedin", "friends", "onlyme", "grouponly"])];
        put "/media/albums/{id}";
    "buddyboss_delete_media_album", "Delete an album", "Deletes an album and returns the result.", [int("id", "ID of the album.").required()];
        delete "/media/albums/{id}";
    "buddyboss_get_video_details", "Get video list filters", "Returns the tabs and filters available for lists of videos.", [];
        get "/video/details";
    "buddyboss_delete_video_upload", "Delete an unused video upload", "Deletes an uploaded video that is not used yet, and returns the result.",
        [int("id", "ID of the upload.").required()];
        delete "/video/upload";
    "buddyboss_update_video", "Update a video", "Updates a video and returns it. Omitted fields keep their values.",
        [int("id", "ID of the video.").required(), int("group_id", "ID of the group."),
         int("album_id", "ID of the album."),
         text("privacy", "Visibility.").among(&["public", "loggedin", "onlyme", "friends", "grouponly"])];
        put "/video/{id}";
    "buddyboss_list_video_posters", "List thumbnails of a video", "Returns the thumbnails available for a video.",
        [int("id", "ID of the video.").required()];
        get "/video/{id}/poster" => POSTERS;
    "buddyboss_update_video_poster", "Set the thumbnail of a video", "Sets the thumbnail of a video and returns the result.",
        [int("id", "ID of the video.").required(), int("attachment_id", "ID of the thumbnail."),
         text("file", "File name of the thumbnail.")];
        edit "/video/{id}/poster";
    "buddyboss_delete_video_poster", "Delete a thumbnail of a video", "Deletes one of a video's thumbnails and returns the result.",
        [int("id", "ID of the video.").required(), int("attachment_id", "ID of the thumbnail.").required()];
        delete "/video/{id}/poster";
    "buddyboss_get_document_details", "Get document list filters", "Returns the tabs and filters available for lists of documents.", [];
        get "/document/details";
    "buddyboss_update_document", "Update a document", "Updates a document and returns it. Omitted fields keep their values.",
        [int("id", "ID of the document.").required(), html("content", "Content."),
         int("group_id", "ID of the group."), int("folder_id", "ID of the folder."),
         text("privacy", "Visibility.").among(&["public", "loggedin", "friends", "onlyme", "grouponly"])];
        put "/document/{id}";
    "buddyboss_delete_document_upload", "Delete an unused document upload", "Deletes an uploaded document that is not used yet, and returns the result.",
        [int("id", "ID of the upload.").required()];
        delete "/document/upload";
    "buddyboss_create_document_folder", "Create a document folder", "Creates a folder for documents and returns it.",
        [text("title", "Title.").required(), int("parent", "ID of the parent folder."),
         int("group_id", "ID of the group."),
         text("privacy", "Visibility.").among(&["public", "loggedin", "friends", "onlyme", "grouponly"])];
        post "/document/folder";
    "buddyboss_get_document_folder", "Get a document folder", "Returns one folder with its documents.", [int("id", "ID of the folder.").required()];
        get "/document/folder/{id}";
    "buddyboss_update_document_folder", "Update a document folder", "Updates a document folder and returns it. Omitted fields keep their values.",
        [int("id", "ID of the folder.").required(), text("title", "Title."),
         int("parent", "ID of the parent folder."), int("group_id", "ID of the group."),
         text("privacy", "Visibility.").among(&["public", "loggedin", "friends", "onlyme", "grouponly"])];
        put "/document/folder/{id}";
    "buddyboss_delete_document_folder", "Delete a document folder", "Deletes a document folder and returns the result.", [int("id", "ID of the folder.").required()];
        delete "/document/folder/{id}";
    "buddyboss_get_document_folder_tree", "Get the document folder tree", "Returns the tree of document folders.",
        [int("group_id", "ID of the group."),
         flag("hierarchical", "Return the folders as a nested tree.")];
        get "/document/folder/tree";
};

pub(super) const PICTURES: &[ToolRow] = &[upload(
    "buddyboss_upload_video_poster",
    "Upload a thumbnail for a video",
    "Uploads an image as a thumbnail for a video and returns its details.",
    &[int("id", "ID of the video.").required(), PICTURE],
    &[
        Step::File(FileFrom::Either("file")),
        post("buddyboss", "/video/{id}/upload_poster").encoded(Encoding::File("file")).step(),
    ],
)];

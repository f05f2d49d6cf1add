//! Titles of the tools that presets serve. A preset fixes the form of its tools, so these titles are shown only without a preset.

use crate::tools::Wording;

/// A tool's title.
const fn title(name: &'static str, title: &'static str) -> Wording {
    Wording { name, title, about: "" }
}

pub(super) const TITLES: &[Wording] = &[
    Wording {
        name: "wp_get_posts",
        title: "List posts",
        about: "Returns a page of posts with their titles, links, status and excerpts.",
    },
    title("wp_get_post", "Get a post"),
    Wording {
        name: "wp_create_post",
        title: "Create a post",
        about: "Creates a post and returns its summary. The post is a draft unless you set `status`.",
    },
    title("wp_update_post", "Update a post"),
    title("wp_delete_post", "Delete a post"),
    title("wp_get_pages", "List pages"),
    title("wp_create_page", "Create a page"),
    title("wp_update_page", "Update a page"),
    title("wp_delete_page", "Delete a page"),
    title("wp_get_media", "List media"),
    title("wp_get_media_item", "Get a media item"),
    title("wp_upload_media_from_url", "Upload a file from a URL"),
    title("wp_upload_media_from_base64", "Upload a file"),
    title("upload_to_imgbb", "Upload an image to imgbb"),
    title("wp_get_categories", "List categories"),
    title("wp_get_category", "Get a category"),
    title("wp_create_category", "Create a category"),
    title("wp_delete_category", "Delete a category"),
    title("wp_get_tags", "List tags"),
    title("wp_create_tag", "Create a tag"),
    Wording {
        name: "wp_get_comments",
        title: "List comments",
        about: "Returns a page of comments with the beginning of their content.",
    },
    title("wp_approve_comment", "Approve a comment"),
    title("wp_spam_comment", "Mark a comment as spam"),
    title("wp_delete_comment", "Delete a comment"),
];

//! PHP's answers in a regular form: an empty list in place of an empty object becomes an object, and members that only
//! contain links are removed.

use serde_json::{Map, Value};

/// Members that are objects wherever WordPress, BuddyBoss and BuddyPress have them: PHP writes an empty one as `[]`.
const OBJECTS: &[&str] = &[
    "action_states",
    "activity_data",
    "annotations",
    "anonymous_author_data",
    "attachment_data",
    "attributes",
    "author_avatar_urls",
    "avatar_urls",
    "badge",
    "block_hooks",
    "capabilities",
    "current_user_permissions",
    "default_layouts",
    "default_view",
    "extra_capabilities",
    "features",
    "font_face_settings",
    "font_family_settings",
    "image_quality",
    "input_schema",
    "instance",
    "label_colors",
    "labels",
    "latest_update",
    "media_details",
    "meta",
    "output_schema",
    "persisted_preferences",
    "provides_context",
    "selectors",
    "settings",
    "sizes",
    "supports",
    "theme_supports",
    "user_avatar",
    "user_permission",
    "user_permissions",
    "visibility",
];

/// Members that contain links to further requests, or repeat other members.
const LINKS: &[&str] = &["_links", "curies", "guid"];

/// The answer, with an object in place of each empty list that should be an object.
pub(super) fn normalized(value: Value) -> Value {
    walked(value, &|name| OBJECTS.contains(&name), &|_| false)
}

/// The normalized answer, without members that only contain links.
pub(super) fn lean(value: Value) -> Value {
    walked(value, &|name| OBJECTS.contains(&name), &|name| LINKS.contains(&name))
}

/// Converts an empty list to an empty object, because PHP writes empty objects as lists.
pub(super) fn as_object(value: Value) -> Value {
    match value {
        Value::Array(list) if list.is_empty() => Value::Object(Map::new()),
        other => other,
    }
}

fn walked(value: Value, is_object: &dyn Fn(&str) -> bool, is_dropped: &dyn Fn(&str) -> bool) -> Value {
    match value {
        Value::Array(list) => list.into_iter().map(|item| walked(item, is_object, is_dropped)).collect(),
        Value::Object(members) => {
            let kept = members.into_iter().filter(|(name, _)| !is_dropped(name)).map(|(name, value)| {
                let value = walked(value, is_object, is_dropped);
                let value = if is_object(&name) { as_object(value) } else { value };
                (name, value)
            });
            Value::Object(kept.collect())
        }
        other => other,
    }
}

//! What profiles consist of.

use super::{PAGE, PER_PAGE, SEARCH, rows};
use crate::tools::{Tool, flag, int, integers, list, objects, text};

pub(super) const TOOLS: &[Tool] = rows! {
    "buddyboss_create_xprofile_field", "Adds a field to profiles.",
        [int("group_id", "The number of the group.").required(),
         int("parent_id", "The number of the one that it belongs to or answers."),
         text("type", "Of which kind.")
             .among(&["biography", "checkbox", "datebox", "multiselectbox", "number", "url", "radio", "selectbox",
                 "textarea", "textbox", "telephone", "gender", "socialnetworks", "option"]).required(),
         text("name", "The name.").required(), text("alternate_name", "Another name, which is shown instead."),
         text("description", "The description."), flag("is_required", "Whether it must be filled in."),
         flag("can_delete", "Whether it may be removed."), int("field_order", "Its place among the fields."),
         int("option_order", "Its place among the options."),
         text("order_by", "What the list is ordered by.").among(&["asc", "desc"]),
         flag("is_default_option", "Whether it is the usual option."),
         text("default_visibility", "Who usually sees it.").among(&["public", "loggedin", "friends", "adminsonly"]),
         text("allow_custom_visibility", "Whether members may choose who sees it.").among(&["allowed", "disabled"]),
         text("do_autolink", "Whether what is filled in leads to others with the same.").among(&["on", "off"])];
        post "/xprofile/fields";
    "buddyboss_update_xprofile_field", "Changes a field of profiles; what is left out stays.",
        [int("id", "Its number.").required(), int("group_id", "The number of the group."),
         int("parent_id", "The number of the one that it belongs to or answers."),
         text("type", "Of which kind.")
             .among(&["biography", "checkbox", "datebox", "multiselectbox", "number", "url", "radio", "selectbox",
                 "textarea", "textbox", "telephone", "gender", "socialnetworks", "option"]),
         text("name", "The name."), text("alternate_name", "Another name, which is shown instead."),
         text("description", "The description."), flag("is_required", "Whether it must be filled in."),
         flag("can_delete", "Whether it may be removed."), int("field_order", "Its place among the fields."),
         int("option_order", "Its place among the options."),
         text("order_by", "What the list is ordered by.").among(&["asc", "desc"]),
         flag("is_default_option", "Whether it is the usual option."),
         text("default_visibility", "Who usually sees it.").among(&["public", "loggedin", "friends", "adminsonly"]),
         text("allow_custom_visibility", "Whether members may choose who sees it.").among(&["allowed", "disabled"]),
         text("do_autolink", "Whether what is filled in leads to others with the same.").among(&["on", "off"])];
        put "/xprofile/fields/{id}";
    "buddyboss_delete_xprofile_field", "Removes a field of profiles.",
        [int("id", "Its number.").required(),
         flag("delete_data", "Whether what members have filled in is removed, too.")];
        delete "/xprofile/fields/{id}";
    "buddyboss_create_xprofile_group", "Adds a part to profiles.",
        [text("name", "The name.").required(), text("description", "The description."),
         flag("can_delete", "Whether it may be removed."),
         flag("repeater_enabled", "Whether it can be filled in several times.")];
        post "/xprofile/groups";
    "buddyboss_get_xprofile_group", "One part of profiles.", [int("id", "Its number.").required()];
        get "/xprofile/groups/{id}";
    "buddyboss_update_xprofile_group", "Changes a part of profiles; what is left out stays.",
        [int("id", "Its number.").required(), text("name", "The name."), text("description", "The description."),
         int("group_order", "Its place among the parts."), flag("can_delete", "Whether it may be removed."),
         flag("repeater_enabled", "Whether it can be filled in several times.")];
        put "/xprofile/groups/{id}";
    "buddyboss_delete_xprofile_group", "Removes a part of profiles with its fields.",
        [int("id", "Its number.").required()];
        delete "/xprofile/groups/{id}";
    "buddyboss_delete_xprofile_data", "Removes what a member has filled in.",
        [int("field_id", "The field's number.").required(), int("user_id", "The number of the member.").required()];
        delete "/xprofile/{field_id}/data/{user_id}";
    "buddyboss_update_xprofile", "Fills in several fields of the caller's profile.",
        [PAGE, PER_PAGE, SEARCH,
         objects("fields", "Each {field_id, group_id, value, visibility_level}.")
             .having(&["field_id", "group_id", "type", "value", "visibility_level"]).required(),
         int("profile_group_id", "Only fields of the part with this number."),
         flag("hide_empty_groups", "Whether parts without fields are left out."),
         list("member_type", "For members of this type."),
         flag("hide_empty_fields", "Whether fields without a value are left out."),
         flag("fetch_fields", "Whether fields come along."),
         flag("fetch_field_data", "Whether what members have filled in comes along."),
         flag("fetch_visibility_level", "Whether it is said who sees what."),
         integers("exclude_groups", "Parts with these numbers are left out."),
         list("exclude_fields", "Fields with these numbers are left out.")];
        put "/xprofile/update";
    "buddyboss_create_xprofile_repetition", "Adds one more set of fields to a part that repeats.",
        [int("id", "Its number.").required(), flag("fetch_fields", "Whether fields come along."),
         flag("fetch_field_data", "Whether what members have filled in comes along."),
         flag("fetch_visibility_level", "Whether it is said who sees what.")];
        post "/xprofile/repeater/{id}";
    "buddyboss_delete_xprofile_repetition", "Removes sets of fields of a part that repeats.",
        [int("id", "Its number.").required(), flag("fetch_fields", "Whether fields come along."),
         flag("fetch_field_data", "Whether what members have filled in comes along."),
         flag("fetch_visibility_level", "Whether it is said who sees what."),
         integers("fields", "The numbers of the fields, with commas.").required()];
        delete "/xprofile/repeater/{id}";
    "buddyboss_update_xprofile_repetition_order", "Orders the sets of fields of a part that repeats.",
        [int("id", "Its number.").required(), flag("fetch_fields", "Whether fields come along."),
         flag("fetch_field_data", "Whether what members have filled in comes along."),
         flag("fetch_visibility_level", "Whether it is said who sees what."),
         objects("fields", "The fields in their new order, as the part lists them.").required()];
        put "/xprofile/repeater/order/{id}";
    "buddyboss_get_xprofile_search_form", "The form by which profiles are searched.",
        [text("form_id", "The form's number.")];
        get "/xprofile/search";
    "buddyboss_list_xprofile_field_types", "Lists the types that fields of profiles may have.", [];
        get "/xprofile/types";
};

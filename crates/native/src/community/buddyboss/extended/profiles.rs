//! Tools for the fields that profiles consist of.

use super::{PAGE, PER_PAGE, SEARCH, rows};
use crate::community::lists::FIELD_TYPES;
use crate::tools::{ToolRow, flag, int, integers, list, objects, text};

pub(super) const TOOLS: &[ToolRow] = rows! {
    "buddyboss_create_xprofile_field", "Create a profile field", "Creates a profile field in a field group and returns the field.",
        [int("group_id", "ID of the profile field group.").required(),
         int("parent_id", "ID of the parent field, if this field is one of its options."),
         text("type", "Type.")
             .among(&["biography", "checkbox", "datebox", "multiselectbox", "number", "url", "radio", "selectbox",
                 "textarea", "textbox", "telephone", "gender", "socialnetworks", "option"]).required(),
         text("name", "Name.").required(), text("alternate_name", "Alternate name, displayed instead of the name."),
         text("description", "Description."), flag("is_required", "Require a value."),
         flag("can_delete", "Allow deletion."), int("field_order", "Position among the fields of the group."),
         int("option_order", "Position among the options of the field."),
         text("order_by", "Sort order of the field's options.").among(&["asc", "desc"]),
         flag("is_default_option", "Make this option the default."),
         text("default_visibility", "Default visibility of members' values.").among(&["public", "loggedin", "friends", "adminsonly"]),
         text("allow_custom_visibility", "Allow members to change the visibility of their value.").among(&["allowed", "disabled"]),
         text("do_autolink", "Link values to a search for members with the same value.").among(&["on", "off"])];
        post "/xprofile/fields";
    "buddyboss_update_xprofile_field", "Update a profile field", "Updates a profile field and returns it. Omitted fields keep their values.",
        [int("id", "ID of the profile field.").required(), int("group_id", "ID of the profile field group."),
         int("parent_id", "ID of the parent field, if this field is one of its options."),
         text("type", "Type.")
             .among(&["biography", "checkbox", "datebox", "multiselectbox", "number", "url", "radio", "selectbox",
                 "textarea", "textbox", "telephone", "gender", "socialnetworks", "option"]),
         text("name", "Name."), text("alternate_name", "Alternate name, displayed instead of the name."),
         text("description", "Description."), flag("is_required", "Require a value."),
         flag("can_delete", "Allow deletion."), int("field_order", "Position among the fields of the group."),
         int("option_order", "Position among the options of the field."),
         text("order_by", "Sort order of the field's options.").among(&["asc", "desc"]),
         flag("is_default_option", "Make this option the default."),
         text("default_visibility", "Default visibility of members' values.").among(&["public", "loggedin", "friends", "adminsonly"]),
         text("allow_custom_visibility", "Allow members to change the visibility of their value.").among(&["allowed", "disabled"]),
         text("do_autolink", "Link values to a search for members with the same value.").among(&["on", "off"])];
        put "/xprofile/fields/{id}";
    "buddyboss_delete_xprofile_field", "Delete a profile field", "Deletes a profile field and returns the result.",
        [int("id", "ID of the profile field.").required(),
         flag("delete_data", "Also delete members' values of the field.")];
        delete "/xprofile/fields/{id}";
    "buddyboss_create_xprofile_group", "Create a profile field group", "Creates a group of profile fields and returns it.",
        [text("name", "Name.").required(), text("description", "Description."),
         flag("can_delete", "Allow deletion."),
         flag("repeater_enabled", "Allow members to fill in the field group several times.")];
        post "/xprofile/groups";
    "buddyboss_get_xprofile_group", "Get a profile field group", "Returns one group of profile fields.", [int("id", "ID of the field group.").required()];
        get "/xprofile/groups/{id}";
    "buddyboss_update_xprofile_group", "Update a profile field group", "Updates a group of profile fields and returns it. Omitted fields keep their values.",
        [int("id", "ID of the field group.").required(), text("name", "Name."), text("description", "Description."),
         int("group_order", "Position among the field groups."), flag("can_delete", "Allow deletion."),
         flag("repeater_enabled", "Allow members to fill in the field group several times.")];
        put "/xprofile/groups/{id}";
    "buddyboss_delete_xprofile_group", "Delete a profile field group", "Deletes a group of profile fields and all its fields, and returns the result.",
        [int("id", "ID of the field group.").required()];
        delete "/xprofile/groups/{id}";
    "buddyboss_delete_xprofile_data", "Delete a profile value", "Deletes a member's value for one profile field and returns the result.",
        [int("field_id", "ID of the profile field.").required(), int("user_id", "ID of the member.").required()];
        delete "/xprofile/{field_id}/data/{user_id}";
    "buddyboss_update_xprofile", "Update the current member's profile", "Sets several fields of the caller's profile and returns the profile.",
        [PAGE, PER_PAGE, SEARCH,
         objects("fields", "Fields to set, each {field_id, group_id, value, visibility_level}.")
             .having(&["field_id", "group_id", "type", "value", "visibility_level"]).required(),
         int("profile_group_id", "Return only fields of the field group with this ID."),
         flag("hide_empty_groups", "Exclude field groups without fields."),
         list("member_type", "Return only fields that apply to members with these profile types."),
         flag("hide_empty_fields", "Exclude fields without a value."),
         flag("fetch_fields", "Include the fields in the response."),
         flag("fetch_field_data", "Include profile field data in the response."),
         flag("fetch_visibility_level", "Include the visibility levels in the response."),
         integers("exclude_groups", "Exclude field groups with these IDs."),
         list("exclude_fields", "Exclude fields with these IDs.")];
        put "/xprofile/update";
    "buddyboss_create_xprofile_repetition", "Add a repeater field set", "Adds a set of fields to a repeating profile field group and returns the group.",
        [int("id", "ID of the field group.").required(), flag("fetch_fields", "Include the fields in the response."),
         flag("fetch_field_data", "Include profile field data in the response."),
         flag("fetch_visibility_level", "Include the visibility levels in the response.")];
        post "/xprofile/repeater/{id}";
    "buddyboss_delete_xprofile_repetition", "Delete repeater field sets", "Deletes sets of fields from a repeating profile field group and returns the group.",
        [int("id", "ID of the field group.").required(), flag("fetch_fields", "Include the fields in the response."),
         flag("fetch_field_data", "Include profile field data in the response."),
         flag("fetch_visibility_level", "Include the visibility levels in the response."),
         integers("fields", "IDs of the fields to delete.").required()];
        delete "/xprofile/repeater/{id}";
    "buddyboss_update_xprofile_repetition_order", "Reorder repeater field sets", "Changes the order of the field sets of a repeating profile field group and returns the group.",
        [int("id", "ID of the field group.").required(), flag("fetch_fields", "Include the fields in the response."),
         flag("fetch_field_data", "Include profile field data in the response."),
         flag("fetch_visibility_level", "Include the visibility levels in the response."),
         objects("fields", "Fields in their new order, in the same format as in a returned field group.").required()];
        put "/xprofile/repeater/order/{id}";
    "buddyboss_get_xprofile_search_form", "Get the profile search form", "Returns the fields of the form for searching profiles.",
        [text("form_id", "ID of the form.")];
        get "/xprofile/search";
    "buddyboss_list_xprofile_field_types", "List profile types", "Returns the profile types that members can have.", [];
        get "/xprofile/types" => FIELD_TYPES;
};

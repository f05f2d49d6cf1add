//! The members of a shop's answers that are not shown: secrets, and personal data of customers unless the settings ask for it.
//! Members are removed wherever they are in an answer, whole or in part. This module must not know any tool.

use serde_json::{Map, Value};

/// The personal members of orders, customers and reviews that are left out. Of an address, the country and the state remain.
pub const REDACTED: &[&str] = &[
    "first_name",
    "last_name",
    "company",
    "address_1",
    "address_2",
    "city",
    "postcode",
    "email",
    "phone",
    "username",
    "avatar_url",
    "customer_ip_address",
    "customer_user_agent",
    "customer_note",
    "transaction_id",
    "reviewer",
    "reviewer_email",
    "reviewer_avatar_urls",
    "email_restrictions",
    "order_key",
    "payment_url",
];

/// Members that contain free text by people, or fields of plugins with any content.
const OF_PEOPLE: &[&str] = &["meta_data"];
/// The member that lists the names of the removed members.
pub(super) const MISSING: &str = "redacted";

/// Removes secrets: settings of payment methods, and the values of settings that are passwords.
pub(super) fn without_secrets(answer: &mut Value) {
    match answer {
        Value::Array(list) => list.iter_mut().for_each(without_secrets),
        Value::Object(members) => {
            if members.contains_key("method_supports") {
                members.remove("settings");
            }
            if members.get("type").is_some_and(|kind| kind == "password") {
                members.remove("value");
            }
            members.values_mut().for_each(without_secrets);
        }
        _ => {}
    }
}

/// Removes secrets and personal data. Each object from which a member is removed gets a list of the removed names.
pub(super) fn without_personal_data(answer: &mut Value) {
    without_secrets(answer);
    walk(answer, false);
}

/// Removes personal data from a value; `is_inside` is true if the value is a part of an object about a customer.
fn walk(value: &mut Value, is_inside: bool) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(|value| walk(value, is_inside)),
        Value::Object(members) => {
            // The note of an order is not about its customer; its member `customer_note` is a flag.
            let is_note = members.contains_key("note") && members.contains_key("customer_note");
            let is_about = is_customers(members);
            if is_about {
                remove(members, |name| (REDACTED.contains(&name) && !is_note) || OF_PEOPLE.contains(&name));
            } else if is_inside {
                remove(members, |name| OF_PEOPLE.contains(&name));
            }
            let parts = members.iter_mut().filter(|(name, _)| *name != MISSING);
            parts.for_each(|(_, value)| walk(value, is_about || is_inside));
        }
        _ => {}
    }
}

/// Returns true for an object about a customer: an address, an account, an order, a review or a coupon. Products, taxes and
/// the like have some of the same members, such as `city` and `meta_data`, and are shown.
fn is_customers(members: &Map<String, Value>) -> bool {
    let has = |name: &str| members.contains_key(name);
    let is_address = has("address_1") || has("postcode") && has("first_name");
    let is_order = has("line_items") || has("customer_ip_address");
    is_address
        || is_order
        || has("email")
        || has("reviewer")
        || has("reviewer_email")
        || has("email_restrictions")
}

fn remove(members: &mut Map<String, Value>, is_personal: impl Fn(&str) -> bool) {
    let is_empty =
        |value: &Value| value.is_null() || value == "" || value.as_array().is_some_and(Vec::is_empty);
    let mut gone = Vec::new();
    members.retain(|name, value| {
        let stays = !is_personal(name);
        if !stays && !is_empty(value) {
            gone.push(Value::from(name.as_str()));
        }
        stays
    });
    if !gone.is_empty() {
        members.insert(MISSING.to_owned(), Value::Array(gone));
    }
}

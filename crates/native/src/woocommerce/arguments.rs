//! Arguments that many rows have.

use crate::tools::{ToolArgument, flag, int, integers, list, object, objects, text};

pub(super) const PAGE: ToolArgument = int("page", "Page number.").or_int(1).least(1);
pub(super) const PER_PAGE: ToolArgument =
    int("per_page", "Number of entries per page, at most 100.").or_int(10).least(1).most(100);
pub(super) const SEARCH: ToolArgument = text("search", "Return only entries that contain this text.");
pub(super) const AFTER: ToolArgument =
    text("after", "Return only entries created after this time (ISO 8601).");
pub(super) const BEFORE: ToolArgument =
    text("before", "Return only entries created before this time (ISO 8601).");
pub(super) const INCLUDE: ToolArgument = integers("include", "Return only the entries with these IDs.");
pub(super) const EXCLUDE: ToolArgument = integers("exclude", "Exclude the entries with these IDs.");
pub(super) const ORDER: ToolArgument = text("order", "Sort order.").among(&["asc", "desc"]);
pub(super) const PRODUCT: ToolArgument = int("product_id", "ID of the product.").required().least(1);
pub(super) const OF_ORDER: ToolArgument = int("order_id", "ID of the order.").required().least(1);
pub(super) const META: ToolArgument =
    objects("meta_data", "Custom fields (metadata), each with `key` and `value`.")
        .having(&["id", "key", "value"]);
pub(super) const FOR_GOOD: ToolArgument =
    flag("force", "Delete permanently instead of moving to the trash.").or_flag(false);
pub(super) const STATUS_OF_STOCK: ToolArgument =
    text("stock_status", "Stock status, if the stock is not tracked.").among(&[
        "instock",
        "outofstock",
        "onbackorder",
    ]);
pub(super) const COUNTED: ToolArgument = flag("manage_stock", "Track the stock.");
pub(super) const QUANTITY: ToolArgument =
    int("stock_quantity", "Number of items in stock; requires `manage_stock`.");
/// The stock of a product. A change to one of these members can change the others.
pub(super) const STOCK_MEMBERS: &[ToolArgument] = &[COUNTED, QUANTITY, STATUS_OF_STOCK];
pub(super) const PERIOD: ToolArgument =
    text("period", "Period of the report, instead of dates.").among(&["week", "month", "last_month", "year"]);
pub(super) const FIRST_DAY: ToolArgument = text("date_min", "First day of the report (YYYY-MM-DD).");
pub(super) const LAST_DAY: ToolArgument = text("date_max", "Last day of the report (YYYY-MM-DD).");
pub(super) const STATUSES: ToolArgument = list(
    "status",
    "Return only orders with these statuses, such as pending, processing, on-hold, completed, cancelled, refunded or failed.",
);

const ADDRESS: &[&str] = &[
    "first_name",
    "last_name",
    "company",
    "address_1",
    "address_2",
    "city",
    "state",
    "postcode",
    "country",
    "email",
    "phone",
];
pub(super) const BILLING: ToolArgument = object("billing", "Billing address.").having(ADDRESS);
pub(super) const SHIPPING: ToolArgument = object("shipping", "Shipping address.").having(ADDRESS);

pub(super) const fn id(about: &'static str) -> ToolArgument {
    int("id", about).required().least(1)
}

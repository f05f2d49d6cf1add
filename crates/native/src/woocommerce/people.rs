//! Customers and coupons.

use super::arguments::{
    AFTER, BEFORE, BILLING, EXCLUDE, FOR_GOOD, INCLUDE, META, ORDER, PAGE, PER_PAGE, SEARCH, SHIPPING, id,
};
use super::rows::{WRITE, rows};
use crate::rest::MemberSource::{Excerpt, First};
use crate::rest::{FalseFailure, Shape, ShownMember, delete, pick};
use crate::tools::{ToolArgument, ToolRow, flag, int, integers, list, raw, text, titled};

const CUSTOMERS: Shape = Shape::Rows(
    "customers",
    &[
        pick("id", "/id"),
        pick("email", "/email"),
        pick("first_name", "/first_name"),
        pick("last_name", "/last_name"),
        pick("role", "/role"),
        pick("is_paying_customer", "/is_paying_customer"),
        ShownMember { name: "country", from: First(&["/billing/country"]) },
        pick("date_created", "/date_created"),
    ],
);
const CUSTOMER: Shape = Shape::One(
    "id email first_name last_name username role is_paying_customer billing shipping date_created date_modified redacted",
);
const COUPONS: Shape = Shape::Rows(
    "coupons",
    &[
        pick("id", "/id"),
        pick("code", "/code"),
        pick("amount", "/amount"),
        pick("discount_type", "/discount_type"),
        pick("status", "/status"),
        pick("date_expires", "/date_expires"),
        pick("usage_count", "/usage_count"),
        pick("usage_limit", "/usage_limit"),
        ShownMember { name: "description", from: Excerpt(&["/description"]) },
    ],
);
const COUPON: Shape = Shape::One(
    "id code amount discount_type status description date_expires usage_count usage_limit usage_limit_per_user individual_use \
     product_ids excluded_product_ids product_categories excluded_product_categories exclude_sale_items minimum_amount \
     maximum_amount free_shipping email_restrictions",
);

const EMAIL: ToolArgument = text("email", "Email address.");
const FIRST: ToolArgument = text("first_name", "First name.");
const LAST: ToolArgument = text("last_name", "Last name.");

const AMOUNT: ToolArgument =
    text("amount", "Discount as a string: an amount such as \"5.00\", or a percentage.");
const DISCOUNT: ToolArgument =
    text("discount_type", "Kind of discount.").among(&["percent", "fixed_cart", "fixed_product"]);
const ABOUT: ToolArgument = text("description", "Internal description, not shown to customers.");
const EXPIRES: ToolArgument = text("date_expires", "Expiry date of the coupon (ISO 8601).");
const ALONE: ToolArgument = flag("individual_use", "The coupon cannot be combined with others.");
const PRODUCTS: ToolArgument = integers("product_ids", "IDs of the products that the coupon applies to.");
const NOT_PRODUCTS: ToolArgument =
    integers("excluded_product_ids", "IDs of products that the coupon does not apply to.");
const CATEGORIES: ToolArgument =
    integers("product_categories", "IDs of the categories that the coupon applies to.");
const USES: ToolArgument = int("usage_limit", "Total number of times that the coupon can be used.").least(0);
const USES_EACH: ToolArgument =
    int("usage_limit_per_user", "Number of times that each customer can use the coupon.").least(0);
const FREE_SHIPPING: ToolArgument = flag("free_shipping", "The coupon also grants free shipping.");
const NOT_SALES: ToolArgument =
    flag("exclude_sale_items", "The coupon does not apply to products that are on sale.");
const LEAST: ToolArgument = text("minimum_amount", "Minimum amount of the order, as a string.");
const MOST: ToolArgument = text("maximum_amount", "Maximum amount of the order, as a string.");
const ONLY_FOR: ToolArgument =
    list("email_restrictions", "Email addresses of the customers who can use the coupon.");

const LISTED: &[ToolRow] = rows! {
    "woo_list_customers", "List customers", "Returns a page of customers.",
        [PAGE, PER_PAGE, SEARCH, EMAIL.saying("Return only the customer with this email address."),
         text("role", "Return only customers with this role.").among(&["all", "administrator", "editor", "author", "contributor", "subscriber", "customer", "shop_manager"]),
         INCLUDE, EXCLUDE, ORDER, text("orderby", "Field to sort by.").among(&["id", "include", "name", "registered_date"])];
        get "/customers" => CUSTOMERS;
    "woo_get_customer", "Get a customer", "Returns one customer.", [id("ID of the customer.")];
        get "/customers/{id}" => CUSTOMER;
    "woo_create_customer", "Create a customer", "Creates a customer's account and returns it.",
        [EMAIL.required(), FIRST, LAST, text("username", "Login name."), raw("password", "Password."), BILLING, SHIPPING, META];
        post "/customers" => CUSTOMER;
    "woo_update_customer", "Update a customer", "Updates a customer and returns it. Omitted fields keep their values.",
        [id("ID of the customer."), EMAIL, FIRST, LAST, BILLING, SHIPPING, META];
        edit "/customers/{id}" keeps [] except [] => CUSTOMER;
    "woo_delete_customer", "Delete a customer", "Permanently deletes a customer's account. Orders are kept.",
        [id("ID of the customer."), int("reassign", "ID of the user to whom the customer's posts are reassigned.").least(0)];
        purge "/customers/{id}" => Shape::One("id role");
    "woo_list_coupons", "List coupons", "Returns a page of coupons.",
        [PAGE, PER_PAGE, SEARCH, text("code", "Return only the coupon with this code."), AFTER, BEFORE, INCLUDE, EXCLUDE, ORDER];
        get "/coupons" => COUPONS;
    "woo_get_coupon", "Get a coupon", "Returns one coupon.", [id("ID of the coupon.")];
        get "/coupons/{id}" => COUPON;
    "woo_create_coupon", "Create a coupon", "Creates a coupon and returns it.",
        [text("code", "Code that customers enter.").required(), AMOUNT.required(), DISCOUNT.required(), ABOUT, EXPIRES, ALONE, PRODUCTS, NOT_PRODUCTS, CATEGORIES,
         USES, USES_EACH, FREE_SHIPPING, NOT_SALES, LEAST, MOST, ONLY_FOR, META];
        post "/coupons" => COUPON;
    "woo_update_coupon", "Update a coupon", "Updates a coupon and returns it. Omitted fields keep their values.",
        [id("ID of the coupon."), text("code", "Code that customers enter."), AMOUNT, DISCOUNT, ABOUT, EXPIRES, ALONE, PRODUCTS, NOT_PRODUCTS, CATEGORIES,
         USES, USES_EACH, FREE_SHIPPING, NOT_SALES, LEAST, MOST, ONLY_FOR, META];
        edit "/coupons/{id}" keeps [] except [] => COUPON;
};

/// Before version 9.0, `WooCommerce` moves a coupon to the trash and then reports that it cannot be deleted
/// (`WC_Coupon_Data_Store_CPT::delete` does not set the status that `WC_REST_CRUD_Controller::delete_item` looks at).
const NOT_IN_TRASH: FalseFailure = FalseFailure {
    status: 500,
    code: "woocommerce_rest_cannot_delete",
    has_effect: |coupon, values| {
        !values.flag("force") && coupon.get("status").is_some_and(|status| status == "trash")
    },
};

const DELETED: &[ToolRow] = &[titled(
    "woo_delete_coupon",
    "Delete a coupon",
    "Moves a coupon to the trash, or deletes it permanently with `force`.",
    &[id("ID of the coupon."), FOR_GOOD],
    &[delete("woocommerce", "/coupons/{id}").verifying(NOT_IN_TRASH).step()],
    Shape::One("id code status"),
)
.phase(WRITE)];

pub(super) const TOOLS: &[&[ToolRow]] = &[LISTED, DELETED];

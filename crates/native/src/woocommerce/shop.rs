//! Reports, taxes, shipping, payment and settings.

use super::arguments::{FIRST_DAY, LAST_DAY, ORDER, PAGE, PER_PAGE, PERIOD};
use super::rows::{KEPT, WRITE, check, rows};
use crate::rest::MemberSource::Excerpt;
use crate::rest::{Shape, ShownMember, Step, edit, get, pick};
use crate::tools::{Effect, ToolArgument, ToolRow, any, int, text, titled};

const TOTALS: Shape = Shape::List("totals", "slug name total");
const GROUPS: Shape = Shape::List("groups", "id label description parent_id");
const SETTINGS: Shape = Shape::Rows(
    "settings",
    &[
        pick("id", "/id"),
        pick("label", "/label"),
        pick("type", "/type"),
        pick("value", "/value"),
        ShownMember { name: "description", from: Excerpt(&["/description"]) },
    ],
);
const SETTING: Shape = Shape::One("id label type value default options");
const GATEWAYS: Shape = Shape::Rows(
    "gateways",
    &[
        pick("id", "/id"),
        pick("title", "/title"),
        pick("enabled", "/enabled"),
        pick("method_title", "/method_title"),
        pick("supports", "/method_supports"),
        ShownMember { name: "description", from: Excerpt(&["/description"]) },
    ],
);
const GROUP: ToolArgument =
    text("group_id", "ID of the group of settings, such as general or products.").required();
const ZONE: ToolArgument = int("zone_id", "ID of the shipping zone.").required().least(0);

const LISTED: &[ToolRow] = rows! {
    "woo_get_sales_report", "Get the sales report", "Returns the sales of a period, in total and per day: revenue, orders, items, refunds and discounts.",
        [PERIOD, FIRST_DAY, LAST_DAY];
        get "/reports/sales" => Shape::Whole;
    "woo_get_top_sellers", "Get the best-selling products", "Returns the best-selling products of a period.", [PERIOD, FIRST_DAY, LAST_DAY];
        get "/reports/top_sellers" => Shape::List("products", "product_id name quantity");
    "woo_get_order_totals", "Count orders by status", "Returns the number of orders with each status.", [];
        get "/reports/orders/totals" => TOTALS;
    "woo_get_product_totals", "Count products by type", "Returns the number of products of each type.", [];
        get "/reports/products/totals" => TOTALS;
    "woo_get_customer_totals", "Count customers", "Returns the number of paying customers and the number of other customers.", [];
        get "/reports/customers/totals" => TOTALS;
    "woo_get_coupon_totals", "Count coupons by kind", "Returns the number of coupons of each kind.", [];
        get "/reports/coupons/totals" => TOTALS;
    "woo_get_review_totals", "Count reviews by rating", "Returns the number of reviews with each rating.", [];
        get "/reports/reviews/totals" => TOTALS;
    "woo_list_tax_rates", "List tax rates", "Returns a page of tax rates.", [PAGE, PER_PAGE, text("class", "Return only rates of this tax class."), ORDER];
        get "/taxes" => Shape::List("rates", "id country state postcode city rate name priority compound shipping class");
    "woo_list_tax_classes", "List tax classes", "Returns the tax classes.", [];
        get "/taxes/classes" => Shape::List("classes", "slug name");
    "woo_list_shipping_zones", "List shipping zones", "Returns the shipping zones.", [];
        get "/shipping/zones" => Shape::List("zones", "id name order");
    "woo_list_shipping_methods", "List shipping methods of a zone", "Returns the shipping methods of a zone.", [ZONE];
        get "/shipping/zones/{zone_id}/methods" => Shape::List("methods", "id title order enabled method_id method_title");
    "woo_list_payment_gateways", "List payment methods", "Returns the payment methods, without their settings.", [];
        get "/payment_gateways" => GATEWAYS;
    "woo_list_settings_groups", "List groups of settings", "Returns the groups of the shop's settings.", [];
        get "/settings" => GROUPS;
    "woo_get_settings", "Get settings", "Returns the settings of a group. Passwords are left out.", [GROUP];
        get "/settings/{group_id}" => SETTINGS;
};

const SETTING_ITSELF: &str = "/settings/{group_id}/{id}";

/// The tool that changes a setting, whose route has no form for editors.
const CHANGED: &[ToolRow] = &[titled(
    "woo_update_setting",
    "Change a setting",
    "Changes one setting of the shop and returns it.",
    &[GROUP, text("id", "ID of the setting.").required(), any("value", "New value.").required()],
    &[
        Step::Check(check(get("woocommerce", SETTING_ITSELF), &[], KEPT)),
        edit("woocommerce", SETTING_ITSELF).step(),
    ],
    SETTING,
)
.effect(Effect::Changes)
.phase(WRITE)];

pub(super) const TOOLS: &[&[ToolRow]] = &[LISTED, CHANGED];

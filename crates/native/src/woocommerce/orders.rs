//! Orders, their notes and refunds.

use super::arguments::{
    AFTER, BEFORE, BILLING, EXCLUDE, FOR_GOOD, INCLUDE, META, OF_ORDER, ORDER, PAGE, PER_PAGE, SEARCH,
    SHIPPING, STATUSES, id,
};
use super::rows::{WRITE, rows};
use crate::rest::MemberSource::{Count, Each, Excerpt, First};
use crate::rest::{Shape, ShownMember, pick, post};
use crate::tools::{Effect, ToolArgument, ToolRow, flag, int, objects, text, titled};

const ORDERS: Shape = Shape::Rows(
    "orders",
    &[
        pick("id", "/id"),
        pick("number", "/number"),
        pick("status", "/status"),
        pick("currency", "/currency"),
        pick("total", "/total"),
        pick("customer_id", "/customer_id"),
        ShownMember { name: "customer", from: First(&["/billing/email"]) },
        pick("country", "/billing/country"),
        pick("payment_method", "/payment_method"),
        pick("date_created", "/date_created"),
        pick("date_paid", "/date_paid"),
        ShownMember {
            name: "items",
            from: Each("/line_items", &[pick("name", "/name"), pick("quantity", "/quantity")], 4),
        },
        ShownMember { name: "item_count", from: Count("/line_items") },
        ShownMember { name: "refunds", from: Count("/refunds") },
    ],
);
const ORDER_SHOWN: Shape = Shape::One(
    "id number status currency date_created date_modified date_paid date_completed discount_total shipping_total total total_tax \
     prices_include_tax customer_id customer_note billing shipping payment_method payment_method_title transaction_id line_items \
     shipping_lines fee_lines coupon_lines refunds redacted",
);
const ORDER_SUMMARY: Shape =
    Shape::One("id number status currency total customer_id date_created date_modified redacted");
const NOTES: Shape = Shape::Rows(
    "notes",
    &[
        pick("id", "/id"),
        pick("author", "/author"),
        pick("date_created", "/date_created"),
        pick("customer_note", "/customer_note"),
        ShownMember { name: "note", from: Excerpt(&["/note"]) },
    ],
);
const NOTE: Shape = Shape::One("id author date_created customer_note note");
const REFUNDS: Shape = Shape::Rows(
    "refunds",
    &[
        pick("id", "/id"),
        pick("date_created", "/date_created"),
        pick("amount", "/amount"),
        ShownMember { name: "reason", from: Excerpt(&["/reason"]) },
        pick("refunded_payment", "/refunded_payment"),
    ],
);
const REFUND: Shape = Shape::One("id date_created amount reason refunded_by refunded_payment line_items");

const STATUS: ToolArgument = text("status", "Status.").among(&[
    "pending",
    "processing",
    "on-hold",
    "completed",
    "cancelled",
    "refunded",
    "failed",
]);
const CUSTOMER: ToolArgument = int("customer_id", "ID of the customer; 0 for a guest.").least(0);
const NOTE_OF_CUSTOMER: ToolArgument = text("customer_note", "Note from the customer.");
const METHOD: ToolArgument = text("payment_method", "ID of the payment method.");
const METHOD_TITLE: ToolArgument = text("payment_method_title", "Title of the payment method.");
const ITEMS: ToolArgument = objects(
    "line_items",
    "Line items, each with `product_id`, `variation_id` and `quantity`. In an update, `id` names an existing item, and quantity 0 removes it.",
)
.having(&["id", "product_id", "variation_id", "quantity", "subtotal", "total", "name", "meta_data"]);
const SHIPPING_LINES: ToolArgument =
    objects("shipping_lines", "Shipping lines, each with `method_id`, `method_title` and `total`.")
        .having(&["id", "method_id", "method_title", "total"]);
const FEES: ToolArgument = objects("fee_lines", "Fees, each with `name` and `total`.").having(&[
    "id",
    "name",
    "total",
    "tax_class",
    "tax_status",
]);
const COUPONS: ToolArgument = objects("coupon_lines", "Coupons, each with `code`.").having(&["id", "code"]);

const LISTED: &[ToolRow] = rows! {
    "woo_list_orders", "List orders", "Returns a page of orders with their totals and items.",
        [PAGE, PER_PAGE, SEARCH, STATUSES, int("customer", "Return only orders of the customer with this ID.").least(1),
         int("product", "Return only orders that contain the product with this ID.").least(1), AFTER, BEFORE, INCLUDE, EXCLUDE, ORDER,
         text("orderby", "Field to sort by.").among(&["date", "id", "include", "title", "slug", "modified"])];
        get "/orders" => ORDERS;
    "woo_get_order", "Get an order", "Returns one order with its items, totals and addresses.", [id("ID of the order.")];
        get "/orders/{id}" => ORDER_SHOWN;
    "woo_create_order", "Create an order", "Creates an order and returns its summary. Nothing is charged.",
        [ITEMS.required(), CUSTOMER, STATUS.or_text("pending"), BILLING, SHIPPING, SHIPPING_LINES, FEES, COUPONS, METHOD, METHOD_TITLE, NOTE_OF_CUSTOMER,
         flag("set_paid", "Mark the order as paid, and reduce the stock.").or_flag(false), META];
        post "/orders" => ORDER_SUMMARY;
    "woo_update_order", "Update an order", "Updates an order, such as its status, and returns its summary. A new status can send emails to the customer.",
        [id("ID of the order."), STATUS, CUSTOMER, BILLING, SHIPPING, ITEMS, SHIPPING_LINES, FEES, COUPONS, METHOD, METHOD_TITLE, NOTE_OF_CUSTOMER,
         flag("set_paid", "Mark the order as paid, and reduce the stock."), META];
        edit "/orders/{id}" keeps [] except ["line_items" "shipping_lines" "fee_lines" "coupon_lines" "set_paid"] => ORDER_SUMMARY;
    "woo_delete_order", "Delete an order", "Moves an order to the trash, or deletes it permanently with `force`.", [id("ID of the order."), FOR_GOOD];
        delete "/orders/{id}" => Shape::One("id number status");
    "woo_list_order_notes", "List order notes", "Returns the notes of an order.",
        [OF_ORDER, text("type", "Return only notes for the customer, or only internal ones.").among(&["any", "customer", "internal"])];
        get "/orders/{order_id}/notes" => NOTES;
    "woo_create_order_note", "Add a note to an order", "Adds a note to an order and returns the note. A note for the customer is sent by email.",
        [OF_ORDER, text("note", "Text of the note.").required(), flag("customer_note", "Send the note to the customer.").or_flag(false)];
        post "/orders/{order_id}/notes" => NOTE;
    "woo_delete_order_note", "Delete an order note", "Permanently deletes an order note.", [OF_ORDER, id("ID of the note.")];
        purge "/orders/{order_id}/notes/{id}" => Shape::One("id");
    "woo_list_refunds", "List refunds of an order", "Returns a page of the refunds of an order.", [OF_ORDER, PAGE, PER_PAGE];
        get "/orders/{order_id}/refunds" => REFUNDS;
    "woo_get_refund", "Get a refund", "Returns one refund of an order.", [OF_ORDER, id("ID of the refund.")];
        get "/orders/{order_id}/refunds/{id}" => REFUND;
};

/// The tool for refunds. It does not pay money back by default, although `WooCommerce` itself does.
const MONEY: &[ToolRow] = &[titled(
    "woo_refund_order",
    "Refund an order",
    "Records a refund of an order and returns the refund. With `api_refund`, this moves money: the payment provider pays the amount back.",
    &[
        OF_ORDER,
        text("amount", "Amount as a string, such as \"19.90\".").required(),
        text("reason", "Reason for the refund."),
        flag("api_refund", "Also pay the amount back through the payment provider.").or_flag(false),
        flag("api_restock", "Put the refunded items back in stock.").or_flag(true),
        objects("line_items", "Refunded items, each with `id` of the order's item, `quantity` and `refund_total`.")
            .having(&["id", "quantity", "refund_total", "refund_tax"]),
    ],
    &[post("woocommerce", "/orders/{order_id}/refunds").step()],
    REFUND,
)
.effect(Effect::Pays)
.phase(WRITE)];

pub(super) const TOOLS: &[&[ToolRow]] = &[LISTED, MONEY];

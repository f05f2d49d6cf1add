//! Products, variations and stock.

use super::arguments::{
    AFTER, BEFORE, COUNTED, EXCLUDE, FOR_GOOD, INCLUDE, META, ORDER, PAGE, PER_PAGE, PRODUCT, QUANTITY,
    SEARCH, STATUS_OF_STOCK, STOCK_MEMBERS, id,
};
use super::rows::{KEPT, WRITE, check, rows};
use crate::rest::MemberSource::{Count, Each, Excerpt};
use crate::rest::{
    EDITING, Field, KeptValues, RestRequest, Shape, ShownMember, Step, StepCondition, edit, fixed, get, pick,
};
use crate::tools::{
    Effect, Literal, ToolArgument, ToolRow, flag, html, int, integers, object, objects, text, titled,
};

const PRODUCTS: Shape = Shape::Rows(
    "products",
    &[
        pick("id", "/id"),
        pick("name", "/name"),
        pick("type", "/type"),
        pick("status", "/status"),
        pick("sku", "/sku"),
        pick("price", "/price"),
        pick("regular_price", "/regular_price"),
        pick("on_sale", "/on_sale"),
        pick("stock_status", "/stock_status"),
        pick("stock_quantity", "/stock_quantity"),
        ShownMember { name: "categories", from: Each("/categories", GROUP, 3) },
        pick("permalink", "/permalink"),
    ],
);
const PRODUCT_SHOWN: Shape = Shape::One(
    "id name slug permalink type status catalog_visibility sku price regular_price sale_price date_on_sale_from date_on_sale_to \
     on_sale total_sales manage_stock stock_quantity stock_status backorders short_description description categories tags \
     attributes variations images weight dimensions shipping_class tax_class average_rating rating_count parent_id featured \
     date_created date_modified",
);
/// The summary after a change: it shows the stored categories and tags, and the number of images.
const PRODUCT_SUMMARY: Shape = Shape::Picked(&[
    pick("id", "/id"),
    pick("name", "/name"),
    pick("permalink", "/permalink"),
    pick("type", "/type"),
    pick("status", "/status"),
    pick("sku", "/sku"),
    pick("price", "/price"),
    pick("regular_price", "/regular_price"),
    pick("sale_price", "/sale_price"),
    pick("manage_stock", "/manage_stock"),
    pick("stock_quantity", "/stock_quantity"),
    pick("stock_status", "/stock_status"),
    ShownMember { name: "categories", from: Each("/categories", GROUP, MOST_GROUPS) },
    ShownMember { name: "tags", from: Each("/tags", GROUP, MOST_GROUPS) },
    ShownMember { name: "images", from: Count("/images") },
]);
/// The members of a category or a tag in a product.
const GROUP: &[ShownMember] = &[pick("id", "/id"), pick("name", "/name")];
/// The maximum number of categories, and of tags, in a summary.
const MOST_GROUPS: usize = 30;
const VARIATIONS: Shape = Shape::Rows(
    "variations",
    &[
        pick("id", "/id"),
        pick("status", "/status"),
        pick("sku", "/sku"),
        pick("price", "/price"),
        pick("regular_price", "/regular_price"),
        pick("on_sale", "/on_sale"),
        pick("stock_status", "/stock_status"),
        pick("stock_quantity", "/stock_quantity"),
        ShownMember {
            name: "attributes",
            from: Each("/attributes", &[pick("name", "/name"), pick("option", "/option")], 6),
        },
        ShownMember { name: "description", from: Excerpt(&["/description"]) },
    ],
);
const VARIATION_SHOWN: Shape = Shape::One(
    "id status sku price regular_price sale_price date_on_sale_from date_on_sale_to on_sale manage_stock stock_quantity \
     stock_status backorders description attributes image weight dimensions shipping_class tax_class date_modified",
);
const DELETED: Shape = Shape::One("id name status");

const NAME: ToolArgument = text("name", "Name.");
const PRICE: ToolArgument = text("regular_price", "Price as a string, such as \"19.90\".");
const SALE_PRICE: ToolArgument =
    text("sale_price", "Price while the product is on sale; an empty string ends the sale.");
const SALE_FROM: ToolArgument =
    text("date_on_sale_from", "Start of the sale (ISO 8601), in the shop's time zone.");
const SALE_TO: ToolArgument = text("date_on_sale_to", "End of the sale (ISO 8601), in the shop's time zone.");
const SKU: ToolArgument = text("sku", "Stock-keeping unit.");
const BACKORDERS: ToolArgument = text(
    "backorders",
    "Backorders: refused (no), accepted with a notice to the customer (notify), or accepted (yes).",
)
.among(&["no", "notify", "yes"]);
const WEIGHT: ToolArgument = text("weight", "Weight as a string, in the shop's unit.");
const SIZE: ToolArgument =
    object("dimensions", "Object with `length`, `width` and `height` as strings, in the shop's unit.")
        .having(&["length", "width", "height"]);
const TAX_CLASS: ToolArgument = text("tax_class", "Tax class.");
const CLASS: ToolArgument = text("shipping_class", "Slug of the shipping class.");
const ORDER_IN_MENU: ToolArgument = int("menu_order", "Position in sorted lists.").or_int(0);
const STATUS: ToolArgument = text("status", "Status.").among(&["draft", "pending", "private", "publish"]);
const KIND: ToolArgument =
    text("type", "Type of the product.").among(&["simple", "grouped", "external", "variable"]);
const ABOUT: ToolArgument = html("description", "Description in HTML.");
const SHORT: ToolArgument = html("short_description", "Short description in HTML.");
const CATEGORIES: ToolArgument =
    objects("categories", "Categories, each with `id`; they replace the current ones.").having(&["id"]);
const TAGS: ToolArgument =
    objects("tags", "Tags, each with `id`; they replace the current ones.").having(&["id"]);
const IMAGES: ToolArgument = objects(
    "images",
    "Images, each with `id` of a media item or `src` as a URL; they replace the current ones.",
)
.having(&["id", "src", "name", "alt"]);
const ATTRIBUTES: ToolArgument = objects(
    "attributes",
    "Attributes, each with `id` or `name`, `options`, `visible` and `variation`; they replace the current ones.",
)
.having(&["id", "name", "position", "visible", "variation", "options"]);
const OPTIONS: ToolArgument =
    objects("attributes", "Attributes of the variation, each with `id` or `name`, and `option`.")
        .having(&["id", "name", "option"]);
const FEATURED: ToolArgument = flag("featured", "Feature the product.");
const VISIBILITY: ToolArgument = text("catalog_visibility", "Lists in which the product appears.")
    .among(&["visible", "catalog", "search", "hidden"]);
const VIRTUAL: ToolArgument = flag("virtual", "The product is not shipped.");

const LISTED: &[ToolRow] = rows! {
    "woo_list_products", "List products", "Returns a page of products with their prices and stock.",
        [PAGE, PER_PAGE, SEARCH,
         text("status", "Return only products with this status.").among(&["any", "draft", "pending", "private", "publish", "future", "trash"]),
         KIND.saying("Return only products of this type."), SKU.saying("Return only products with these SKUs, separated by commas."),
         text("category", "Return only products of the category with this ID."), text("tag", "Return only products with the tag with this ID."),
         STATUS_OF_STOCK.saying("Return only products with this stock status."), flag("on_sale", "Return only products that are on sale."),
         FEATURED.saying("Return only featured products."), text("min_price", "Return only products with at least this price."),
         text("max_price", "Return only products with at most this price."), AFTER, BEFORE,
         integers("parent", "Return only products that belong to the grouped products with these IDs."), INCLUDE, EXCLUDE, ORDER,
         text("orderby", "Field to sort by.").among(&["date", "id", "include", "title", "slug", "modified", "price", "popularity", "rating", "menu_order"])];
        get "/products" => PRODUCTS;
    "woo_get_product", "Get a product", "Returns one product with the source of its descriptions, its stock, images and attributes.", [id("ID of the product.")];
        editable "/products/{id}" => PRODUCT_SHOWN;
    "woo_create_product", "Create a product", "Creates a product and returns its summary.",
        [NAME.required(), KIND.or_text("simple"), STATUS.or_text("draft"), PRICE, SALE_PRICE, SALE_FROM, SALE_TO, SKU, ABOUT, SHORT, CATEGORIES, TAGS,
         IMAGES, ATTRIBUTES, COUNTED, QUANTITY, STATUS_OF_STOCK, BACKORDERS, VIRTUAL, WEIGHT, SIZE, CLASS, TAX_CLASS, FEATURED, VISIBILITY, META];
        post "/products" => PRODUCT_SUMMARY;
    "woo_update_product", "Update a product", "Updates a product and returns its summary. Omitted fields keep their values. Change the source of descriptions, as `woo_get_product` returns it.",
        [id("ID of the product."), NAME, KIND, STATUS, PRICE, SALE_PRICE, SALE_FROM, SALE_TO, SKU, ABOUT, SHORT, CATEGORIES, TAGS,
         IMAGES, ATTRIBUTES, COUNTED, QUANTITY, STATUS_OF_STOCK, BACKORDERS, VIRTUAL, WEIGHT, SIZE, CLASS, TAX_CLASS, FEATURED, VISIBILITY, META];
        edit "/products/{id}" keeps ["description" "short_description"] except [] => PRODUCT_SUMMARY;
    "woo_delete_product", "Delete a product", "Moves a product to the trash, or deletes it permanently with `force`.", [id("ID of the product."), FOR_GOOD];
        delete "/products/{id}" => DELETED;
    "woo_list_variations", "List variations of a product", "Returns a page of the variations of a product with their prices and stock.",
        [PRODUCT, PAGE, PER_PAGE, SEARCH, SKU.saying("Return only variations with these SKUs, separated by commas."),
         STATUS_OF_STOCK.saying("Return only variations with this stock status."), flag("on_sale", "Return only variations that are on sale."),
         INCLUDE, EXCLUDE, ORDER, text("orderby", "Field to sort by.").among(&["date", "id", "include", "title", "slug", "modified", "menu_order"])];
        get "/products/{product_id}/variations" => VARIATIONS;
    "woo_get_variation", "Get a variation", "Returns one variation of a product.", [PRODUCT, id("ID of the variation.")];
        editable "/products/{product_id}/variations/{id}" => VARIATION_SHOWN;
    "woo_create_variation", "Create a variation", "Adds a variation to a variable product and returns the variation.",
        [PRODUCT, OPTIONS.required(), PRICE, SALE_PRICE, SALE_FROM, SALE_TO, SKU, STATUS, ABOUT, COUNTED, QUANTITY, STATUS_OF_STOCK, BACKORDERS, VIRTUAL,
         WEIGHT, SIZE, CLASS, TAX_CLASS, ORDER_IN_MENU, META];
        post "/products/{product_id}/variations" => VARIATION_SHOWN;
    "woo_update_variation", "Update a variation", "Updates a variation of a product and returns it. Omitted fields keep their values.",
        [PRODUCT, id("ID of the variation."), OPTIONS, PRICE, SALE_PRICE, SALE_FROM, SALE_TO, SKU, STATUS, ABOUT, COUNTED, QUANTITY, STATUS_OF_STOCK,
         BACKORDERS, VIRTUAL, WEIGHT, SIZE, CLASS, TAX_CLASS, META];
        edit "/products/{product_id}/variations/{id}" keeps ["description"] except [] => VARIATION_SHOWN;
    "woo_delete_variation", "Delete a variation", "Permanently deletes a variation of a product.", [PRODUCT, id("ID of the variation.")];
        purge "/products/{product_id}/variations/{id}" => DELETED;
};

/// The tool that sets the stock, which is usually changed without other data of a product. A variation has its own
/// stock.
const STOCK: ToolRow = titled(
    "woo_update_stock",
    "Set the stock of a product",
    "Sets the number of items in stock of a product, or of one of its variations, and returns the stock.",
    &[
        PRODUCT,
        int("variation_id", "ID of the variation, if the product has variations.").least(1),
        int("stock_quantity", "Number of items in stock.").required(),
    ],
    &[
        counted(get("woocommerce", PRODUCT_ITSELF).when(StepCondition::Absent("variation_id"))),
        counted(get("woocommerce", VARIATION_ITSELF).when(StepCondition::Given("variation_id"))),
        edit("woocommerce", PRODUCT_ITSELF).when(StepCondition::Absent("variation_id")).with(COUNTS).step(),
        edit("woocommerce", VARIATION_ITSELF).when(StepCondition::Given("variation_id")).with(COUNTS).step(),
    ],
    Shape::One("id name sku manage_stock stock_quantity stock_status"),
)
.effect(Effect::Changes)
.phase(WRITE);
const PRODUCT_ITSELF: &str = "/products/{product_id}";
const VARIATION_ITSELF: &str = "/products/{product_id}/variations/{variation_id}";

/// Keeps the stock that a change replaces.
const fn counted(ask: RestRequest) -> Step {
    Step::Check(check(ask.with(EDITING), &[], KeptValues { together: STOCK_MEMBERS, ..KEPT }))
}

const COUNTS: &[Field] = &[fixed("manage_stock", Literal::Flag(true))];

pub(super) const TOOLS: &[&[ToolRow]] = &[LISTED, &[STOCK]];

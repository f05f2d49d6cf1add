//! Categories, tags, attributes and reviews of products.

use super::arguments::{AFTER, BEFORE, EXCLUDE, INCLUDE, ORDER, PAGE, PER_PAGE, SEARCH, id};
use super::rows::rows;
use crate::rest::MemberSource::Excerpt;
use crate::rest::{Shape, ShownMember, pick};
use crate::tools::{ToolArgument, ToolRow, flag, html, int, integers, text};

const CATEGORIES: Shape = Shape::Rows(
    "categories",
    &[
        pick("id", "/id"),
        pick("name", "/name"),
        pick("slug", "/slug"),
        pick("parent", "/parent"),
        pick("count", "/count"),
        ShownMember { name: "description", from: Excerpt(&["/description"]) },
    ],
);
const CATEGORY: Shape = Shape::One("id name slug parent description display count");
const TAGS: Shape = Shape::List("tags", "id name slug count");
const TAG: Shape = Shape::One("id name slug description count");
const ATTRIBUTES: Shape = Shape::List("attributes", "id name slug type order_by has_archives");
const ATTRIBUTE: Shape = Shape::One("id name slug type order_by has_archives");
const TERMS: Shape = Shape::List("terms", "id name slug menu_order count");
const REVIEWS: Shape = Shape::Rows(
    "reviews",
    &[
        pick("id", "/id"),
        pick("product_id", "/product_id"),
        pick("product_name", "/product_name"),
        pick("status", "/status"),
        pick("rating", "/rating"),
        pick("verified", "/verified"),
        pick("reviewer", "/reviewer"),
        pick("date_created", "/date_created"),
        ShownMember { name: "review", from: Excerpt(&["/review"]) },
    ],
);
const REVIEW: Shape = Shape::One(
    "id product_id product_name status rating verified reviewer reviewer_email date_created review",
);
const DELETED: Shape = Shape::One("id name slug");

const NAME: ToolArgument = text("name", "Name.");
const SLUG: ToolArgument = text("slug", "Slug.");
const ABOUT: ToolArgument = html("description", "Description.");
const PARENT: ToolArgument = int("parent", "ID of the parent category.").least(0);
const OF_PARENT: ToolArgument = int("parent", "Return only children of the category with this ID.").least(0);
const DISPLAY: ToolArgument = text("display", "Content that the category page shows.").among(&[
    "default",
    "products",
    "subcategories",
    "both",
]);
const HIDE_EMPTY: ToolArgument = flag("hide_empty", "Exclude entries without products.");
const TERMS_BY: ToolArgument = text("orderby", "Field to sort by.").among(&[
    "id",
    "include",
    "name",
    "slug",
    "term_group",
    "description",
    "count",
]);
const OF_ATTRIBUTE: ToolArgument = int("attribute_id", "ID of the attribute.").required().least(1);
const KEPT_ORDER: ToolArgument =
    text("order_by", "Order of the attribute's terms.").among(&["menu_order", "name", "name_num", "id"]);

pub(super) const TOOLS: &[&[ToolRow]] = &[rows! {
    "woo_list_categories", "List product categories", "Returns a page of product categories.",
        [PAGE, PER_PAGE, SEARCH, OF_PARENT, HIDE_EMPTY, INCLUDE, EXCLUDE, ORDER, TERMS_BY];
        get "/products/categories" => CATEGORIES;
    "woo_create_category", "Create a product category", "Creates a product category and returns it.", [NAME.required(), SLUG, PARENT, ABOUT, DISPLAY];
        post "/products/categories" => CATEGORY;
    "woo_update_category", "Update a product category", "Updates a product category and returns it. Omitted fields keep their values.",
        [id("ID of the category."), NAME, SLUG, PARENT, ABOUT, DISPLAY];
        edit "/products/categories/{id}" keeps [] except [] => CATEGORY;
    "woo_delete_category", "Delete a product category", "Permanently deletes a product category. Its products are kept.", [id("ID of the category.")];
        purge "/products/categories/{id}" => DELETED;
    "woo_list_tags", "List product tags", "Returns a page of product tags.", [PAGE, PER_PAGE, SEARCH, HIDE_EMPTY, INCLUDE, EXCLUDE, ORDER, TERMS_BY];
        get "/products/tags" => TAGS;
    "woo_create_tag", "Create a product tag", "Creates a product tag and returns it.", [NAME.required(), SLUG, ABOUT];
        post "/products/tags" => TAG;
    "woo_delete_tag", "Delete a product tag", "Permanently deletes a product tag. Its products are kept.", [id("ID of the tag.")];
        purge "/products/tags/{id}" => DELETED;
    "woo_list_attributes", "List product attributes", "Returns the attributes that products can share, such as size or color.", [];
        get "/products/attributes" => ATTRIBUTES;
    "woo_create_attribute", "Create a product attribute", "Creates an attribute that products can share, and returns it.", [NAME.required(), SLUG, KEPT_ORDER];
        post "/products/attributes" => ATTRIBUTE;
    "woo_list_attribute_terms", "List terms of a product attribute", "Returns a page of the terms of an attribute, such as sizes.",
        [OF_ATTRIBUTE, PAGE, PER_PAGE, SEARCH, HIDE_EMPTY, INCLUDE, EXCLUDE, ORDER];
        get "/products/attributes/{attribute_id}/terms" => TERMS;
    "woo_create_attribute_term", "Create a term of a product attribute", "Adds a term to an attribute and returns the term.",
        [OF_ATTRIBUTE, NAME.required(), SLUG, ABOUT];
        post "/products/attributes/{attribute_id}/terms" => TAG;
    "woo_list_reviews", "List product reviews", "Returns a page of product reviews.",
        [PAGE, PER_PAGE, SEARCH, integers("product", "Return only reviews of the products with these IDs."),
         text("status", "Return only reviews with this status.").or_text("all").among(&["all", "hold", "approved", "spam", "trash"]), AFTER, BEFORE, ORDER];
        get "/products/reviews" => REVIEWS;
    "woo_get_review", "Get a product review", "Returns one product review.", [id("ID of the review.")];
        get "/products/reviews/{id}" => REVIEW;
    "woo_update_review", "Moderate a product review", "Changes the status of a product review and returns the review.",
        [id("ID of the review."), text("status", "New status.").required().among(&["approved", "hold", "spam", "unspam", "trash", "untrash"])];
        edit "/products/reviews/{id}" keeps [] except [] => REVIEW;
    "woo_delete_review", "Delete a product review", "Permanently deletes a product review.", [id("ID of the review.")];
        purge "/products/reviews/{id}" => Shape::One("deleted id status");
}];

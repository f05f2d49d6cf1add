//! The tool that restores values that an update has replaced, and the resource that shows them.

use super::rows::WRITE;
use crate::rest::{Restoring, Shape, Step, VALUE_NAMES};
use crate::tools::{Effect, OfferTable, ResourceRow, ToolRow, text, titled};

pub(super) const TOOLS: &[&[ToolRow]] = &[&[titled(
    VALUE_NAMES.tool,
    "Restore replaced values",
    "Restores the values that an update replaced, and returns a summary of the item. An update returns the address of the \
     replaced values as `previous_values`. Restoring the status of an order can send emails to the customer.",
    &[text(VALUE_NAMES.member, "Address of the replaced values, such as woo://previous/3f2a….").required()],
    &[Step::Restore(Restoring { argument: VALUE_NAMES.member, base: "woocommerce" })],
    Shape::One(
        "id name code number sku status regular_price sale_price manage_stock stock_quantity amount value date_modified",
    ),
)
.effect(Effect::Changes)
.phase(WRITE)]];

pub(super) const OFFERS: OfferTable = OfferTable {
    resources: &[ResourceRow {
        uri: "woo://previous/{previous}",
        name: "previous-values",
        about: "The values that an update of the shop replaced. The result of the update contains this URI.",
        arguments: &[text("previous", "ID of the replaced values.").required()],
        steps: &[Step::Previous("previous")],
        shape: Shape::One("values url"),
        completes: None,
    }],
    prompts: &[],
};

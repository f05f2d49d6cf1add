// What each of the tools for a shop is tried with.

import { unique } from './arguments.mjs';

const id = (what) => async ({ made }) => ({ id: (await made(what)).id });
const list = (what) => async ({ made }) => (await made(what), {});
const nothing = () => ({});
const of = async (made) => {
  const { id, product } = await made('variation');
  return { product_id: product, id };
};

export default {
  list_products: list('product'),
  get_product: id('product'),
  create_product: () => ({ name: `Tea ${unique()}`, regular_price: '9.90', sku: unique(), manage_stock: true, stock_quantity: 5, description: '<p>Strong.</p>' }),
  update_product: async ({ made }) => ({ id: (await made('product')).id, regular_price: '10.90', sale_price: '8.90' }),
  delete_product: id('product'),
  list_variations: async ({ made }) => ({ product_id: (await made('variation')).product }),
  get_variation: ({ made }) => of(made),
  create_variation: async ({ made }) => ({ product_id: (await made('variation')).product, attributes: [{ name: 'Size', option: 'M' }], regular_price: '12.00' }),
  update_variation: async ({ made }) => ({ ...(await of(made)), regular_price: '13.00' }),
  delete_variation: ({ made }) => of(made),
  update_stock: async ({ made }) => ({ product_id: (await made('product')).id, stock_quantity: 3 }),
  list_categories: list('category'),
  create_category: () => ({ name: `Teas ${unique()}`, description: 'All kinds.' }),
  update_category: async ({ made }) => ({ id: (await made('category')).id, description: 'Changed.' }),
  delete_category: id('category'),
  list_tags: list('tag'),
  create_tag: () => ({ name: unique() }),
  delete_tag: id('tag'),
  list_attributes: list('attribute'),
  create_attribute: () => ({ name: unique() }),
  list_attribute_terms: async ({ made }) => ({ attribute_id: (await made('attribute')).id }),
  create_attribute_term: async ({ made }) => ({ attribute_id: (await made('attribute')).id, name: unique() }),
  list_reviews: list('review'),
  get_review: id('review'),
  update_review: async ({ made }) => ({ id: (await made('review')).id, status: 'hold' }),
  delete_review: id('review'),
  list_orders: list('order'),
  get_order: id('order'),
  create_order: async ({ made }) => ({ line_items: [{ product_id: (await made('product')).id, quantity: 2 }], billing: { first_name: 'Maria', country: 'NO' } }),
  update_order: async ({ made }) => ({ id: (await made('order')).id, status: 'completed' }),
  delete_order: id('order'),
  list_order_notes: async ({ made }) => ({ order_id: (await made('note')).order }),
  create_order_note: async ({ made }) => ({ order_id: (await made('order')).id, note: 'Packed.' }),
  delete_order_note: async ({ made }) => {
    const { id: note, order } = await made('note');
    return { order_id: order, id: note };
  },
  list_refunds: async ({ made }) => ({ order_id: (await made('refund')).order }),
  get_refund: async ({ made }) => {
    const { id: refund, order } = await made('refund');
    return { order_id: order, id: refund };
  },
  refund_order: async ({ made }) => {
    const { id: order, item } = await made('order');
    return { order_id: order, amount: '9.90', reason: 'Broken', line_items: [{ id: item, quantity: 1, refund_total: 9.9 }] };
  },
  list_customers: list('customer'),
  get_customer: id('customer'),
  create_customer: () => ({ email: `${unique()}@example.org`, username: unique(), password: unique() }),
  update_customer: async ({ made }) => ({ id: (await made('customer')).id, first_name: 'Maria' }),
  delete_customer: id('customer'),
  list_coupons: list('coupon'),
  get_coupon: id('coupon'),
  create_coupon: () => ({ code: unique(), amount: '10', discount_type: 'percent' }),
  update_coupon: async ({ made }) => ({ id: (await made('coupon')).id, amount: '15' }),
  delete_coupon: id('coupon'),
  get_sales_report: () => ({ period: 'week' }),
  get_top_sellers: () => ({ period: 'week' }),
  get_order_totals: nothing,
  get_product_totals: nothing,
  get_customer_totals: nothing,
  get_coupon_totals: nothing,
  get_review_totals: nothing,
  list_tax_rates: list('rate'),
  list_tax_classes: nothing,
  list_shipping_zones: list('zone'),
  list_shipping_methods: async ({ made }) => ({ zone_id: (await made('zone')).id }),
  list_payment_gateways: nothing,
  list_settings_groups: nothing,
  get_settings: () => ({ group_id: 'general' }),
  restore_values: async ({ ask, made }) => {
    const { id: coupon } = await made('coupon');
    const { result } = await ask('tools/call', { name: 'woo_update_coupon', arguments: { id: coupon, amount: '15' } });
    // Who may not change a coupon has nothing to restore.
    return { previous_values: result?.structuredContent?.previous_values ?? 'woo://previous/none' };
  },
  update_setting: () => ({ group_id: 'general', id: 'woocommerce_store_city', value: 'Oslo' }),
};

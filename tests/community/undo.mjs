// What a shop's tools change, and what one call restores: the stored values are read from the site before the change, after it
// and after it was undone.

import { unique } from './arguments.mjs';

/** Members that tell of a change itself, or follow from others. */
const FOLLOWING = ['date_modified', 'date_modified_gmt', 'meta_data', 'price_html', 'related_ids'];
const ADDRESS = { first_name: 'Maria', last_name: 'Sol', address_1: 'Main 1', city: 'Oslo', postcode: '0150', country: 'NO', email: 'maria@example.org', phone: '99 99' };

/** For each tool that updates something: the tool that reads it, what names it, and the new values. */
const UPDATES = {
  product: ['get_product', 'update_product', async (made) => ({ id: (await made('product')).id }), async (made) => ({
    name: 'Coffee', status: 'draft', regular_price: '99.00', sale_price: '9.00', date_on_sale_from: '2030-01-01T00:00:00', date_on_sale_to: '2031-01-01T00:00:00',
    sku: unique(), description: '<p>Other words.</p>', short_description: 'Short.', categories: [{ id: (await made('category')).id }], tags: [{ id: (await made('tag')).id }],
    attributes: [{ name: 'Size', options: ['S', 'M'], visible: true, variation: false }], manage_stock: false, stock_status: 'outofstock', backorders: 'yes', virtual: true,
    weight: '5', dimensions: { length: '1', width: '2', height: '3' }, featured: true, catalog_visibility: 'hidden', meta_data: [{ key: 'engraving', value: 'x' }],
  })],
  variation: ['get_variation', 'update_variation', async (made) => {
    const { id, product } = await made('variation');
    return { product_id: product, id };
  }, () => ({ regular_price: '99.00', sale_price: '9.00', date_on_sale_to: '2031-01-01T00:00:00', sku: unique(), status: 'private', description: 'Other.', manage_stock: true, stock_quantity: 7, backorders: 'notify', weight: '5', attributes: [{ name: 'Size', option: 'M' }], meta_data: [{ key: 'engraving', value: 'x' }] })],
  stock: ['get_product', 'update_stock', async (made) => ({ product_id: (await made('product')).id }), () => ({ stock_quantity: 0 }), ({ product_id: id }) => ({ id })],
  category: ['list_categories', 'update_category', async (made) => ({ id: (await made('category')).id }), async (made) => ({ name: 'Coffees', slug: unique(), description: 'Changed.', display: 'products', parent: (await made('category')).id }), ({ id }) => ({ include: [id] })],
  review: ['get_review', 'update_review', async (made) => ({ id: (await made('review')).id }), () => ({ status: 'spam' })],
  order: ['get_order', 'update_order', async (made) => ({ id: (await made('order')).id }), async (made) => ({
    status: 'on-hold', billing: { ...ADDRESS, first_name: 'Ola' }, shipping: { first_name: 'Ola', city: 'Bergen', country: 'NO' }, payment_method: 'bacs', payment_method_title: 'Bank',
    customer_note: 'Ring.', customer_id: (await made('customer')).id, meta_data: [{ key: 'engraving', value: 'x' }],
  })],
  customer: ['get_customer', 'update_customer', async (made) => ({ id: (await made('customer')).id }), () => ({ email: `${unique()}@example.org`, first_name: 'Ola', last_name: 'By', billing: { ...ADDRESS, email: undefined }, shipping: { first_name: 'Ola', city: 'Bergen' } })],
  coupon: ['get_coupon', 'update_coupon', async (made) => ({ id: (await made('coupon')).id }), async (made) => ({
    code: unique(), amount: '15', discount_type: 'fixed_cart', description: 'Changed', date_expires: '2031-01-01T00:00:00', individual_use: true, product_ids: [(await made('product')).id],
    usage_limit: 5, usage_limit_per_user: 2, free_shipping: true, exclude_sale_items: true, minimum_amount: '10', maximum_amount: '90', email_restrictions: ['a@example.org'],
  })],
  setting: ['get_settings', 'update_setting', async () => ({ group_id: 'general', id: 'woocommerce_store_city' }), () => ({ value: unique() }), ({ group_id }) => ({ group_id })],
};

/** Changes each thing, restores it, and restores the change; throws if a value is not as it should be. */
export async function undone(ask, made) {
  const call = async (name, args) => {
    const { result, error } = await ask('tools/call', { name: `woo_${name}`, arguments: args });
    if (error || result.isError) throw new Error(`${name} ${JSON.stringify(args)}: ${JSON.stringify(error ?? result)}`);
    return JSON.parse(result.content[0].text);
  };
  for (const [what, [reader, changer, named, values, read = (args) => args]] of Object.entries(UPDATES)) {
    const target = await named(made);
    const stored = async () => Object.entries(await call(reader, { ...read(target), full: true }))
      .filter(([name]) => !FOLLOWING.includes(name)).map(([name, value]) => [name, JSON.stringify(value)]);
    const engraved = async () => JSON.stringify((await call(reader, { ...read(target), full: true })).meta_data ?? []).includes('engraving');
    const differing = (one, other) => one.filter(([name, value]) => other.find(([known]) => known === name)?.[1] !== value).map(([name, value]) => `${name}: ${value}`);
    const changes = await values(made);
    const before = await stored();
    const { previous_values: address, not_kept: lost } = await call(changer, { ...target, ...changes });
    const after = await stored();
    if (lost || !address || differing(after, before).length === 0) throw new Error(`${what}: ${address}, not kept: ${lost}, changed: ${differing(after, before)}`);
    const { previous_values: again } = await call('restore_values', { previous_values: address });
    const restored = await stored();
    const faults = differing(before, restored);
    if (faults.length > 0 || await engraved()) throw new Error(`${what} was not restored: ${faults} instead of ${differing(restored, before)}`);
    await call('restore_values', { previous_values: again });
    const redone = differing(after, await stored());
    if (redone.length > 0 || (changes.meta_data && !await engraved())) throw new Error(`${what} was not changed again: ${redone}`);
    console.log(`undo of ${what}: ${differing(after, before).length} members changed, restored and changed again`);
  }
  // The lines of an order cannot be restored, nor an address without an email address, and the answer says so.
  const { id, item } = await made('order');
  const { id: customer } = await made('customer');
  for (const [tool, args, wanted] of [
    ['update_order', { id, line_items: [{ id: item, quantity: 0 }] }, 'line_items'],
    ['update_customer', { id: customer, billing: ADDRESS }, 'billing.email'],
  ]) {
    const { not_kept: lost } = await call(tool, args);
    if (JSON.stringify(lost) !== JSON.stringify([wanted])) throw new Error(`${tool}: not kept: ${lost}`);
  }
}

// Refunds with and without payment: what the shop's payment methods are asked, and what the caller learns if they refuse.
// The answer to a refund does not say whether it was paid, but the list does. The methods `made` and `declining` are in
// php/shop.php; `bacs` (bank transfer) is the shop's own and cannot pay back.

import { unique } from './arguments.mjs';

/** Orders something, pays it with one method, refunds a part, and returns the answer and the refunds that the shop then has. */
async function refunded(call, method, extra) {
  const product = await call('create_product', { name: `Tea ${unique()}`, regular_price: '9.90' });
  const order = await call('create_order', { line_items: [{ product_id: product.id, quantity: 2 }], payment_method: method, status: 'processing' });
  const answer = await call('refund_order', { order_id: order.id, amount: '5.00', reason: 'Broken', ...extra }, true);
  const { refunds } = await call('list_refunds', { order_id: order.id });
  return { answer, refunds };
}

/** Refunds orders of each method; throws if the shop or the answer is not as expected. */
export async function refunds(ask) {
  const call = async (name, args, mayFail = false) => {
    const { result, error } = await ask('tools/call', { name: `woo_${name}`, arguments: args });
    if (error || (result.isError && !mayFail)) throw new Error(`${name} ${JSON.stringify(args)}: ${JSON.stringify(error ?? result)}`);
    return result.isError ? { refused: result.content[0].text } : JSON.parse(result.content[0].text);
  };
  const paid = { api_refund: true };
  for (const [method, extra, isPaid, refusal] of [
    ['bacs', {}, false],
    ['made', {}, false],
    ['declining', {}, false],
    ['made', paid, true],
    ['bacs', paid, undefined, 'does not support automatic refunds'],
    ['declining', paid, undefined, 'The bank declines 5.00.'],
    ['nosuchmethod', paid, undefined, 'gateway for this order does not exist'],
  ]) {
    const { answer, refunds: stored } = await refunded(call, method, extra);
    const isExpected = refusal
      ? answer.refused?.includes(refusal) && stored.length === 0
      : answer.amount === '5.00' && stored.length === 1 && stored[0].refunded_payment === isPaid;
    console.log(`refund ${JSON.stringify({ method, ...extra, answer, stored })}`);
    if (!isExpected) throw new Error(`a refund with ${method} ${JSON.stringify(extra)}: ${JSON.stringify({ answer, stored })}`);
  }
}

// A preset of one site: its callers show their own account there (HTTP's Basic scheme), and its administrators may come in.

import { strict as assert } from 'node:assert';
import { basic, check, each, finish, gateways, north, post, south } from './cases.mjs';

const url = `${new URL(gateways.buddyboss).origin}/wp-json/buddyboss-mcp/v1/mcp`;
const ask = (headers, method, params = {}) => post(headers, { jsonrpc: '2.0', id: 1, method, params }, url);
const refusal = (status, message) => ({ status, body: { code: 'rest_forbidden', message, data: { status } } });

await each(Object.entries(north.people), ([role, { password }]) => {
  const isAdmin = role === 'admin';
  return check(`${role} is ${isAdmin ? '' : 'not '}let in`, async () => {
    for (const shape of [password, password.replaceAll(' ', '')]) {
      const answer = await ask(basic(role, shape), 'tools/list');
      if (!isAdmin) assert.deepEqual(answer, refusal(403, 'Insufficient permissions.'));
      else assert.ok(answer.body.result.tools.some(({ name }) => name === 'buddyboss_list_members'), JSON.stringify(answer));
    }
  });
});
await check('a site without BuddyBoss is told from one that refuses', async () => {
  const params = { name: 'buddyboss_list_members', arguments: {} };
  const { body } = await ask(basic('admin', north.people.admin.password), 'tools/call', params);
  assert.deepEqual(body.error, { code: -32002, message: 'BuddyBoss not available' });
});
await each([
  ['a wrong password', basic('admin', 'abcd efgh ijkl mnop qrst uvwx')],
  ['the password for logging in', basic('admin', 'login-of-admin')],
  ['an account of another site', basic('admin', south.people.admin.password)],
  ['nobody', {}],
], ([what, headers]) => check(`${what} is not let in`, async () => {
  for (const method of ['tools/list', 'initialize']) assert.deepEqual(await ask(headers, method), refusal(401, 'Authentication required.'));
}));
finish();

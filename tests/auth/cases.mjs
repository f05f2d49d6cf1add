// What all scripts here share: cases with a deadline, the gateway and the provider, tokens of machines.
//   node SCRIPT GATEWAY-URL PROVIDER-URL

import { strict as assert } from 'node:assert';
export { check, finish } from '../check.mjs';

export const [, , gateway, provider] = process.argv;
const SECRET = 'a-secret-that-only-tests-know';

/** A token of a machine. */
export async function token({ client = 'robot', resource = gateway, scope = 'mcp', alg } = {}) {
  const body = new URLSearchParams({ grant_type: 'client_credentials', scope });
  if (resource) body.set('resource', alg ? `${resource}?alg=${alg}` : resource);
  const authorization = `Basic ${Buffer.from(`${client}:${SECRET}`).toString('base64')}`;
  const response = await fetch(`${provider}/token`, { method: 'POST', body, headers: { authorization } });
  const answer = await response.json();
  assert.equal(response.status, 200, JSON.stringify(answer));
  return answer.access_token;
}

/** Asks the gateway for something harmless; what it answers. */
export async function ask(headers = {}, url = gateway) {
  const version = '2025-06-18';
  const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  const said = (name) => response.headers.get(name) ?? '';
  return { status: response.status, challenge: said('www-authenticate'), session: said('mcp-session-id'), body: await response.text() };
}

/** Shows a token to the gateway. */
export const show = (text) => ask({ authorization: `Bearer ${text}` });

/** A token is refused: 401, and why. */
export async function refused(text, why) {
  const { status, challenge, body } = await show(text);
  assert.equal(status, 401, `${challenge} ${body}`);
  assert.match(challenge, /^Bearer error="invalid_token", error_description="/);
  assert.ok(challenge.includes(why), `${challenge} does not say: ${why}`);
  assert.ok(!challenge.includes(text.slice(-30)) && !body.includes(text.slice(-30)), 'the token is thrown back');
}

/** A token is good enough. */
export async function accepted(text) {
  const { status, challenge, body } = await show(text);
  assert.equal(status, 200, `${challenge} ${body}`);
}

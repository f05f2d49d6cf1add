// A person consents at the provider to a server behind the gateway; the provider takes the gateway's own document as its client.
//   node described.mjs GATEWAY-URL PROVIDER-URL PUBLIC-URL

import { strict as assert } from 'node:assert';
import { check, finish } from '../check.mjs';

const [, , gateway, provider, open] = process.argv;
const here = new URL(gateway).origin;

/** Where a URL is on this machine. */
const local = (url) => new URL(String(url).replace(open, here));

let session;
/** The parameters of the page at which the provider was asked. */
let asked;

/** Sends a message; its answer. */
async function send(method, params, id) {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  if (session) headers['mcp-session-id'] = session;
  const body = JSON.stringify({ jsonrpc: '2.0', ...(id && { id }), method, params });
  const response = await fetch(gateway, { method: 'POST', headers, body });
  session ??= response.headers.get('mcp-session-id');
  const text = await response.text();
  const data = text.split('\n').filter((line) => line.startsWith('data: {')).at(-1);
  return JSON.parse(data?.slice(6) ?? (text || 'null'));
}

const call = () => send('tools/call', { name: 'echo', arguments: { text: 'hello' } }, 2);

/** Follows redirects as a browser does, with cookies for each of the two sites; the last page. */
async function browse(start, first = {}) {
  const cookies = { gateway: new Map(), provider: new Map() };
  let [url, options] = [local(start), first];
  for (let step = 0; step < 20; step += 1) {
    const kept = url.origin === here ? cookies.gateway : cookies.provider;
    const cookie = [...kept].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', ...options, headers: { ...options.headers, cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      kept.set(name, value);
    }
    const next = response.headers.get('location');
    if (!next) return { status: response.status, text: await response.text(), asked };
    if (next.startsWith(`${provider}/auth?`)) asked ??= new URL(next).searchParams;
    [url, options] = [local(new URL(next, url)), {}];
  }
  throw new Error('redirects without end');
}

await check('a person consents, and the provider takes the document', async () => {
  const told = await fetch(`${provider}/test/gate`, { method: 'POST', body: JSON.stringify({ open, here }) });
  assert.equal(told.status, 204);
  await send('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }, 1);
  await send('notifications/initialized', {});
  const refused = await call();
  const page = refused.error?.data?.authorizationUrl;
  assert.ok(page?.startsWith(`${open}/oauth/consent/`), JSON.stringify(refused));
  const form = { method: 'POST', headers: { origin: here, 'content-type': 'application/x-www-form-urlencoded' }, body: '' };
  const { status, text } = await browse(page, form);
  assert.equal(status, 200, text);
  assert.match(text, /Consent given/);
  const id = asked.get('client_id');
  assert.ok(id.startsWith(`${open}/oauth/issuer/`) && id.endsWith('/client.json'), id);
});
await check('with the token, the tool answers', async () => {
  let answer;
  for (let tried = 0; tried < 50 && !answer?.result; tried += 1) answer = await call();
  assert.match(JSON.stringify(answer.result), /hello/);
});
await check('the provider registered nobody', async () => {
  const { registered } = await (await fetch(`${provider}/test/registered`)).json();
  assert.equal(registered, 0);
});
finish();

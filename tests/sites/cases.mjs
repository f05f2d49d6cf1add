// What all scripts here share: the sites and the gateways, calls of tools, cases with a deadline.
//   node SCRIPT WORLD.json

import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
export { check, finish } from '../check.mjs';

export const { sites, networks, gateways, python } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
export const [north, south] = sites;

/** Whether the sites have WordPress 6.9 or newer: Debian's is older, and `--wordpress` names another. */
export const isNewer = Number.parseFloat(north.version) >= 6.9;

/** What a case expects from a newer WordPress, and from an older one, which by default has no such route. */
export const since = (newer, older = '404 rest_no_route') => (isNewer ? newer : older);

/** The three headers of somebody at a site. */
export const as = (site, login, password = site.people[login].password) => {
  return { 'x-wordpress-url': site.url, 'x-wordpress-username': login, 'x-wordpress-password': password };
};

/** The header of HTTP's Basic scheme. Application passwords count with and without their blanks. */
export const basic = (login, password) => ({ authorization: `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}` });

/** Calls a tool; the message that comes back. */
export async function call(headers, name, args = {}, url = gateways.wordpress) {
  const { body } = await post(headers, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }, url);
  return body;
}

/** Sends a message; the status and the answer. */
export async function post(headers, message, url = gateways.wordpress) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify(message),
  });
  return { status: response.status, body: await response.json() };
}

/** Sends a request that needs no session; the message that comes back. */
export async function stateless(headers, method, params = {}, url = gateways.extended) {
  const version = '2026-07-28';
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'sites', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const name = params.name ?? params.uri;
  const more = { 'mcp-protocol-version': version, 'mcp-method': method, ...(name && { 'mcp-name': name }), ...headers };
  const { body } = await post(more, { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }, url);
  return body;
}

/** What a tool shows. */
export async function shown(headers, name, args, url) {
  const answer = await call(headers, name, args, url);
  assert.ok(answer.result, `${name} ${JSON.stringify(args)}: ${JSON.stringify(answer.error)}`);
  assert.equal(answer.result.content.length, 1);
  return JSON.parse(answer.result.content[0].text);
}

/** A tool is refused by the site: its status and code. */
export async function refused(headers, name, args, status, code, url) {
  const { error, result } = await call(headers, name, args, url);
  assert.ok(error, `${name} ${JSON.stringify(args)} shows ${JSON.stringify(result)}`);
  assert.deepEqual([error.code, error.data?.code, error.data?.data?.status ?? status], [-32003, code, status], JSON.stringify(error));
  assert.match(error.message, /^WordPress API error: \S/);
  assert.doesNotMatch(error.message, /<\/?[a-z]|&#?\w+;/i, 'markup in a message');
  return error;
}

/** Has exactly these members, each with something in it of this kind. */
export function has(found, kinds) {
  assert.deepEqual(Object.keys(found).sort(), Object.keys(kinds).sort());
  for (const [name, kind] of Object.entries(kinds)) assert.equal(typeof found[name], kind, `${name} of ${JSON.stringify(found)}`);
}

/** Runs something for each of these at the same time, but for only as many as a site serves at once. */
export async function each(all, run) {
  const left = [...all];
  const next = async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await run(one);
  };
  await Promise.all(Array.from({ length: 4 }, next));
}

/** A picture, 1 pixel wide and high. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

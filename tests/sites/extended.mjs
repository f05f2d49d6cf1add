// The other tools of a site: everything beyond the first set, at a real site, as an administrator and as a subscriber. What is
// asked and what comes back is data, one file by topic; a tool that no case names is a failure, and so is one that changes
// something and is not tried as somebody who may do nothing.

import { strict as assert } from 'node:assert';
import { faults, isList } from '../list-sizes.mjs';
import { as, check, finish, gateways, isNewer, north, post } from './cases.mjs';
import content from './extended-content.mjs';
import design from './extended-design.mjs';
import discover from './extended-discover.mjs';
import media from './extended-media.mjs';
import menus from './extended-menus.mjs';
import people from './extended-people.mjs';
import site from './extended-site.mjs';
import terms from './extended-terms.mjs';

const TOPICS = { content, terms, media, people, site, design, menus, discover };
const VERSION = '2025-06-18';
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': VERSION };

/** What cases may name with `$`; a case adds to it with its fifth column. */
const known = {
  url: north.url,
  post: north.posts[0],
  binned: north.statuses.trash,
  page: north.page,
  news: north.terms.news,
  alpha: north.terms.alpha,
  approved: north.comments.approved,
  pending: north.comments.pending,
  picture: north.picture.id,
  pictureUrl: north.picture.url,
  ...Object.fromEntries(Object.entries(north.people).map(([login, { id }]) => [login, id])),
};

async function send(method, params, more = {}) {
  const message = { jsonrpc: '2.0', id: 1, method, params };
  return fetch(gateways.extended, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(message) });
}

/** Arguments and expectations with what is known by now; `$$` where a number is wanted as text. */
function filled(value) {
  if (typeof value === 'string') {
    const whole = /^\$(\w+)$/.exec(value);
    if (whole) return given(whole[1]);
    return value.replace(/\$?\$(\w+)/g, (_, name) => given(name));
  }
  if (Array.isArray(value)) return value.map(filled);
  if (value?.constructor === Object) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, filled(inner)]));
  return value;
}

function given(name) {
  assert.ok(name in known, `no case before this one has kept ${name}`);
  return known[name];
}

/** What is found has what is wanted: these members; for a list these entries among others; kinds by their constructor. */
function like(found, wanted, at) {
  if (typeof wanted === 'function') assert.ok(found !== undefined && found !== null && Object(found) instanceof wanted, `${at} is ${JSON.stringify(found)}, no ${wanted.name}`);
  else if (wanted instanceof RegExp) assert.match(String(found), wanted, `${at} is ${JSON.stringify(found)}, not ${wanted}`);
  else if (Array.isArray(wanted)) {
    assert.ok(Array.isArray(found), `${at} is no list: ${JSON.stringify(found)}`);
    if (wanted.length === 0) assert.deepEqual(found, [], at);
    wanted.forEach((entry) => assert.ok(found.some((one) => fits(one, entry)), `${at} has no ${show(entry)}: ${JSON.stringify(found).slice(0, 2000)}`));
  } else if (wanted && typeof wanted === 'object') {
    assert.ok(found && typeof found === 'object', `${at} is no object: ${JSON.stringify(found)}`);
    Object.entries(wanted).forEach(([name, inner]) => like(found[name], inner, `${at}.${name}`));
  } else assert.deepEqual(found, wanted, at);
}

const show = (wanted) => JSON.stringify(wanted, (_, value) => (typeof value === 'function' ? value.name : value instanceof RegExp ? String(value) : value));

function fits(found, wanted) {
  try {
    like(found, wanted, 'it');
    return true;
  } catch {
    return false;
  }
}

/** Whether a case expects that the site refuses the call. */
const isRefusal = (wanted) => typeof wanted === 'string' || wanted instanceof RegExp;

/** The words of a refusal: a result that reports a failure, or an error if it concerns the whole server. */
function refusal(result, error) {
  assert.ok(error || result?.isError, `not refused: ${JSON.stringify(result)?.slice(0, 2000)}`);
  return error ? error.message : result.content[0].text;
}

/** The tools whose answers may be anything, because the call chooses the request. */
const OPEN = ['site_request', 'site_run_ability'];

/** The largest list of each tool, by entry. */
const sizes = new Map();

async function measure(tool, args, found, text) {
  const seen = { list: tool, entries: found.count, bytes: Buffer.byteLength(text) };
  const before = sizes.get(tool);
  if (found.count === 0 || (before && before.entries >= seen.entries)) return;
  const response = await send('tools/call', { name: tool, arguments: { ...args, full: true } }, as(north, 'admin'));
  const { result } = await response.json();
  sizes.set(tool, { ...seen, full: Buffer.byteLength(result.content[0].text) });
}

/** One case: refused with this status and code, with these words, or shown with these members and no other than the tool declares. */
async function run([who, name, args, wanted, keep = {}], tool) {
  const response = await send('tools/call', { name, arguments: filled(args) }, as(north, who));
  const { result, error } = await response.json();
  if (typeof wanted === 'string') {
    const words = refusal(result, error);
    const [status, code] = wanted.split(' ');
    if (error) assert.equal(`${error.data?.status ?? ''} ${error.data?.code ?? ''}`, wanted, JSON.stringify(error));
    else assert.ok(words.includes(`HTTP ${status}`) && words.includes(code), `${wanted}: ${words}`);
    assert.match(words, /^[^<>]*\S[^<>]*$/);
    if (wanted.endsWith('rest_no_route')) assert.match(words, /may be too old/);
    return;
  }
  if (wanted instanceof RegExp) {
    assert.match(refusal(result, error), wanted, JSON.stringify(error));
    return;
  }
  assert.ok(result, JSON.stringify(error));
  const found = result.structuredContent;
  assert.deepEqual(JSON.parse(result.content[0].text), found);
  const link = result.content.find(({ type }) => type === 'resource_link');
  assert.equal(link?.uri, found.previous_content);
  const [file, ...rest] = result.content.slice(1).filter((part) => part !== link);
  assert.deepEqual(rest, []);
  if (file) {
    const { uri, mimeType, blob } = file.resource;
    const bytes = Buffer.from(blob, 'base64');
    assert.deepEqual([file.type, uri, mimeType, bytes.length], ['resource', found.uri, found.mimeType, found.size]);
    if (mimeType === 'application/zip') assert.equal(bytes.subarray(0, 4).toString('latin1'), 'PK\x03\x04');
  }
  like(found, filled(wanted), 'it');
  const declared = Object.keys(tool.outputSchema.properties ?? {});
  if (declared.length > 0 && !args.full) {
    const more = Object.keys(found).filter((key) => !declared.includes(key));
    assert.deepEqual(more, [], 'members that the tool does not declare');
  }
  if (isList(tool)) {
    const list = declared.find((name) => !['count', 'total', 'total_pages'].includes(name));
    assert.equal(found.count, found[list].length);
    if (who === 'admin' && !args.full && !args.fields) await measure(name, filled(args), found, result.content[0].text);
  } else if (!OPEN.includes(name)) {
    assert.ok(!Array.isArray(found.items), 'a list without a shape for its entries');
  }
  for (const [kept, path] of Object.entries(keep)) {
    const value = path.split('.').reduce((inner, part) => inner?.[part], found);
    assert.ok(value !== undefined, `there is no ${path} to be kept`);
    known[kept] = value;
    const number = /\/(\d+)$/.exec(value);
    if (number) known[`${kept}Id`] = Number(number[1]);
  }
}

const opened = await send('initialize', { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: 'sites', version: '1' } });
headers['mcp-session-id'] = opened.headers.get('mcp-session-id');
await opened.json();
const { result } = await (await send('tools/list', {})).json();
const tools = new Map(result.tools.map((tool) => [tool.name, tool]));
const cases = Object.values(TOPICS).flat();

await check('every other tool has its case', async () => {
  const named = (who) => new Set(cases.filter(([role]) => role === who).map(([, name]) => name));
  const [admin, subscriber] = [named('admin'), named('subscriber')];
  const first = (await post({}, { jsonrpc: '2.0', id: 1, method: 'tools/list' })).body.result.tools.map(({ name }) => name);
  assert.equal(first.length, 24);
  const others = [...tools.keys()].filter((name) => !first.includes(name));
  assert.equal(others.length, tools.size - first.length);
  assert.deepEqual([others.filter((name) => !admin.has(name)), [...admin, ...subscriber].filter((name) => !tools.has(name))], [[], []]);
  const changing = others.filter((name) => !tools.get(name).annotations.readOnlyHint);
  assert.deepEqual(changing.filter((name) => !subscriber.has(name)), []);
});
for (const [topic, rows] of Object.entries(TOPICS)) {
  for (const [number, row] of rows.entries()) {
    await check(`${topic} ${number + 1}: ${row[1]} as ${row[0]}`, () => run(row, tools.get(row[1])));
  }
}
await check('lists are short', async () => {
  const lists = [...tools.values()].filter(isList);
  for (const { name, inputSchema } of lists) {
    if (sizes.has(name) || inputSchema.required?.length > 0) continue;
    const args = 'per_page' in inputSchema.properties ? { per_page: 10 } : {};
    const { result } = await (await send('tools/call', { name, arguments: args }, as(north, 'admin'))).json();
    if (result && !result.isError) await measure(name, args, result.structuredContent, result.content[0].text);
  }
  assert.ok(sizes.size >= 35, `${sizes.size} lists`);
  // An older WordPress has no such lists.
  const there = lists.filter(({ name }) => isNewer || !cases.every(([who, tool, , wanted]) => tool !== name || who !== 'admin' || isRefusal(wanted)));
  assert.deepEqual(faults([...sizes.values()], there), []);
});
finish();

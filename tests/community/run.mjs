// Calls every tool for a community at a real site through Dragoman, as an administrator and as a plain member, and prints a
// line of JSON for each: how it went, and what the site has answered.
//   node run.mjs WORLD.json

import { existsSync, readFileSync } from 'node:fs';
import { faults, isList } from '../list-sizes.mjs';
import { measured } from './lists.mjs';
import { refunds } from './refunds.mjs';
import { undone } from './undo.mjs';

const SECONDS = 60;
const world = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const cases = (await import(`./${world.tools}.mjs`)).default;
const { people } = world.site;
const other = people.writer1.id;
const prefix = world.tools === 'woocommerce' ? 'woo' : world.tools;

/** Sends JSON and reads JSON, within the deadline. */
async function post(url, headers, message) {
  const signal = AbortSignal.timeout(SECONDS * 1000);
  const accept = 'application/json, text/event-stream';
  const response = await fetch(url, { method: 'POST', signal, headers: { 'content-type': 'application/json', accept, ...headers }, body: JSON.stringify(message) });
  const text = await response.text();
  const data = text.startsWith('{') ? text : text.split('\n').findLast((line) => line.startsWith('data: {'))?.slice('data: '.length);
  if (data === undefined && !response.ok) throw new Error(`${url}: ${response.status} ${text.slice(0, 500)}`);
  return { session: response.headers.get('mcp-session-id'), ...JSON.parse(data ?? '{}') };
}

/** Asks the gateway as one account, in a session of its own. */
async function client(login, password = people[login].password) {
  const authorization = `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`;
  const info = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'community', version: '1' } };
  const { session, error } = await post(world.gateway, { authorization }, { jsonrpc: '2.0', id: 0, method: 'initialize', params: info });
  if (error) throw new Error(JSON.stringify(error));
  const headers = { authorization, 'mcp-session-id': session, 'mcp-protocol-version': info.protocolVersion };
  await post(world.gateway, headers, { jsonrpc: '2.0', method: 'notifications/initialized' });
  return (method, params) => post(world.gateway, headers, { jsonrpc: '2.0', id: 1, method, params });
}

/** What the site's REST API has answered since `from`. */
function answers(from = 0) {
  const text = existsSync(world.answers) ? readFileSync(world.answers, 'utf8') : '';
  return text.split('\n').filter(Boolean).slice(from).map((line) => JSON.parse(line));
}

/** Makes things of one member. */
const maker = (me) => async (what, { user = me, ...more } = {}) => {
  const thing = await post(`${world.site.url}/wp-json/made/v1/${what}`, {}, { user, other: what === 'group' ? 0 : other, ...more });
  if (!(thing.id > 0)) throw new Error(`no ${what} could be made: ${JSON.stringify(thing)}`);
  return thing;
};

/** One tool as one account. */
async function tried(ask, tool, login) {
  const me = people[login].id;
  const { as, ...args } = await cases[tool.replace(`${prefix}_`, '')]({ me, other, ask, site: world.site.url, made: maker(me) });
  const asked = as ? await client(as.login, as.password) : ask;
  const before = answers().length;
  const { result, error } = await asked('tools/call', { name: tool, arguments: args });
  const seen = answers(before);
  const words = error ? error.message : result.content.map((part) => part.text).join(' ');
  const good = !error && !result.isError;
  const refusal = seen.findLast((answer) => answer.status >= 400);
  return { tool, login, good, args, refusal: good ? undefined : refusal, words: words.slice(0, good ? 300 : 600), seen };
}

/** Gives roles in groups of each kind, and reads from the site what was stored. */
async function roles(ask, me) {
  const call = async (name, args) => {
    const { result, error } = await ask('tools/call', { name: `${prefix}_${name}`, arguments: args });
    if (error || result.isError) throw new Error(`${name} ${JSON.stringify(args)}: ${JSON.stringify(error ?? result)}`);
    return JSON.parse(result.content[0].text);
  };
  for (const status of ['public', 'private', 'hidden']) {
    // The first version of BuddyPress's API wraps the answer in a list.
    const created = await call('create_group', { name: `Roles in a ${status} group ${Date.now()}`, status });
    const group = created.items?.[0] ?? created;
    for (const role of ['mod', 'admin']) {
      const member = await maker(me)('member');
      await call('add_group_member', { group_id: group.id, user_id: member.id, role });
      const stored = JSON.stringify(await call('list_group_members', { group_id: group.id, roles: role, per_page: 50, full: true }));
      if (!new RegExp(`"id":${member.id}\\b`).test(stored)) throw new Error(`${role} in a ${status} group: ${stored.slice(0, 500)}`);
    }
  }
}

for (const login of ['admin', 'subscriber']) {
  const ask = await client(login);
  const offered = (await ask('tools/list', {})).result.tools;
  const tools = offered.map((tool) => tool.name);
  const untried = tools.filter((tool) => !(tool.replace(`${prefix}_`, '') in cases));
  if (untried.length > 0 || tools.length !== Object.keys(cases).length) {
    throw new Error(`${tools.length} tools, ${Object.keys(cases).length} cases; without one: ${untried}`);
  }
  const wanted = world.only.length > 0 ? world.only : Object.keys(cases).map((name) => `${prefix}_${name}`);
  const strange = wanted.filter((tool) => !tools.includes(tool));
  if (strange.length > 0) throw new Error(`no such tools: ${strange}`);
  const good = new Set();
  for (const tool of wanted) {
    const result = await tried(ask, tool, login);
    if (result.good) good.add(tool);
    console.log(JSON.stringify(result));
  }
  if (login !== 'admin') continue;
  if (world.tools === 'woocommerce') {
    await refunds(ask);
    await undone(ask, maker(people[login].id));
  }
  // Sites that refuse a role in this row of the table refuse it in every group.
  if (good.has(`${prefix}_add_group_member`)) await roles(ask, people[login].id);
  // Without early passwords, some sites show an account less than it may see.
  if (!world.early) continue;
  const lists = [];
  for (const tool of offered.filter(({ name }) => good.has(name))) {
    const me = people[login].id;
    const args = (made) => cases[tool.name.replace(`${prefix}_`, '')]({ me, other, site: world.site.url, made });
    const size = await measured(ask, tool, args, maker(me)).catch((error) => ({ list: tool.name, failed: error.message }));
    if (size) console.log(JSON.stringify(size));
    if (size?.bytes) lists.push(size);
  }
  // A tool that the site refuses has no list; the table says why.
  const found = faults(lists, offered.filter((tool) => good.has(tool.name) && isList(tool)));
  if (found.length > 0) throw new Error(found.join('; '));
}

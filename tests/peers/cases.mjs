// The cases that every JavaScript client runs, whatever its SDK: the SDK's script hands in a `peer` with these methods.
//
//   listTools(), listPrompts(), listResources(), listTemplates()      → arrays
//   call(params, { onprogress, signal }), read(uri), prompt(params), complete(params)  → results
//   logs: texts of the log messages so far; wantLogs(): asks for them where the era has a request for that
//   changes: a `Changes`, told of `tools` and of URIs; watch({ toolsListChanged, resourceSubscriptions }) → what ends it
//
//   ping(), where the era has it
//
//   node SCRIPT WHERE ERA TOPIC:PREFIX,… FOLDER        WHERE: a URL (sse+URL, or …/sse, for HTTP+SSE), or a command as a JSON
//                                                      array. PEER_HEADERS: what HTTP requests carry, as a JSON object

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const SECONDS = 20;
/** So many cases may hang; then the rest would only hang as well. */
const HANGS = 3;
export const SAMPLE = "Said by the client's model";
const [, , where, era, topics, files = ''] = process.argv;
const servers = topics.split(',').map((pair) => pair.split(':'));
const headers = JSON.parse(process.env.PEER_HEADERS ?? '{}');
export const visit = { ...reached(where), headers, era, root: pathToFileURL(files || '.').href };

/** How the gateway is reached: `command` for a pipe, else `url`. */
function reached(where) {
  if (where.startsWith('[')) return { command: JSON.parse(where) };
  const url = new URL(where.replace(/^sse\+/, ''));
  return { url, sse: where.startsWith('sse+') || url.pathname.endsWith('/sse') };
}

let failed = 0;
let hanging = 0;
let callSent = () => {};

/** `fetch`, noticing when a tool is called. */
export function fetchWatched(url, init) {
  const response = fetch(url, init);
  if (typeof init?.body === 'string' && init.body.includes('"method":"tools/call"')) callSent();
  return response;
}

/** A pipe's transport, noticing when a tool is called. */
export function pipeWatched(transport) {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const sent = send(message, options);
    if (message.method === 'tools/call') callSent();
    return sent;
  };
  return transport;
}

/** What the server has told of: each word once for each time that it was told. */
export class Changes {
  #told = [];
  #wake = () => {};

  push(what) {
    this.#told.push(what);
    this.#wake();
  }

  async next(what) {
    while (!this.#told.includes(what)) await new Promise((wake) => { this.#wake = wake; });
    this.#told.splice(this.#told.indexOf(what), 1);
  }
}

/** Runs one case under a deadline and prints how it went. */
export async function check(name, run) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => {
      hanging += 1;
      reject(new Error(`no end within ${SECONDS} s`));
    }, SECONDS * 1000);
  });
  try {
    await Promise.race([run(), late]);
    console.log(`ok ${name}`);
    return true;
  } catch (error) {
    failed += 1;
    console.log(`not ok ${name}: ${String(error?.message ?? error).replaceAll('\n', ' ').slice(0, 400)}`);
    if (hanging >= HANGS) finish();
    return false;
  } finally {
    clearTimeout(timer);
  }
}

/** Ends the script; what an SDK leaves running does not hold it. */
export function finish() {
  process.exit(failed === 0 ? 0 : 1);
}

/** A topic with what it takes over from another one, without what its like lacks. */
function resolved(topics, name) {
  const { like, without = [], ...own } = topics[name];
  const asked = { ...(like && resolved(topics, like)), ...own };
  const kept = ([key]) => !without.includes(key);
  const stays = (item) => !without.includes(item.case ?? item.name ?? item.uri);
  return Object.fromEntries(Object.entries(asked).filter(kept).map(([key, value]) => {
    return [key, Array.isArray(value) ? value.filter(stays) : value];
  }));
}

/** What this visit asks of each server, with names as the gateway shows them. */
export function questions() {
  const text = readFileSync(new URL('questions.json', import.meta.url), 'utf8').replaceAll('$FILES', files);
  return servers.map(([topic, prefix], index) => {
    const asked = resolved(JSON.parse(text), topic);
    const shown = (item) => item && { ...item, name: prefix + item.name };
    // A URI that several servers have is the first one's.
    const only = servers.length === 1;
    const first = index === 0;
    const { cancel, change, update } = asked;
    return {
      ...asked,
      of: only ? '' : `${prefix} `,
      tools: asked.tools.map((name) => prefix + name),
      calls: asked.calls.map(shown),
      asks: asked.asks?.map(shown) ?? [],
      refused: asked.refused ?? [],
      prompts: asked.prompts?.map(shown) ?? [],
      progress: shown(asked.progress),
      logging: shown(asked.logging),
      cancel: cancel && { ...shown(cancel), counted: first ? cancel.counted : undefined },
      change: change && { trigger: prefix + change.trigger, changing: prefix + change.changing },
      update: first && update ? { ...update, trigger: prefix + update.trigger } : undefined,
      reads: asked.reads?.filter((item) => only || !item.unlisted) ?? [],
      completions: asked.completions?.map((it) => ({ ...it, prompt: it.prompt && prefix + it.prompt })) ?? [],
    };
  });
}

/** The answer of a user called Ada to a form. */
export function fillIn(schema) {
  const formats = { email: 'ada@example.com', uri: 'https://example.com/', date: '1815-12-10', 'date-time': '1815-12-10T00:00:00Z' };
  const value = (name, field) => {
    if ('default' in field) return field.default;
    const choice = (list) => list?.enum?.[0] ?? (list?.oneOf ?? list?.anyOf)?.[0]?.const;
    if (field.type === 'array') return [choice(field.items)];
    if (field.type === 'boolean') return true;
    if (field.type === 'integer' || field.type === 'number') return field.minimum ?? 1;
    return choice(field) ?? formats[field.format] ?? (name === 'email' ? formats.email : 'Ada');
  };
  const fields = Object.entries(schema.properties ?? {});
  return Object.fromEntries(fields.map(([name, field]) => [name, value(name, field)]));
}

const textOf = (content) => content.map((block) => block.text ?? '').join('\n');

/** It fails, by an error or by a result, and says so; where it matters by which of the two. */
async function mustFail(run, { says = '', by } = {}) {
  let result;
  try {
    result = await run();
  } catch (error) {
    assert.notEqual(by, 'result', `an error: ${error}`);
    assert.ok(String(error?.message ?? error).includes(says), `said ${error}`);
    return;
  }
  assert.ok(by !== 'error' && result?.isError, `a result: ${JSON.stringify(result)?.slice(0, 200)}`);
  assert.ok(textOf(result.content).includes(says), `said ${JSON.stringify(result.content).slice(0, 300)}`);
}

async function oneCall(peer, item) {
  const { name, arguments: args } = item;
  if (item.fails) return mustFail(() => peer.call({ name, arguments: args }), item);
  const result = await peer.call({ name, arguments: args });
  assert.ok(!result.isError, `it failed: ${JSON.stringify(result.content)}`);
  if (item.text) assert.ok(textOf(result.content).includes(item.text), `said ${JSON.stringify(result.content).slice(0, 300)}`);
  if (item.type) assert.ok(result.content.some((block) => block.type === item.type), `no ${item.type}`);
  if (item.structured) assert.deepEqual(result.structuredContent, item.structured);
}

async function progress(peer, { name, arguments: args, reports, text }) {
  // Both SDKs forget reports that a pipe or the one stream of HTTP+SSE brings in one piece with the result: on a busy machine
  // that can be all of them, so such a call gets further tries.
  const canForget = visit.command || visit.sse;
  let seen = [];
  for (let tries = canForget ? 5 : 1; tries > 0 && seen.length !== reports; tries--) {
    const call = [];
    const result = await peer.call({ name, arguments: args }, { onprogress: ({ progress }) => call.push(progress) });
    assert.ok(textOf(result.content).includes(text));
    assert.ok(call.length <= reports, `too many reports: ${call}`);
    assert.deepEqual(call, [...call].sort((a, b) => a - b));
    if (call.length >= seen.length) seen = call;
  }
  assert.ok(seen.length === reports || (canForget && seen.length === reports - 1), `reports: ${seen}`);
}

async function logging(peer, { name, arguments: args, messages }) {
  await peer.wantLogs();
  const before = peer.logs.length;
  await peer.call({ name, arguments: args });
  assert.deepEqual(peer.logs.slice(before), messages);
}

async function cancel(peer, { name, arguments: args, begun, counted }, elsewhere) {
  const count = async (uri) => Number((await peer.read(uri)).contents[0].text);
  // Reading is the only way to see what the upstream was told; the case's deadline bounds it.
  const more = async (uri, before) => {
    while ((await count(uri)) === before) await new Promise((go) => setImmediate(go));
  };
  const [beganBefore, endedBefore] = counted ? [await count(begun), await count(counted)] : [];
  const abort = new AbortController();
  const sent = new Promise((resolve) => { callSent = resolve; });
  const running = peer.call({ name, arguments: args }, { signal: abort.signal });
  running.catch(() => {});
  await sent;
  // Once something sent later is answered, the call has arrived.
  await (counted ? more(begun, beganBefore) : peer.prompt(elsewhere));
  abort.abort(new Error('given up'));
  await assert.rejects(running);
  if (counted) await more(counted, endedBefore);
}

const revisionIn = (text) => {
  const found = text.match(/revision (\d+)$/i);
  assert.ok(found, `no revision in ${text}`);
  return found[1];
};

/** Changes the list of tools, and sees the change once it is told of it. */
async function change(peer, { trigger, changing }) {
  const end = await peer.watch({ toolsListChanged: true });
  const now = revisionIn(textOf((await peer.call({ name: trigger, arguments: {} })).content));
  let listed;
  while (listed !== now) {
    await peer.changes.next('tools');
    listed = revisionIn((await peer.listTools()).find(({ name }) => name === changing).description);
  }
  await end();
}

/** Changes a resource, and sees the change once it is told of it. */
async function update(peer, { trigger, uri }) {
  const end = await peer.watch({ resourceSubscriptions: [uri] });
  const now = revisionIn(textOf((await peer.call({ name: trigger, arguments: {} })).content));
  let read;
  while (read !== now) {
    await peer.changes.next(uri);
    read = revisionIn((await peer.read(uri)).contents[0].text);
  }
  await end();
}

async function lists(peer, asked) {
  if (asked.tools.length > 0) {
    const names = (await peer.listTools()).map((tool) => tool.name);
    for (const name of asked.tools) assert.ok(names.includes(name), `${name} is not among ${names}`);
    assert.equal(new Set(names).size, names.length, 'a name is listed twice');
  }
  if (asked.reads.length > 0) assert.ok((await peer.listResources()).length > 0, 'no resources');
  if (asked.templates) {
    const templates = (await peer.listTemplates()).map((template) => template.uriTemplate);
    for (const template of asked.templates) assert.ok(templates.includes(template), `${template} is not among ${templates}`);
  }
  if (asked.prompts.length > 0) {
    const prompts = (await peer.listPrompts()).map((prompt) => prompt.name);
    for (const { name } of asked.prompts) assert.ok(prompts.includes(name), `${name} is not among ${prompts}`);
  }
}

async function completion(peer, { prompt, template, argument, value, values }) {
  const ref = prompt ? { type: 'ref/prompt', name: prompt } : { type: 'ref/resource', uri: template };
  const { completion } = await peer.complete({ ref, argument: { name: argument, value } });
  assert.deepEqual(completion.values, values);
}

async function oneOf(peer, asked) {
  const one = (name, run) => check(asked.of + name, run);
  for (const { method, says, why } of asked.refused) {
    // What a client has no word for, or knows better than to ask, it cannot be refused.
    if (peer[method]) await one(`${method} is refused: ${why}`, () => mustFail(() => peer[method](), { says, by: 'error' }));
  }
  if (peer.ping && !asked.refused.some(({ method }) => method === 'ping')) await one('ping', peer.ping);
  await one('lists', () => lists(peer, asked));
  for (const item of [...asked.calls, ...asked.asks]) await one(item.case, () => oneCall(peer, item));
  if (asked.progress) await one('progress', () => progress(peer, asked.progress));
  if (asked.logging) await one('logging', () => logging(peer, asked.logging));
  for (const { uri, text } of asked.reads) {
    await one(`read ${uri}`, async () => assert.ok((await peer.read(uri)).contents[0].text.includes(text)));
  }
  if (asked.missing) await one('read what is missing', () => assert.rejects(() => peer.read(asked.missing)));
  for (const { name, arguments: args, text } of asked.prompts) {
    await one(`prompt ${name}`, async () => {
      const { messages } = await peer.prompt({ name, ...(args && { arguments: args }) });
      assert.ok(textOf(messages.map((message) => message.content)).includes(text), JSON.stringify(messages));
    });
  }
  for (const item of asked.completions) await one(`completion of ${item.argument}`, () => completion(peer, item));
  if (asked.cancel) await one('cancellation', () => cancel(peer, asked.cancel, asked.prompts[0]));
  if (asked.change) await one('a changed list', () => change(peer, asked.change));
  if (asked.update) await one('a changed resource', () => update(peer, asked.update));
}

/** Runs everything that this visit asks for, server by server. */
export async function runAll(peer) {
  for (const asked of questions()) await oneOf(peer, asked);
}

// The cases that every JavaScript client runs, whatever its SDK: the SDK's script hands in a `peer` with these methods.
//
//   listTools(), listPrompts(), listResources(), listTemplates()      → arrays
//   call(params, { onprogress, signal }), read(uri), prompt(params), complete(params)  → results
//   logs: texts of the log messages so far; wantLogs(): asks for them where the era has a request for that

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const SECONDS = 20;
/** So many cases may hang; then the rest would only hang as well. */
const HANGS = 3;
export const SAMPLE = "Said by the client's model";
const [, , url, era, topic, prefix = '', files = ''] = process.argv;
export const visit = { url: new URL(url), era, root: pathToFileURL(files || '.').href };

let failed = 0;
let hanging = 0;
let callSent = () => {};

/** `fetch`, noticing when a tool is called. */
export function fetchWatched(url, init) {
  const response = fetch(url, init);
  if (typeof init?.body === 'string' && init.body.includes('"method":"tools/call"')) callSent();
  return response;
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

/** What this visit asks for, with names as the gateway shows them. */
export function questions() {
  const text = readFileSync(new URL('questions.json', import.meta.url), 'utf8').replaceAll('$FILES', files);
  const asked = JSON.parse(text)[topic];
  const shown = (item) => ({ ...item, name: prefix + item.name });
  return {
    resources: 'reads' in asked,
    ...asked,
    tools: asked.tools.map((name) => prefix + name),
    calls: asked.calls.map(shown),
    asks: asked.asks.map(shown),
    prompts: (asked.prompts ?? []).map(shown),
    progress: asked.progress && shown(asked.progress),
    logging: asked.logging && shown(asked.logging),
    cancel: asked.cancel && shown(asked.cancel),
    completions: (asked.completions ?? []).map((it) => ({ ...it, prompt: it.prompt && prefix + it.prompt })),
  };
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

async function mustFail(run) {
  let result;
  try {
    result = await run();
  } catch {
    return;
  }
  assert.equal(result.isError, true, `it succeeded: ${JSON.stringify(result).slice(0, 200)}`);
}

async function oneCall(peer, item) {
  const { name, arguments: args } = item;
  if (item.fails) return mustFail(() => peer.call({ name, arguments: args }));
  const result = await peer.call({ name, arguments: args });
  assert.ok(!result.isError, `it failed: ${JSON.stringify(result.content)}`);
  if (item.text) assert.ok(textOf(result.content).includes(item.text), `said ${JSON.stringify(result.content).slice(0, 300)}`);
  if (item.type) assert.ok(result.content.some((block) => block.type === item.type), `no ${item.type}`);
  if (item.structured) assert.deepEqual(result.structuredContent, item.structured);
}

async function progress(peer, { name, arguments: args, reports, text }) {
  const seen = [];
  const result = await peer.call({ name, arguments: args }, { onprogress: ({ progress }) => seen.push(progress) });
  assert.ok(textOf(result.content).includes(text));
  assert.equal(seen.length, reports, `reports: ${seen}`);
  assert.deepEqual(seen, [...seen].sort((a, b) => a - b));
}

async function logging(peer, { name, arguments: args, messages }) {
  await peer.wantLogs();
  const before = peer.logs.length;
  await peer.call({ name, arguments: args });
  assert.deepEqual(peer.logs.slice(before), messages);
}

async function cancel(peer, { name, arguments: args, counted }, elsewhere) {
  const count = async () => Number((await peer.read(counted)).contents[0].text);
  const before = counted ? await count() : 0;
  const abort = new AbortController();
  const sent = new Promise((resolve) => { callSent = resolve; });
  const running = peer.call({ name, arguments: args }, { signal: abort.signal });
  running.catch(() => {});
  // Once it is sent and something sent later is answered, the call has arrived.
  await sent;
  await peer.read(elsewhere);
  abort.abort(new Error('given up'));
  await assert.rejects(running);
  // Reading is the only way to see that the upstream was told; the case's deadline bounds it.
  while (counted && (await count()) === before) await new Promise((go) => setImmediate(go));
}

async function lists(peer, asked) {
  const names = (await peer.listTools()).map((tool) => tool.name);
  for (const name of asked.tools) assert.ok(names.includes(name), `${name} is not among ${names}`);
  assert.equal(new Set(names).size, names.length, 'a name is listed twice');
  if (!asked.resources) return;
  assert.ok((await peer.listResources()).length > 0, 'no resources');
  const templates = (await peer.listTemplates()).map((template) => template.uriTemplate);
  for (const template of asked.templates) assert.ok(templates.includes(template), `${template} is not among ${templates}`);
  const prompts = (await peer.listPrompts()).map((prompt) => prompt.name);
  for (const { name } of asked.prompts) assert.ok(prompts.includes(name), `${name} is not among ${prompts}`);
}

async function completion(peer, { prompt, template, argument, value, values }) {
  const ref = prompt ? { type: 'ref/prompt', name: prompt } : { type: 'ref/resource', uri: template };
  const { completion } = await peer.complete({ ref, argument: { name: argument, value } });
  assert.deepEqual(completion.values, values);
}

/** Runs everything that this visit asks for. */
export async function runAll(peer) {
  const asked = questions();
  await check('lists', () => lists(peer, asked));
  for (const item of [...asked.calls, ...asked.asks]) await check(item.case, () => oneCall(peer, item));
  if (asked.progress) await check('progress', () => progress(peer, asked.progress));
  if (asked.logging) await check('logging', () => logging(peer, asked.logging));
  if (asked.cancel) await check('cancellation', () => cancel(peer, asked.cancel, asked.reads[0].uri));
  for (const { uri, text } of asked.reads ?? []) {
    await check(`read ${uri}`, async () => assert.ok((await peer.read(uri)).contents[0].text.includes(text)));
  }
  if (asked.missing) await check('read what is missing', () => assert.rejects(() => peer.read(asked.missing)));
  for (const { name, arguments: args, text } of asked.prompts) {
    await check(`prompt ${name}`, async () => {
      const { messages } = await peer.prompt({ name, ...(args && { arguments: args }) });
      assert.ok(textOf(messages.map((message) => message.content)).includes(text), JSON.stringify(messages));
    });
  }
  for (const item of asked.completions) await check(`completion of ${item.argument}`, () => completion(peer, item));
}

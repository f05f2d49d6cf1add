// An MCP server over standard input and output, for the journeys: it asks, fails, changes its definitions, and is hostile, as its
// argument says. It has version 2025-06-18, or 2026-07-28 with the argument `modern`. A tool's description is read from the file
// `DESCRIPTION` with each list.

import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [mode = 'plain', file, amount = '0'] = process.argv.slice(2);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (words, rest = {}) => ({ content: [{ type: 'text', text: words }], ...rest });
const object = { type: 'object' };
/** The text of the file `DESCRIPTION` when the tool is gone. */
const GONE = 'gone';
const HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(2)>\u202egnp.exe\u0000\u001b[31mred';

/** The answers to questions that are awaited, by id. */
const awaited = new Map();
let questions = 0;
const ask = (params) => new Promise((resolve) => {
  const id = `q${questions += 1}`;
  awaited.set(id, resolve);
  send({ id, method: 'elicitation/create', params });
});

const TOOLS = {
  plain: () => (file && readFileSync(file, 'utf8') === GONE ? [] : [
    { name: 'greet', description: file ? readFileSync(file, 'utf8') : 'Returns a greeting.', inputSchema: { ...object, properties: { name: { type: 'string', description: 'The person to greet.' } }, required: ['name'] }, annotations: { readOnlyHint: true } },
  ]).concat([
    { name: 'ask', description: 'Asks for a color, and returns it.', inputSchema: object },
    { name: 'delete_post', description: 'Deletes a post.', inputSchema: { ...object, properties: { id: { type: 'integer' }, password: { type: 'string' } } }, annotations: { destructiveHint: true } },
  ]),
  hostile: () => [1_000_000, 200_000].map((length, number) => ({ name: number === 0 ? 'long' : 'x<b>y</b>', title: HOSTILE, description: HOSTILE + 'x'.repeat(length), inputSchema: { ...object, properties: { '<img src=x onerror=alert(3)>': { type: 'string', description: HOSTILE } } } })),
  many: () => Array.from({ length: Number(amount) }, (_, number) => ({ name: `tool_${number}`, description: `Does the thing with number ${number}.`, inputSchema: { ...object, properties: { value: { type: 'string' } } } })),
};

async function call({ name, arguments: given = {} }) {
  if (name === 'ask') {
    const answer = await ask({ message: 'Which color do you like?', requestedSchema: { ...object, properties: { color: { type: 'string', enum: ['red', 'green'] } }, required: ['color'] } });
    return text(`You said ${answer?.content?.color ?? answer?.action}.`);
  }
  if (name === 'delete_post') return { content: ['The post does not exist.', JSON.stringify({ given })].map((words) => ({ type: 'text', text: words })), isError: true };
  return text(`Hello, ${given.name}!`);
}

const isModern = mode === 'modern';
/** A result, with what only version 2026-07-28 has. */
const finished = (result) => (isModern ? { ...result, resultType: 'complete' } : result);
const kept = (result) => finished(isModern ? { ...result, ttlMs: 60_000, cacheScope: 'public' } : result);

if (mode === 'hostile') process.stderr.write(`${HOSTILE}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result } = JSON.parse(line);
  if (method === undefined) {
    awaited.get(id)?.(result);
    awaited.delete(id);
  } else if (method === 'server/discover' && isModern) {
    send({ id, result: kept({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }) });
  } else if (method === 'initialize' && !isModern) {
    send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: { listChanged: true } }, serverInfo: { name: mode, version: '1' } } });
  } else if (method === 'tools/list') {
    send({ id, result: kept({ tools: TOOLS[isModern ? 'plain' : mode]() }) });
  } else if (method === 'tools/call') {
    call(params).then((answer) => send({ id, result: finished(answer) }));
  } else if (id !== undefined) {
    send(method === 'ping' ? { id, result: {} } : { id, error: { code: -32601, message: 'unknown method' } });
  }
}

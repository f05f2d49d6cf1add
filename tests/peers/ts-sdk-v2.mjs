// TypeScript SDK v2 (`@modelcontextprotocol/client`) as a client of either era, over any transport.
//   node ts-sdk-v2.mjs WHERE legacy|fallback|auto|modern TOPIC:PREFIX,… FOLDER
//
// `fallback`: it may find out by itself, and finds a server with a handshake.

import assert from 'node:assert/strict';
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Changes, SAMPLE, check, fetchWatched, fillIn, finish, pipeWatched, runAll, visit } from './cases.mjs';

const NEWEST = '2026-07-28';
const stateless = visit.era === 'auto' || visit.era === 'modern';
const mode = { modern: { pin: NEWEST }, fallback: 'auto' }[visit.era] ?? visit.era;
const capabilities = { sampling: {}, elicitation: { form: {} }, roots: {} };
const client = new Client({ name: 'ts-sdk-v2', version: '2.4.0' }, { capabilities, versionNegotiation: { mode } });
const logs = [];
const changes = new Changes();
client.setRequestHandler('sampling/createMessage', () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: SAMPLE } }));
client.setRequestHandler('elicitation/create', ({ params }) => ({ action: 'accept', content: fillIn(params.requestedSchema) }));
client.setRequestHandler('roots/list', () => ({ roots: [{ uri: visit.root, name: 'files' }] }));
client.setNotificationHandler('notifications/message', ({ params }) => { logs.push(params.data); });
client.setNotificationHandler('notifications/tools/list_changed', () => { changes.push('tools'); });
client.setNotificationHandler('notifications/resources/updated', ({ params }) => { changes.push(params.uri); });

function newTransport() {
  if (visit.command) {
    const [command, ...args] = visit.command;
    return pipeWatched(new StdioClientTransport({ command, args, env: process.env }));
  }
  const Transport = visit.sse ? SSEClientTransport : StreamableHTTPClientTransport;
  return new Transport(visit.url, { fetch: fetchWatched, requestInit: { headers: visit.headers } });
}

async function watch(filter) {
  if (stateless) {
    const subscription = await client.listen(filter);
    return () => subscription.close();
  }
  const { resourceSubscriptions: uris = [] } = filter;
  for (const uri of uris) await client.subscribeResource({ uri });
  return async () => {
    for (const uri of uris) await client.unsubscribeResource({ uri });
  };
}

const transport = newTransport();
const connected = await check(stateless ? 'discover' : 'initialize', async () => {
  await client.connect(transport);
  assert.equal(client.getProtocolEra(), stateless ? 'modern' : 'legacy');
});
if (connected) {
  // Without sessions, each request says for itself which logs it wants.
  const meta = stateless ? { _meta: { 'io.modelcontextprotocol/logLevel': 'debug' } } : {};
  await runAll({
    ping: stateless ? undefined : () => client.ping(),
    logs,
    changes,
    watch,
    wantLogs: async () => { if (!stateless) await client.setLoggingLevel('debug'); },
    listTools: async () => (await client.listTools()).tools,
    listPrompts: async () => (await client.listPrompts()).prompts,
    listResources: async () => (await client.listResources()).resources,
    listTemplates: async () => (await client.listResourceTemplates()).resourceTemplates,
    call: (params, options) => client.callTool({ ...params, ...meta }, options),
    read: (uri) => client.readResource({ uri }, { cacheMode: 'bypass' }),
    prompt: ({ name, arguments: args }) => client.getPrompt({ name, arguments: args }),
    complete: (params) => client.complete(params),
  });
  await check('end', async () => {
    if (!stateless) await transport.terminateSession?.();
    await client.close();
  });
}
finish();

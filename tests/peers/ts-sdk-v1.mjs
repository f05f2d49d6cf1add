// TypeScript SDK v1 (`@modelcontextprotocol/sdk`) as a client: versions with a handshake, over any transport.
//   node ts-sdk-v1.mjs WHERE ERA TOPIC:PREFIX,… FOLDER

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema, LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema, ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { Changes, SAMPLE, check, fetchWatched, fillIn, finish, pipeWatched, runAll, visit } from './cases.mjs';

const capabilities = { sampling: {}, elicitation: { form: {} }, roots: { listChanged: true } };
const client = new Client({ name: 'ts-sdk-v1', version: '1.32.2' }, { capabilities });
const logs = [];
const changes = new Changes();
client.setRequestHandler(CreateMessageRequestSchema, () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: SAMPLE } }));
client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({ action: 'accept', content: fillIn(params.requestedSchema) }));
client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: visit.root, name: 'files' }] }));
client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => { logs.push(params.data); });
client.setNotificationHandler(ToolListChangedNotificationSchema, () => { changes.push('tools'); });
client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => { changes.push(params.uri); });

function newTransport() {
  if (visit.command) {
    const [command, ...args] = visit.command;
    return pipeWatched(new StdioClientTransport({ command, args, env: process.env }));
  }
  const Transport = visit.sse ? SSEClientTransport : StreamableHTTPClientTransport;
  return new Transport(visit.url, { fetch: fetchWatched, requestInit: { headers: visit.headers } });
}

async function watch({ resourceSubscriptions = [] }) {
  for (const uri of resourceSubscriptions) await client.subscribeResource({ uri });
  return async () => {
    for (const uri of resourceSubscriptions) await client.unsubscribeResource({ uri });
  };
}

const transport = newTransport();
const connected = await check('initialize', () => client.connect(transport));
if (connected) {
  await runAll({
    ping: () => client.ping(),
    logs,
    changes,
    watch,
    wantLogs: () => client.setLoggingLevel('debug'),
    listTools: async () => (await client.listTools()).tools,
    listPrompts: async () => (await client.listPrompts()).prompts,
    listResources: async () => (await client.listResources()).resources,
    listTemplates: async () => (await client.listResourceTemplates()).resourceTemplates,
    call: (params, options) => client.callTool(params, undefined, options),
    read: (uri) => client.readResource({ uri }),
    prompt: ({ name, arguments: args }) => client.getPrompt({ name, arguments: args }),
    complete: (params) => client.complete(params),
  });
  await check('end of the session', async () => {
    await transport.terminateSession?.();
    await client.close();
  });
}
finish();

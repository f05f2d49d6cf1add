// TypeScript SDK v1 (`@modelcontextprotocol/sdk`) as a client: versions with a handshake.
//   node ts-sdk-v1.mjs URL ERA TOPIC PREFIX FOLDER

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema, LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { SAMPLE, check, fetchWatched, fillIn, finish, runAll, visit } from './cases.mjs';

const capabilities = { sampling: {}, elicitation: { form: {} }, roots: { listChanged: true } };
const client = new Client({ name: 'ts-sdk-v1', version: '1.32.2' }, { capabilities });
const logs = [];
client.setRequestHandler(CreateMessageRequestSchema, () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: SAMPLE } }));
client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({ action: 'accept', content: fillIn(params.requestedSchema) }));
client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: visit.root, name: 'files' }] }));
client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => { logs.push(params.data); });

const transport = new StreamableHTTPClientTransport(visit.url, { fetch: fetchWatched });
const connected = await check('initialize', () => client.connect(transport));
if (connected) {
  await check('ping', () => client.ping());
  await runAll({
    logs,
    wantLogs: () => client.setLoggingLevel('debug'),
    listTools: async () => (await client.listTools()).tools,
    listPrompts: async () => (await client.listPrompts()).prompts,
    listResources: async () => (await client.listResources()).resources,
    listTemplates: async () => (await client.listResourceTemplates()).resourceTemplates,
    call: (params, options) => client.callTool(params, undefined, options),
    read: (uri) => client.readResource({ uri }),
    prompt: (params) => client.getPrompt(params),
    complete: (params) => client.complete(params),
  });
  await check('end of the session', async () => {
    await transport.terminateSession();
    await client.close();
  });
}
finish();

// The driver of the conformance suite's client mode. The suite is the upstream and judges what Dragoman sends; this script
// starts Dragoman with the suite's mock server as its only upstream, does as a client what the scenario needs, and stops it.
//   DRAGOMAN=program MCP_CONFORMANCE_SCENARIO=name node conformance-client.mjs URL

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const NEWEST = '2026-07-28';
const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const version = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const stateless = version === NEWEST;
const folder = mkdtempSync(join(tmpdir(), 'conformance-'));

/** Starts the gateway; its address once it says it. */
async function startGateway(upstream) {
  const config = join(folder, 'dragoman.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { mock: { url: upstream } }, profiles: { default: { names: 'plain' } } }));
  const child = spawn(process.env.DRAGOMAN, ['serve', '--listen', '127.0.0.1:0', '--config', config], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const address = await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        console.error(`dragoman: ${line}`);
        const found = line.match(/ serves http:\/\/(?:127\.0\.0\.1|localhost):([1-9]\d*)/);
        if (found) resolve(new URL(`http://127.0.0.1:${found[1]}/mcp`));
      });
    }
    ended.then(() => reject(new Error('dragoman ended before it listened')));
  });
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  return { address, stop };
}

/** A user who agrees to everything and leaves each field at its default. */
function agree({ params }) {
  const fields = Object.entries(params.requestedSchema?.properties ?? {});
  const content = fields.map(([name, field]) => [name, 'default' in field ? field.default : field.type === 'boolean' ? true : 'x']);
  return { action: 'accept', content: Object.fromEntries(content) };
}

function newClient() {
  const capabilities = { sampling: {}, elicitation: { form: { applyDefaults: true } }, roots: {} };
  const mode = stateless ? { pin: NEWEST } : 'legacy';
  const client = new Client({ name: 'conformance-driver', version: '1.0.0' }, { capabilities, versionNegotiation: { mode } });
  client.setRequestHandler('elicitation/create', agree);
  client.setRequestHandler('sampling/createMessage', () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: 'x' } }));
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///srv/files', name: 'files' }] }));
  return client;
}

/** One stateless request without an SDK in between, which would hide or refuse things by itself. */
async function raw(address, method, params = {}, headers = {}) {
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': NEWEST,
    'io.modelcontextprotocol/clientInfo': { name: 'conformance-driver', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const response = await fetch(address, {
    method: 'POST',
    headers: {
      'content-type': 'application/json', accept: 'application/json, text/event-stream',
      'mcp-protocol-version': NEWEST, 'mcp-method': method, ...(params.name && { 'mcp-name': params.name }), ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: envelope } }),
  });
  const text = await response.text();
  const message = text.startsWith('{') ? text : text.split('\n').filter((line) => line.startsWith('data: ')).at(-1).slice(6);
  return JSON.parse(message);
}

async function useEverything(client) {
  for (const { name } of (await client.listTools()).tools) await client.callTool({ name, arguments: {} });
  for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri });
  for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name });
}

async function callListedTools(client) {
  const { tools } = await client.listTools();
  assert.ok(tools.length > 0, 'no tools are listed');
  for (const { name } of tools) await client.callTool({ name, arguments: {} });
}

// A gateway hides what a client must not call, so all that is left may be called.
async function callWhatIsLeft(_, address) {
  const { tools } = (await raw(address, 'tools/list')).result;
  const args = { region: 'eu', value: 'x' };
  for (const { name, inputSchema } of tools) {
    const headers = {};
    for (const [field, schema] of Object.entries(inputSchema.properties)) {
      if (schema['x-mcp-header'] === 'Region') headers['mcp-param-region'] = args[field];
    }
    await raw(address, 'tools/call', { name, arguments: args }, headers);
  }
}

async function echoSchema(_, address) {
  const client = newClient();
  await client.connect(new StreamableHTTPClientTransport(address));
  const { tools } = stateless ? (await raw(address, 'tools/list')).result : await client.listTools();
  const { inputSchema } = tools.find(({ name }) => name === 'json_schema_2020_12_tool');
  const echo = tools.find(({ name }) => name.startsWith('json_schema_echo'));
  await client.callTool({ name: echo.name, arguments: { schema: inputSchema } });
  await client.close();
}

const drive = {
  initialize: (client) => client.listTools(),
  tools_call: (client) => client.callTool({ name: 'add_numbers', arguments: { a: 5, b: 3 } }),
  'sse-retry': callListedTools,
  'elicitation-sep1034-client-defaults': callListedTools,
  'request-metadata': async (client) => {
    await client.listTools();
    await client.discover();
  },
  'http-standard-headers': useEverything,
  'http-custom-headers': async (client) => {
    await client.listTools();
    for (const { name, arguments: args } of context.toolCalls) {
      await client.callTool({ name, arguments: args });
    }
  },
  'http-invalid-tool-headers': callWhatIsLeft,
  'sep-2322-client-request-state': async (client, address) => {
    const call = (name) => client.callTool({ name, arguments: {} });
    await Promise.all([call('test_mrtr_echo_state'), call('test_mrtr_unrelated')]);
    await call('test_mrtr_no_state');
    // The SDK refuses a result without its type; what counts here is that Dragoman does not ask again.
    const { result } = await raw(address, 'tools/call', { name: 'test_mrtr_no_result_type', arguments: {} });
    assert.ok(Array.isArray(result.content), JSON.stringify(result));
  },
  'json-schema-ref-no-deref': (client) => client.listTools(),
  'json-schema-2020-12-preservation': echoSchema,
}[scenario];

assert.ok(drive, `no part for the scenario ${scenario}`);
const gateway = await startGateway(process.argv[2]);
try {
  const client = newClient();
  await client.connect(new StreamableHTTPClientTransport(gateway.address));
  await drive(client, gateway.address);
  await client.close();
} finally {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);

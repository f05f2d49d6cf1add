// The SDKs for TypeScript list everything of a gateway whose server `up` is `malformed-server.mjs`.
//   node malformed.mjs URL

import assert from 'node:assert/strict';
import { Client as Stateless, StreamableHTTPClientTransport as StatelessTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { check, finish } from '../check.mjs';

const url = new URL(process.argv[2]);
const info = { name: 'malformed', version: '1' };
/** Items that cannot be understood. */
const LEFT_OUT = ['string_schema', 'array_schema', 'properties_string', 'property_string', 'property_number', 'title', 'description', 'meta_number'];
const CLIENTS = {
  'SDK 1': [new Client(info), new StreamableHTTPClientTransport(url)],
  'SDK 2, with a session': [new Stateless(info, { versionNegotiation: { mode: 'legacy' } }), new StatelessTransport(url)],
  'SDK 2, stateless': [new Stateless(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } }), new StatelessTransport(url)],
};

for (const [name, [client, transport]] of Object.entries(CLIENTS)) {
  await check(`${name} lists everything of a server with malformed items`, async () => {
    await client.connect(transport);
    const tools = (await client.listTools()).tools.map((tool) => tool.name);
    for (const wanted of ['up__good', 'up__properties_array', 'up__required_string', 'up__hint', 'up__icon_theme', 'up__task']) {
      assert.ok(tools.includes(wanted), `no ${wanted} among ${tools.join(' ')}`);
    }
    assert.deepEqual(tools.filter((tool) => LEFT_OUT.includes(tool.replace('up__', ''))), []);
    assert.deepEqual((await client.listPrompts()).prompts.map((prompt) => prompt.name), ['up__good', 'up__arguments_null']);
    const resources = (await client.listResources()).resources.map((resource) => resource.name);
    for (const wanted of ['good', 'audience', 'priority', 'modified', 'annotations']) assert.ok(resources.includes(wanted), `no ${wanted} among ${resources.join(' ')}`);
    const templates = (await client.listResourceTemplates()).resourceTemplates.map((template) => template.name);
    assert.deepEqual(templates, ['good', 'a:{nameless}', 'audience']);
    await client.close();
  });
}
finish();

// A server over stdio whose lists contain items that violate the protocol, each in its own way, and one proper item in each list. Some
// SDKs refuse a whole list because of one such item.

import { createInterface } from 'node:readline';

const OBJECT = { type: 'object' };
const input = (more) => ({ inputSchema: { ...OBJECT, ...more } });
const output = (more) => ({ inputSchema: OBJECT, outputSchema: { ...OBJECT, ...more } });
const plain = (more) => ({ inputSchema: OBJECT, ...more });
const icon = (more) => plain({ icons: [{ src: 'data:image/png;base64,AA==', ...more }] });

const tools = {
  good: plain({}),
  no_schema: {}, null_schema: { inputSchema: null }, untyped: { inputSchema: {} }, string_schema: { inputSchema: 'x' }, array_schema: { inputSchema: { type: 'array' } },
  properties_array: input({ properties: [] }), properties_null: input({ properties: null }), properties_string: input({ properties: 'x' }),
  property_true: input({ properties: { p: true } }), property_false: input({ properties: { p: false } }), property_null: input({ properties: { p: null } }),
  property_string: input({ properties: { p: 'string' } }), property_array: input({ properties: { p: [] } }), property_number: input({ properties: { p: 5 } }),
  required_string: input({ required: 'p' }), required_null: input({ required: null }), required_true: input({ required: true }),
  required_numbers: input({ required: [1] }), required_object: input({ required: {} }),
  output_number: plain({ outputSchema: 3 }), output_properties_array: output({ properties: [] }), output_property_true: output({ properties: { p: true } }),
  output_property_string: output({ properties: { p: 'string' } }), output_required: output({ required: 'p' }),
  title: plain({ title: 4 }), description: plain({ description: 4 }), description_null: plain({ description: null }),
  annotations: plain({ annotations: 'x' }), hint: plain({ annotations: { readOnlyHint: 'yes' } }), hint_title: plain({ annotations: { title: 1 } }),
  task: plain({ execution: { taskSupport: 'maybe' } }), execution: plain({ execution: 'x' }),
  icons: plain({ icons: 'x' }), icon_without_source: plain({ icons: [{}] }), icon_sizes: icon({ sizes: '48x48' }), icon_theme: icon({ theme: 'blue' }), icon_type: icon({ mimeType: 1 }),
  meta_array: plain({ _meta: [] }), meta_number: plain({ _meta: 3 }),
  dialect: input({ $schema: 7 }), definitions: input({ $defs: [] }), additional: input({ additionalProperties: 'x' }),
};
const prompts = [
  { name: 'good' }, { name: 'arguments_object', arguments: {} }, { name: 'arguments_null', arguments: null },
  { name: 'required', arguments: [{ name: 'x', required: 'yes' }] }, { name: 'nameless', arguments: [{}] }, { name: 7 }, {}, 5, null,
];
const annotated = (name, annotations) => ({ uri: `a:${name}`, name, annotations });
const resources = [
  { uri: 'a:good', name: 'good' }, annotated('audience', { audience: ['bot'] }), annotated('audience_string', { audience: 'user' }),
  annotated('priority', { priority: 5 }), annotated('priority_string', { priority: '1' }), annotated('modified', { lastModified: 'yesterday' }),
  annotated('modified_date', { lastModified: '2025-01-12' }), annotated('annotations', 'x'),
  { uri: 'a:nameless' }, { uri: 'a:size', name: 'size', size: '4' }, { uri: 'no uri', name: 'no uri' }, { uri: 'a:theme', name: 'theme', icons: [{ src: 'x', theme: 'blue' }] },
  { name: 'no uri at all' }, { uri: 7, name: 'number' }, 'x',
];
const resourceTemplates = [
  { uriTemplate: 'a:{good}', name: 'good' }, { uriTemplate: 'a:{nameless}' }, { uriTemplate: 'a:{audience}', name: 'audience', annotations: { audience: ['bot'] } }, { name: 'no template' },
];
const named = Object.entries(tools).map(([name, tool]) => ({ name, ...tool }));
const LISTS = {
  'tools/list': { tools: [...named, { inputSchema: OBJECT }, { name: 7, inputSchema: OBJECT }, 5, null, [], 'x'] },
  'prompts/list': { prompts },
  'resources/list': { resources },
  'resources/templates/list': { resourceTemplates },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const newest = '2025-11-25';
  const hello = { capabilities: { tools: {}, prompts: {}, resources: {} }, serverInfo: { name: 'malformed', version: '1' } };
  const result = method === 'initialize' ? { ...hello, protocolVersion: params.protocolVersion < newest ? params.protocolVersion : newest }
    : method === 'ping' ? {} : LISTS[method];
  const answer = result ? { result } : { error: { code: -32601, message: `no method ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
}

// An MCP server over stdio that lists exactly the tools of a file, one JSON object a line, byte for byte.
//   node serve.mjs FILE

import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const tools = readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean).join(',');

const results = {
  initialize: ({ protocolVersion }) =>
    JSON.stringify({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'recorded', version: '1' } }),
  ping: () => '{}',
  'tools/list': () => `{"tools":[${tools}]}`,
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = results[method]
    ? `"result":${results[method](params)}`
    : '"error":{"code":-32601,"message":"only lists"}';
  process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${answer}}\n`);
}

// Serves recorded lists of tools, each at the path of its server (`/NAME/mcp`), over Streamable HTTP with plain JSON answers.
//   node lists.mjs RECORDED
//
// A call is answered with the name of the tool. Knows nothing of the tests that use it.

import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';

const VERSION = '2025-06-18';
const lists = new Map();
for (const line of readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean)) {
  const { server } = JSON.parse(line);
  if (!lists.has(server)) lists.set(server, []);
  lists.get(server).push(line.slice(line.indexOf('"tool":') + '"tool":'.length, -1));
}

function answer(server, { method, params }) {
  if (method === 'initialize') {
    return JSON.stringify({ protocolVersion: VERSION, capabilities: { tools: {} }, serverInfo: { name: server, version: '1' } });
  }
  if (method === 'ping') return '{}';
  if (method === 'tools/list') return `{"tools":[${lists.get(server).join(',')}]}`;
  if (method === 'tools/call') return JSON.stringify({ content: [{ type: 'text', text: `called ${params.name}` }] });
  return undefined;
}

function reply(server, message) {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)}`;
  const result = answer(server, message);
  if (result === undefined) return `${head},"error":{"code":-32601,"message":"no such method"}}`;
  return `${head},"result":${result}}`;
}

const http = createServer(async (request, response) => {
  const server = request.url.split('/')[1];
  if (request.method !== 'POST' || !lists.has(server)) return response.writeHead(405).end();
  let body = '';
  for await (const part of request) body += part;
  const message = JSON.parse(body);
  if (message.id === undefined) return response.writeHead(202).end();
  return response.writeHead(200, { 'Content-Type': 'application/json' }).end(reply(server, message));
});
http.listen(0, '127.0.0.1', () => console.log(`lists at http://127.0.0.1:${http.address().port}`));

// A host of MCP Apps: the SDK's client and its `AppBridge`, with the pages in a real browser, behind profiles of two official example
// servers each.
//   node host.mjs DRAGOMAN FOLDER
//
// Prints `ok CASE` or `not ok CASE: why`. Both versions with MCP Apps are tried. A case in which no call of a page is checked says why.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { AppBridge, RESOURCE_MIME_TYPE, getToolUiResourceUri, isToolVisibilityAppOnly } from '@modelcontextprotocol/ext-apps/app-bridge';
import { check, finish } from '../check.mjs';
import { EXAMPLES, TIME_PAGE, prepared } from './examples.mjs';
import { browser, frame } from './pages.mjs';

const [dragoman, folder] = process.argv.slice(2);
if (!folder) {
  console.error('usage: node host.mjs DRAGOMAN FOLDER');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });

const PREPARED = Object.fromEntries(EXAMPLES.map((example) => [example.name, prepared(example, folder)]));
const SERVERS = Object.fromEntries(Object.entries(PREPARED).map(([name, { server }]) => [name, server]));
/** Two servers with the same tool, and a page with the same URI. */
const ALIKE = ['basic-vanillajs', 'basic-preact'];
/** The examples of each pair. Their tools have different names, so that pages can call them by the servers' own names. */
const PAIRS = EXAMPLES.slice(0, EXAMPLES.length / 2).map((example, at) => [example, EXAMPLES[at + EXAMPLES.length / 2]]);
const PROFILES = {
  ...Object.fromEntries(PAIRS.map((pair, at) => [`pair-${at}`, { servers: pair.map(({ name }) => name) }])),
  alike: { servers: ALIKE },
};

/** Starts the gateway, and returns its address once it serves. */
async function gateway() {
  const config = join(folder, 'apps.json');
  writeFileSync(config, JSON.stringify({ listen: '127.0.0.1:0', ready: 'all', mcpServers: SERVERS, profiles: PROFILES, stateFolder: folder }));
  const process_ = spawn(dragoman, ['serve', '--config', config], { stdio: ['ignore', 'pipe', 'pipe'] });
  process.on('exit', () => process_.kill());
  const said = [];
  return new Promise((resolve, reject) => {
    process_.on('exit', (code) => reject(new Error(`the gateway ended with ${code}: ${said.join(' | ')}`)));
    for (const stream of [process_.stdout, process_.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        said.push(line);
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(line);
        if (found) resolve(found[0]);
      });
    }
  });
}

/** Waits until all servers have listed their tools. */
async function ready(url) {
  while (!(await fetch(`${url}/ready`)).ok) await new Promise((resolve) => { setTimeout(resolve, 50); });
}

/** A client of a version, connected to a profile. */
async function connected(url, profile, era) {
  const capabilities = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [RESOURCE_MIME_TYPE] } } };
  const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  const client = new Client({ name: 'host', version: '1' }, { capabilities, versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp/${profile}`)));
  assert.equal(client.getProtocolEra(), era);
  return client;
}

/** Reads the page of a tool. */
async function read(client, tool) {
  const uri = getToolUiResourceUri(tool);
  const { contents: [page] } = await client.readResource({ uri });
  assert.equal(page.uri, uri);
  assert.equal(page.mimeType, RESOURCE_MIME_TYPE);
  assert.match(page.text.slice(0, 200), /<html/i);
  return page.text;
}

/** Shows the page of a tool, and gives it the result of a call of this tool. Returns the page, and the answers that it gets. */
async function shown(opened, client, tool, { args, sameOrigin } = { args: {} }) {
  const text = await read(client, tool);
  const own = await frame(opened, sameOrigin);
  const bridge = new AppBridge(client, { name: 'host', version: '1' }, { serverTools: {}, serverResources: {}, logging: {} });
  const answers = [];
  const initialized = new Promise((resolve) => { bridge.oninitialized = resolve; });
  // The bridge passes the requests of its page to its client.
  const request = client.request.bind(client);
  client.request = async (message, ...rest) => {
    const asked = { method: message.method, what: message.params?.name ?? message.params?.uri };
    try {
      const result = await request(message, ...rest);
      answers.push({ ...asked, result });
      return result;
    } catch (error) {
      answers.push({ ...asked, error });
      throw error;
    }
  };
  await bridge.connect(own.transport);
  await own.show(text);
  await initialized;
  const result = await client.callTool({ name: tool.name, arguments: args });
  assert.ok(!result.isError, JSON.stringify(result));
  await bridge.sendToolInput({ arguments: args });
  await bridge.sendToolResult(result);
  return { ...own, text, answers, result };
}

/** Waits until a page has got the answer to a request. */
async function answered(answers, method, what) {
  for (;;) {
    const found = answers.find((answer) => answer.method === method && answer.what === what);
    if (found) {
      if (found.error) throw found.error;
      assert.ok(!found.result.isError, JSON.stringify(found.result));
      return found.result;
    }
    await new Promise((resolve) => { setTimeout(resolve, 20); });
  }
}

async function tools(client) {
  const all = (await client.listTools()).tools;
  return (name) => all.find((tool) => tool.name === name) ?? assert.fail(`${name}: ${all.map((tool) => tool.name)}`);
}

/** What is checked of an example, in words. */
function title({ calls, click, reads, closed, why }) {
  if (closed) return `its page is read; ${why}`;
  if (why) return `its page opens; ${why}`;
  if (reads) return `its page reads ${reads}`;
  return `its page calls ${calls}${click ? ' after a click' : ''}`;
}

/** Uses the page of an example as a person would, and waits for the answer to what the page asks. */
async function used(opened, client, tool, example) {
  const page = await shown(opened, client, tool, { args: PREPARED[example.name].args, sameOrigin: example.sameOrigin });
  const { app, result } = page;
  if (example.click) await app.getByRole('button', { name: example.click }).click();
  let answer;
  if (example.calls) answer = await answered(page.answers, 'tools/call', example.calls);
  if (example.reads) answer = await answered(page.answers, 'resources/read', example.reads);
  await example.proof?.({ app, result, answer });
  await page.close();
}

/** Lists a pair of servers, and visits the page of each. */
async function pair(opened, url, era, at) {
  for (const example of PAIRS[at]) {
    await check(`${era}: ${example.name}: ${title(example)}`, async () => {
      const client = await connected(url, `pair-${at}`, era);
      const listed = (await client.listTools()).tools;
      for (const { name } of PAIRS[at]) assert.ok(listed.some((tool) => tool.name.startsWith(`${name}__`)), `no tool of ${name}`);
      const pages = (await client.listResources()).resources.map((resource) => resource.uri);
      for (const { page } of PAIRS[at]) assert.ok(pages.includes(page), `${page} is not in ${pages}`);
      const tool = await tools(client);
      const own = tool(`${example.name}__${example.tool}`);
      assert.equal(getToolUiResourceUri(own), example.page);
      if (example.appOnly) assert.ok(isToolVisibilityAppOnly(tool(`${example.name}__${example.calls}`)));
      if (example.closed) await read(client, own);
      else await used(opened, client, own, example);
      await client.close();
    });
  }
}

/** Visits two pages with the same URI. */
async function alike(opened, url, era) {
  await check(`${era}: two pages with the same URI are two pages`, async () => {
    const client = await connected(url, 'alike', era);
    const tool = await tools(client);
    const uris = ALIKE.map((server) => getToolUiResourceUri(tool(`${server}__get-time`)));
    // The server that was there first keeps its URI.
    const first = ALIKE[uris[0] === TIME_PAGE ? 1 : 0];
    assert.deepEqual([...uris].sort(), [TIME_PAGE, TIME_PAGE.replace('://', `://${first}+`)].sort());
    const listed = (await client.listResources()).resources.map((resource) => resource.uri);
    assert.deepEqual(listed, uris);
    const pages = [];
    for (const server of ALIKE) {
      const page = await shown(opened, client, tool(`${server}__get-time`));
      await page.app.getByText(page.result.content[0].text.trim()).first().waitFor();
      pages.push(page.text);
      await page.close();
    }
    assert.notEqual(pages[0], pages[1]);
    await client.close();
  });
}

const url = await gateway();
await check('all servers start', () => ready(url));
const opened = await browser();
for (const era of ['legacy', 'modern']) {
  for (const at of PAIRS.keys()) await pair(opened, url, era, at);
  await alike(opened, url, era);
}
await opened.close();
finish();

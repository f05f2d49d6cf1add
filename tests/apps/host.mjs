// A host of MCP Apps: the SDK's client and its `AppBridge`, with the pages in a real browser, behind profiles of the official example
// servers.
//   node host.mjs DRAGOMAN FOLDER
//
// Prints `ok CASE` or `not ok CASE: why`. Both versions with MCP Apps are tried.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { AppBridge, RESOURCE_MIME_TYPE, getToolUiResourceUri, isToolVisibilityAppOnly } from '@modelcontextprotocol/ext-apps/app-bridge';
import { check, finish } from '../check.mjs';
import { browser, frame } from './pages.mjs';

const [dragoman, folder] = process.argv.slice(2);
if (!folder) {
  console.error('usage: node host.mjs DRAGOMAN FOLDER');
  process.exit(2);
}

const example = (name) => ({
  command: process.execPath,
  args: [fileURLToPath(import.meta.resolve(`@modelcontextprotocol/server-${name}`)).replace(/server\.js$/, 'index.js'), '--stdio'],
});

/** The servers: `plain` and `other` have the same tool, and a page with the same URI. */
const SERVERS = {
  plain: example('basic-vanillajs'),
  other: example('basic-preact'),
  cohorts: example('cohort-heatmap'),
  monitor: example('system-monitor'),
};
/** The page of both servers with the same tool. */
const PAGE = 'ui://get-time/mcp-app.html';
const PROFILES = { apart: { servers: ['plain', 'cohorts', 'monitor'] }, alike: { servers: ['plain', 'other'] } };

/** Starts the gateway, and returns its address once it serves. */
async function gateway() {
  mkdirSync(folder, { recursive: true });
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

/** Shows the page of a tool, and gives it the result of a call of this tool. Returns the page, and the calls that it makes. */
async function shown(opened, client, tool) {
  const uri = getToolUiResourceUri(tool);
  const { contents: [page] } = await client.readResource({ uri });
  assert.equal(page.uri, uri);
  assert.equal(page.mimeType, RESOURCE_MIME_TYPE);
  const own = await frame(opened);
  const bridge = new AppBridge(client, { name: 'host', version: '1' }, { serverTools: {}, serverResources: {}, logging: {} });
  const calls = [];
  const initialized = new Promise((resolve) => { bridge.oninitialized = resolve; });
  // The bridge passes the requests of its page to its client.
  const request = client.request.bind(client);
  client.request = async (message, ...rest) => {
    const result = await request(message, ...rest);
    if (message.method === 'tools/call') calls.push({ name: message.params.name, result });
    return result;
  };
  await bridge.connect(own.transport);
  await own.show(page.text);
  await initialized;
  const result = await client.callTool({ name: tool.name, arguments: {} });
  assert.ok(!result.isError, JSON.stringify(result));
  await bridge.sendToolInput({ arguments: {} });
  await bridge.sendToolResult(result);
  return { ...own, text: page.text, calls, result };
}

/** Waits until a page has made a call. */
async function called(calls, name) {
  for (;;) {
    const found = calls.find((call) => call.name === name);
    if (found) {
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

async function visit(opened, url, era) {
  await check(`${era}: a page calls its server's tool by the server's own name`, async () => {
    const client = await connected(url, 'apart', era);
    const tool = await tools(client);
    const page = await shown(opened, client, tool('plain__get-time'));
    await page.app.getByRole('button', { name: 'Get Server Time' }).click();
    const { content: [{ text }] } = await called(page.calls, 'get-time');
    await page.app.getByText(text.trim()).first().waitFor();
    await page.close();
    await client.close();
  });
  await check(`${era}: a page of another server calls its own`, async () => {
    const client = await connected(url, 'apart', era);
    const tool = await tools(client);
    const page = await shown(opened, client, tool('cohorts__get-cohort-data'));
    await called(page.calls, 'get-cohort-data');
    await page.close();
    await client.close();
  });
  await check(`${era}: a tool for apps only is listed, and its page polls it`, async () => {
    const client = await connected(url, 'apart', era);
    const tool = await tools(client);
    assert.ok(isToolVisibilityAppOnly(tool('monitor__poll-system-stats')));
    const page = await shown(opened, client, tool('monitor__get-system-info'));
    await called(page.calls, 'poll-system-stats');
    await page.close();
    await client.close();
  });
  await check(`${era}: two pages with the same URI are two pages`, async () => {
    const client = await connected(url, 'alike', era);
    const tool = await tools(client);
    const uris = ['plain', 'other'].map((server) => getToolUiResourceUri(tool(`${server}__get-time`)));
    // The server that was there first keeps its URI.
    const first = uris[0] === PAGE ? 'other' : 'plain';
    assert.deepEqual([...uris].sort(), [PAGE, PAGE.replace('://', `://${first}+`)].sort());
    const listed = (await client.listResources()).resources.map((resource) => resource.uri);
    assert.deepEqual(listed, uris);
    const pages = [];
    for (const server of ['plain', 'other']) {
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
for (const era of ['legacy', 'modern']) await visit(opened, url, era);
await opened.close();
finish();

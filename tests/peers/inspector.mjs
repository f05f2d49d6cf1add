// The Inspector's command line (`@modelcontextprotocol/inspector`) as a client: one process for each request.
//   node inspector.mjs WHERE legacy|auto|modern TOPIC:PREFIX,… FOLDER
//
// It answers no questions and follows no changes, so only its requests are run.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check, finish, questions, visit } from './cases.mjs';

const main = join(createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json'), '../clients/launcher/build/index.js');
// It keeps a catalogue of servers in its user's home.
const home = mkdtempSync(join(tmpdir(), 'inspector-'));

const target = visit.command ? piped(visit.command) : [visit.url.href, '--transport', visit.sse ? 'sse' : 'http'];
const headers = Object.entries(visit.headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);

/** A command and its options stand in a file: among its own options it would take them for those. */
function piped([command, ...args]) {
  const file = join(home, 'servers.json');
  writeFileSync(file, JSON.stringify({ mcpServers: { it: { command, args, env: process.env } } }));
  return ['--config', file, '--server', 'it'];
}

/** Runs one request; the result that it prints. */
function ask(method, ...args) {
  const line = [main, '--cli', ...target, ...headers, '--protocol-era', visit.era, '--method', method, ...args];
  const options = { timeout: 20_000, maxBuffer: 16 << 20, env: { ...process.env, HOME: home } };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, line, options, (error, out, told) => {
      if (error) reject(new Error(`${error.message.split('\n').at(-1)} ${told.trim()} ${out.trim()}`));
      else resolve(JSON.parse(out));
    });
  });
}

const pairs = (flag, args) => Object.entries(args).flatMap(([key, value]) => [flag, `${key}=${JSON.stringify(value)}`]);
/** Each case is a process of its own that mostly starts; more at once would only wait for each other. */
const AT_ONCE = 2;
const waiting = [];

async function work() {
  for (let next = waiting.shift(); next; next = waiting.shift()) await next();
}

for (const asked of questions()) {
  const start = (name, run) => waiting.push(() => check(asked.of + name, run));
  await check(`${asked.of}tools/list`, async () => {
    const names = (await ask('tools/list')).tools.map((tool) => tool.name);
    for (const name of asked.tools) assert.ok(names.includes(name), `${name} is not among ${names}`);
  });
  // It looks a tool up before it calls it, so it never asks for an unknown one.
  const callable = asked.calls.filter((call) => (call.text ?? call.says) && call.case !== 'unknown tool');
  for (const item of callable) {
    const call = () => ask('tools/call', '--tool-name', item.name, ...pairs('--tool-arg', item.arguments));
    start(`tools/call ${item.case}`, async () => {
      // It prints a failed result as any other, and ends badly; of an error it tells the message.
      if (item.fails) return assert.rejects(call, (error) => error.message.includes(item.says));
      const { content } = await call();
      return assert.ok(content[0].text.includes(item.text), JSON.stringify(content));
    });
  }
  if (asked.reads.length > 0) {
    start('resources/list', async () => assert.ok((await ask('resources/list')).resources.length > 0));
  }
  if (asked.templates) start('resources/templates/list', async () => {
    const templates = (await ask('resources/templates/list')).resourceTemplates.map((template) => template.uriTemplate);
    for (const template of asked.templates) assert.ok(templates.includes(template), `${templates}`);
  });
  for (const { uri, text } of asked.reads.filter((item) => !item.asks)) {
    start(`resources/read ${uri}`, async () => {
      assert.ok((await ask('resources/read', '--uri', uri)).contents[0].text.includes(text));
    });
  }
  if (asked.prompts.length > 0) start('prompts/list', async () => {
    const names = (await ask('prompts/list')).prompts.map((prompt) => prompt.name);
    for (const { name } of asked.prompts) assert.ok(names.includes(name), `${name} is not among ${names}`);
  });
  for (const { name, arguments: args, text } of asked.prompts.filter((item) => !item.asks)) {
    start(`prompts/get ${name}`, async () => {
      const given = Object.entries(args ?? {}).flatMap(([key, value]) => ['--prompt-args', `${key}=${value}`]);
      const { messages } = await ask('prompts/get', '--prompt-name', name, ...given);
      assert.ok(messages[0].content.text.includes(text), JSON.stringify(messages));
    });
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, work));
rmSync(home, { recursive: true, force: true });
finish();

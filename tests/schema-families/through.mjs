// Serves recorded tools through a profile of Dragoman for each family, and checks what clients of the family get.
//   node through.mjs DRAGOMAN RECORDED FOLDER
//
// Prints `ok CASE` or `not ok CASE: why`. Without a family, a profile lists each tool byte for byte. FOLDER gets the lists. PYTHON names
// the interpreter that has the packages of python.txt.

import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { finish, report } from '../check.mjs';
import { lists } from './list.mjs';

const run = promisify(execFile);
const beside = (name) => fileURLToPath(new URL(name, import.meta.url));
const OPTIONS = { maxBuffer: 256 << 20, timeout: 300_000 };
/** The families of profiles, and the rules that their lists must keep. */
const FAMILIES = {
  gemini: ['gemini', 'gemini-json'],
  openai: ['openai'],
  anthropic: ['anthropic'],
  vscode: ['vscode'],
  cursor: ['cursor'],
  portable: ['portable'],
};

const [dragoman, recorded, folder] = process.argv.slice(2);
if (!folder) {
  console.error('usage: node through.mjs DRAGOMAN RECORDED FOLDER');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });

/** The tools of a file of lines, each with its text as it stands there. */
function texts(file) {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => {
    const { tool, expected } = JSON.parse(line);
    const text = expected === undefined ? line.slice(line.indexOf('"tool":') + '"tool":'.length, -1) : JSON.stringify(tool);
    return { tool, text };
  });
}

/** Writes a configuration with a server for each list, and a profile for each list and each family. */
function configured(name, rows) {
  const config = { mcpServers: {}, profiles: {}, limits: { schemaBytes: '512KiB' } };
  const all = lists(rows);
  for (const [index, list] of all.entries()) {
    const file = join(folder, `${name}-${index}.jsonl`);
    writeFileSync(file, list.map(({ text }) => `${text}\n`).join(''));
    config.mcpServers[`l${index}`] = { command: process.execPath, args: [beside('serve.mjs'), file] };
    config.profiles[`received-${index}`] = { servers: [`l${index}`], names: 'first', clientPrefix: '' };
  }
  const servers = Object.keys(config.mcpServers);
  for (const family of Object.keys(FAMILIES)) config.profiles[family] = { servers, clientPrefix: '', tools: { schemas: family } };
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(config));
  return { file, all };
}

/** The version of the recorded servers: between equal versions, nothing is translated. */
const VERSION = '2025-11-25';

/** The list of a profile, as Dragoman sends it. */
async function listed(file, profile) {
  const server = [dragoman, '--config', file, 'stdio', '--profile', profile];
  const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder };
  const { stdout } = await run(dragoman, ['list', '--era', VERSION, 'tools', '--json', '--', ...server], { ...OPTIONS, env });
  return stdout;
}

async function attempt(name, work) {
  try {
    report(name, await work());
  } catch (error) {
    report(name, `${error.stderr || error.stdout || error.stack}`.split('\n').slice(0, 20).join(' | '));
  }
}

/** Checks the lists of one file; `complete` if none of its tools may be missing. */
async function checked(name, rows, complete) {
  const { file, all } = configured(name, rows);
  for (const [index, list] of all.entries()) {
    if (!complete) break;
    await attempt(`${name}: list ${index} is the same byte for byte`, async () => {
      const text = await listed(file, `received-${index}`);
      const lost = list.filter((row) => !text.includes(row.text)).map((row) => row.tool.name);
      return lost.length ? `other bytes: ${lost.join(', ')}` : undefined;
    });
  }
  for (const [family, rules] of Object.entries(FAMILIES)) {
    const to = join(folder, `${name}.${family}.json`);
    await attempt(`${name}: ${family} lists ${complete ? 'all' : 'the'} tools`, async () => {
      const text = await listed(file, family);
      writeFileSync(to, text);
      const count = JSON.parse(text).tools.length;
      return complete && count !== rows.length ? `${count} of ${rows.length}` : undefined;
    });
    for (const rule of rules) {
      await attempt(`${name}: all of ${rule} accept the list of ${family}`, async () => {
        await run(process.execPath, [beside('check.mjs'), to, rule], OPTIONS);
      });
    }
  }
}

await checked('recorded', texts(recorded), true);
await checked('awkward', texts(beside('awkward.jsonl')), false);
finish();

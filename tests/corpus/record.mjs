// Records the tools of real third-party servers, exactly as they list them.
//   node record.mjs OUT MODULES VENV [NAME ...]
//
// OUT gets one line for each tool, `{"server":"…","tool":…}`, servers in the order of servers.json, tools in the order of their
// server. MODULES is the folder of the npm packages of tests/corpus/npm, VENV the environment of tests/corpus/python.txt. NAMES
// choose some servers. Each server runs in an empty home with only the environment of its row, and without a network where the
// system allows it: a list that needs one does not belong here. Nothing that is recorded is committed: the texts are others'.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { tools } from './session.mjs';

const AT_ONCE = 2;
const DEADLINE = 60_000;

const [out, modules, venv, ...names] = process.argv.slice(2);
if (!venv) {
  console.error('usage: node record.mjs OUT MODULES VENV [NAME ...]');
  process.exit(2);
}
const table = JSON.parse(readFileSync(new URL('servers.json', import.meta.url), 'utf8'));
const unknown = names.filter((name) => !table.some((row) => row.name === name));
if (unknown.length) {
  console.error(`no server ${unknown.join(', ')} in servers.json`);
  process.exit(2);
}
const rows = table.filter((row) => names.length === 0 || names.includes(row.name));
const scratch = mkdtempSync(join(tmpdir(), 'corpus-'));

/** A prefix that runs a command without a network; empty if this system has none for us. */
const ISOLATED = ['unshare', '--map-root-user', '--net', '--'];
const isolated = spawnSync(ISOLATED[0], [...ISOLATED.slice(1), 'true']).status === 0 ? ISOLATED : [];

/** The script of a command of an npm package. Several packages have a command `mcp`, so the common folder of commands is no help. */
function script(name, command) {
  const { bin } = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'));
  const file = typeof bin === 'string' ? bin : bin?.[command];
  if (!file) throw new Error(`the package ${name} has no command ${command}`);
  return join(modules, name, file);
}

/** The command, environment and folder of a row. `{home}` stands for the server's folder. */
function invocation(row) {
  const home = join(scratch, row.name);
  mkdirSync(home, { recursive: true });
  const filled = (text) => text.replaceAll('{home}', home);
  const program = row.npm ? [process.execPath, script(row.npm, row.command)] : [join(venv, 'bin', row.command)];
  const path = [dirname(process.execPath), join(venv, 'bin'), '/usr/local/bin', '/usr/bin', '/bin'].join(':');
  const given = Object.entries(row.env ?? {}).map(([name, value]) => [name, filled(value)]);
  const env = { PATH: path, HOME: home, TMPDIR: home, LANG: 'C.UTF-8', ...Object.fromEntries(given) };
  const [command, ...args] = [...isolated, ...program, ...(row.args ?? []).map(filled)];
  return { command, args, env, cwd: home, deadline: DEADLINE };
}

const recorded = new Map();
const failed = [];
const waiting = [...rows];

async function work() {
  for (let row = waiting.shift(); row; row = waiting.shift()) {
    const began = Date.now();
    const say = (what) => console.log(`${((Date.now() - began) / 1000).toFixed(1).padStart(5)} s  ${row.name}: ${what}`);
    try {
      const found = await tools(invocation(row));
      if (found.length === 0) throw new Error('it lists no tools');
      recorded.set(row.name, found);
      say(`${found.length} tools`);
    } catch (error) {
      failed.push(row.name);
      say(`FAILED: ${error.message}`);
    }
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, work));
rmSync(scratch, { recursive: true, force: true });
const lines = rows.flatMap(({ name }) =>
  (recorded.get(name) ?? []).map((tool) => `{"server":${JSON.stringify(name)},"tool":${tool}}\n`),
);
writeFileSync(out, lines.join(''));
const without = isolated.length ? 'without a network' : 'WITH a network: `unshare --net` fails here';
console.log(`${lines.length} tools of ${recorded.size} servers, recorded ${without}`);
if (failed.length) console.log(`failed: ${failed.join(', ')}`);
process.exit(failed.length ? 1 : 0);

// Checks which tools of a list a family of clients refuses.
//   node check.mjs FILE FAMILY [--rules]
//
// FILE has tools as `list.mjs` reads them. Prints one line for each refusal, `{"server":…,"tool":…,"path":…,"rule":…,"by":…}`, and
// ends with 1 if there was any. `path` leads into the input schema, or is `name`. `by` is `documentation`, `reports` (answers of an
// API that its pages do not mention), `source` (a client's own code) or the package of a converter. With `--rules` no converter
// runs. PYTHON names the interpreter that has the packages of python.txt.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FAMILIES, RULES } from './families.mjs';
import { lists, read } from './list.mjs';

const SERVE = fileURLToPath(new URL('serve.mjs', import.meta.url));

const [file, name, option] = process.argv.slice(2);
const family = FAMILIES[name];
if (!family || (option !== undefined && option !== '--rules')) {
  console.error(`usage: node check.mjs FILE FAMILY [--rules]\nfamilies: ${Object.keys(FAMILIES).join(', ')}`);
  process.exit(2);
}

let refusals = 0;
const refuse = (server, tool, path, rule, by) => {
  refusals += 1;
  console.log(JSON.stringify({ server, tool, path, rule, by }));
};
const scratch = mkdtempSync(join(tmpdir(), 'schema-families-'));

/** Applies rules to a tool, or to what a converter made of it; each rule once for a place. */
function judge({ server, tool }, rules, sent, by) {
  const seen = new Set();
  rules({ server, ...(sent ?? tool) }, (path, rule, basis) => {
    if (seen.has(`${path} ${rule}`)) return;
    seen.add(`${path} ${rule}`);
    refuse(server, tool.name, path, rule, by ?? basis);
  });
}

/** Sends a list through a converter, and halves of it if that fails, until the tools are found that make it fail. */
async function convert(rows, converter) {
  const path = join(scratch, 'tools.jsonl');
  writeFileSync(path, rows.map(({ tool }) => `${JSON.stringify(tool)}\n`).join(''));
  let sent;
  try {
    sent = await converter.convert({ command: process.execPath, args: [SERVE, path] });
  } catch (error) {
    if (rows.length === 1) {
      console.error(`${converter.by}: ${rows[0].tool.name}: ${error.message.split('\n').slice(-3).join(' | ')}`);
      return refuse(rows[0].server, rows[0].tool.name, '', 'threw', converter.by);
    }
    const half = rows.length >> 1;
    await convert(rows.slice(0, half), converter);
    return convert(rows.slice(half), converter);
  }
  compare(rows, sent, converter);
}

/** What was sent keeps the order of the list; names may have been changed. */
function compare(rows, sent, { by, sends }) {
  const names = new Set(sent.map((tool) => tool.name));
  const kept = sent.length === rows.length ? rows : rows.filter(({ tool }) => names.has(tool.name));
  for (const row of rows) if (!kept.includes(row)) refuse(row.server, row.tool.name, '', 'dropped', by);
  for (const [index, row] of kept.entries()) {
    const { name, inputSchema, strict, threw } = sent[index];
    if (threw) refuse(row.server, row.tool.name, '', 'threw', by);
    else if (strict === false && sends === 'openai-strict') refuse(row.server, row.tool.name, '', 'not-strict', by);
    else judge(row, RULES[sends], { name, inputSchema }, by);
  }
}

const rows = read(file);
for (const row of rows) judge(row, family.rules);
if (option !== '--rules') {
  for (const converter of family.via) for (const list of lists(rows)) await convert(list, converter);
}
rmSync(scratch, { recursive: true, force: true });
process.exit(refusals ? 1 : 0);

// Checks the checker: `awkward.jsonl` has tools that break one rule each, with the rules that each family must report, and tools
// that look awkward but are good. Written by hand, so that a rule that no recorded tool breaks is tried as well.
//   node awkward.mjs [--bless]

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { check, finish } from '../check.mjs';
import { RULES } from './families.mjs';

const file = new URL('awkward.jsonl', import.meta.url);
const rows = readFileSync(file, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));

/** The rules that a tool breaks, for each family that refuses it. */
function broken(tool) {
  const all = Object.entries(RULES).map(([family, rules]) => {
    const found = new Set();
    rules(tool, (path, rule) => found.add(rule));
    return [family, [...found].sort()];
  });
  return Object.fromEntries(all.filter(([, found]) => found.length > 0));
}

if (process.argv[2] === '--bless') {
  for (const row of rows) row.expected = broken(row.tool);
  writeFileSync(file, rows.map(({ tool, expected }) => `${JSON.stringify({ tool, expected })}\n`).join(''));
}
for (const { tool, expected } of rows) await check(tool.name, async () => assert.deepEqual(broken(tool), expected));
finish();

// Lists of tools in files: one recorded tool a line (`{"server":…,"tool":…}`), an array of tools, or a result of tools/list.

import { readFileSync } from 'node:fs';

/** The tools of a file: `{ server, tool }`. */
export function read(file) {
  const text = readFileSync(file, 'utf8');
  const whole = parsed(text);
  const array = Array.isArray(whole) ? whole : whole?.tools ?? whole?.result?.tools;
  if (array) return array.map((tool) => ({ tool }));
  return text.split('\n').filter(Boolean).map((line, index) => {
    const row = parsed(line);
    if (typeof row?.tool?.name !== 'string') throw new Error(`${file}, line ${index + 1}: not {"server":…,"tool":…}`);
    return row;
  });
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The tools as few lists, none of which has two tools of the same name. */
export function lists(rows) {
  const all = [];
  for (const row of rows) {
    let list = all.find((some) => !some.has(row.tool.name));
    if (!list) all.push((list = new Map()));
    list.set(row.tool.name, row);
  }
  return all.map((list) => [...list.values()]);
}

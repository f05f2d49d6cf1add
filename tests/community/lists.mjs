// Measures the lists: the size of ten entries as a model reads them, short and with all fields.

import { isList } from '../list-sizes.mjs';

/** What a list that no case fills is filled with. */
const FILLED = { list_message_threads: 'thread', list_messages: 'thread', list_moderation_reports: 'report' };
const ENTRIES = 10;

/** Fills the list of each tool that returns one, and measures it; `args` makes an entry and returns the arguments of the tool. */
export async function measured(ask, tool, args, made) {
  const { name, inputSchema } = tool;
  if (!isList(tool)) return undefined;
  const paged = 'per_page' in inputSchema.properties;
  const kind = Object.entries(FILLED).find(([list]) => name.endsWith(list))?.[1];
  let given = {};
  for (let entry = 0; entry < (paged ? ENTRIES : 1); entry += 1) {
    if (kind) await made(kind);
    given = await args();
  }
  delete given.as;
  if (paged) given.per_page = ENTRIES;
  const short = await shown(ask, name, given);
  const full = await shown(ask, name, { ...given, full: true });
  const entries = Object.values(short.structured).find(Array.isArray) ?? [];
  const members = [...new Set(entries.flatMap(Object.keys))];
  return { list: name, entries: entries.length, bytes: short.bytes, full: full.bytes, members, first: entries[0] };
}

/** The size in bytes of an answer's text, and the answer. */
async function shown(ask, name, given) {
  const { result, error } = await ask('tools/call', { name, arguments: given });
  if (error || result.isError) throw new Error(`${name} ${JSON.stringify(given)}: ${JSON.stringify(error ?? result.content)}`);
  return { bytes: Buffer.byteLength(result.content[0].text), structured: result.structuredContent };
}

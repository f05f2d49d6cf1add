// Measures the lists: the size of ten entries as a model reads them, short and with all fields.

import { isList } from '../list-sizes.mjs';

/** What fills a list that no case fills. */
const FILLED = { list_message_threads: 'thread', list_messages: 'thread', list_moderation_reports: 'block', list_activities: 'activity' };
const ENTRIES = 10;

/** Fills the list of each tool that returns one, and measures it; `args` makes an entry, or a thing that holds entries, and returns
 * the arguments of the tool. */
export async function measured(ask, tool, args, made) {
  const { name, inputSchema } = tool;
  if (!isList(tool)) return undefined;
  const paged = 'per_page' in inputSchema.properties;
  const kind = Object.entries(FILLED).find(([list]) => name.endsWith(list))?.[1];
  let best;
  for (let turn = 0; turn === 0 || (paged && turn < ENTRIES && best.entries.length < ENTRIES); turn += 1) {
    // First things that hold ten entries; then further entries, for lists that belong to nothing.
    const filled = turn === 0 ? (what, more) => made(what, { entries: ENTRIES, ...more }) : made;
    if (kind) await filled(kind);
    const given = await args(filled);
    delete given.as;
    if (paged) given.per_page = ENTRIES;
    const short = await shown(ask, name, given);
    if (!best || short.entries.length > best.entries.length) best = { ...short, given };
  }
  const full = await shown(ask, name, { ...best.given, full: true });
  const { entries } = best;
  const members = [...new Set(entries.flatMap(Object.keys))];
  return { list: name, entries: entries.length, bytes: best.bytes, full: full.bytes, members, first: entries[0] };
}

/** The size in bytes of an answer's text, and the answer. */
async function shown(ask, name, given) {
  const { result, error } = await ask('tools/call', { name, arguments: given });
  if (error || result.isError) throw new Error(`${name} ${JSON.stringify(given)}: ${JSON.stringify(error ?? result.content)}`);
  return { bytes: Buffer.byteLength(result.content[0].text), entries: Object.values(result.structuredContent).find(Array.isArray) ?? [] };
}

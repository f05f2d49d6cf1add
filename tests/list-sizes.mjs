// The sizes of lists as models read them, compared with the recorded ones in list-sizes.json. With the path of that file in
// DRAGOMAN_BLESS, they are recorded instead. Versions of a site's software differ, so the larger size of a list stays: to
// record a smaller one, remove the list's line first.

import { readFileSync, writeFileSync } from 'node:fs';

const FILE = new URL('list-sizes.json', import.meta.url);
/** The lists that no site of the tests can fill, each with the reason. */
const UNMEASURED = JSON.parse(readFileSync(new URL('lists-without-sizes.json', import.meta.url), 'utf8'));
const ENTRIES = 10;
/** The largest short answer with ten entries, in bytes. */
const LARGEST = 6000;
/** What names and addresses of a site may add to a recorded size. */
const TOLERANCE = 1.2;

/** The bytes of ten entries, from those of fewer or more. */
const ofTen = (bytes, entries) => Math.ceil((bytes * ENTRIES) / entries);

/** Whether the answers of a tool are lists. */
export const isList = ({ outputSchema }) => outputSchema?.properties?.total_pages !== undefined;

/** The faults of these lists: each with its tool, its number of entries, and the bytes of the short and of the full answer. A tool of
 * `all` without a measured list is a fault, too, unless a reason is known. */
export function faults(lists, all) {
  const recorded = JSON.parse(readFileSync(process.env.DRAGOMAN_BLESS ?? FILE, 'utf8'));
  const sizes = lists.filter(({ entries }) => entries > 0).map(({ list, entries, bytes, full }) => ({ list, ten: ofTen(bytes, entries), full: ofTen(full, entries) }));
  const measured = new Set(sizes.map(({ list }) => list));
  const unmeasured = all.filter(({ name }) => !measured.has(name) && !(name in UNMEASURED))
    .map(({ name }) => `${name}: no entry was measured; fill the list, or give the reason in tests/lists-without-sizes.json`);
  const large = sizes.filter(({ ten }) => ten > LARGEST).map(({ list, ten }) => `${list}: ten entries have ${ten} bytes, more than ${LARGEST}`);
  if (process.env.DRAGOMAN_BLESS) {
    const larger = sizes.filter(({ list, ten }) => !recorded[list] || ten > recorded[list].ten);
    const all = { ...recorded, ...Object.fromEntries(larger.map(({ list, ten, full }) => [list, { ten, full }])) };
    const lines = Object.keys(all).sort().map((list) => `  ${JSON.stringify(list)}: ${JSON.stringify(all[list])}`);
    writeFileSync(process.env.DRAGOMAN_BLESS, `{\n${lines.join(',\n')}\n}\n`);
    return [...large, ...unmeasured];
  }
  const grown = sizes.flatMap(({ list, ten }) => {
    if (!recorded[list]) return [`${list}: not recorded; set DRAGOMAN_BLESS to the path of tests/list-sizes.json`];
    return ten > recorded[list].ten * TOLERANCE ? [`${list}: ten entries have ${ten} bytes, recorded are ${recorded[list].ten}`] : [];
  });
  return [...large, ...unmeasured, ...grown];
}

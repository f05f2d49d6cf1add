// The recorded answers that the unit tests hold against our words are still what a real site answers: status and code of each.

import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { basic, check, each, finish, south } from './cases.mjs';

const answers = JSON.parse(readFileSync(new URL('answers.json', import.meta.url), 'utf8'));
const shown = (who) => {
  if (who === 'nobody') return {};
  return basic(...(who === 'stranger' ? ['admin', 'wrong'] : [who, south.people[who].password]));
};

await check('there are as many as were recorded', () => assert.equal(answers.length, 44));
await each(answers, ({ case: name, as, method, path, body, status, answer }) => check(name, async () => {
  const init = { method, headers: { ...shown(as), ...(body && { 'content-type': 'application/json' }) } };
  const response = await fetch(`${south.url}/wp-json${path}`, { ...init, ...(body && { body: JSON.stringify(body) }) });
  const found = await response.json();
  assert.deepEqual([response.status, found.code], [status, answer?.code], JSON.stringify(found));
  const details = (error) => Object.entries(error?.data?.details ?? {}).map(([field, detail]) => [field, detail.code]);
  assert.deepEqual(details(found), details(answer));
  const params = (error) => Object.keys(error?.data?.params ?? {});
  assert.deepEqual(params(found), params(answer));
}));
finish();

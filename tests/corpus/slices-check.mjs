// Checks that recorded texts are the bytes that a server wrote, however it writes JSON.
//   node slices-check.mjs

import assert from 'node:assert/strict';
import { check, finish } from '../check.mjs';
import { elements } from './slices.mjs';

const cases = {
  'an empty list': ['{"result":{"tools":[]}}', []],
  'spaces and line ends': ['{ "result" : {\t"tools" : [ {"a" : 1} ,\r\n[ ] , "x" ] } }', ['{"a" : 1}', '[ ]', '"x"']],
  'brackets and quotes in strings': [String.raw`{"result":{"tools":[{"a":"]}\"[{"},"\\",""]}}`, [String.raw`{"a":"]}\"[{"}`, String.raw`"\\"`, '""']],
  'numbers as they are written': ['{"result":{"tools":[1.0,-2e+3,true,null,10000000000000000001]}}', ['1.0', '-2e+3', 'true', 'null', '10000000000000000001']],
  'escapes and other scripts': [String.raw`{"result":{"tools":["\u00e9","é","😀"]}}`, [String.raw`"\u00e9"`, '"é"', '"😀"']],
  'the same key twice': ['{"result":{"tools":[1],"tools":[2]}}', ['2']],
  'a key that is escaped': [String.raw`{"result":{"t\u006fols":[3]}}`, ['3']],
  'the key in another place': ['{"tools":[4],"other":{"tools":[5]},"result":{"x":{"tools":[6]},"tools":[7]}}', ['7']],
};
for (const [name, [text, expected]] of Object.entries(cases)) {
  await check(name, async () => {
    JSON.parse(text);
    assert.deepEqual(elements(text, 'result', 'tools'), expected);
  });
}
await check('no such key', async () => assert.throws(() => elements('{"result":{}}', 'result', 'tools'), /no `tools`/));
await check('not an array', async () => assert.throws(() => elements('{"result":{"tools":{}}}', 'result', 'tools'), /not an array/));
finish();

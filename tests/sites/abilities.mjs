// The abilities of the sites of a network as tools of their own: a site with WordPress 6.9 or newer offers them, to an account that
// may use its REST API there. The account is an editor on the main site and has no role on the last one.

import { strict as assert } from 'node:assert';
import { check, finish, gateways, isNewer, networks, stateless } from './cases.mjs';

const network = networks.find(({ name }) => name === 'network');
const ask = (method, params) => stateless({}, method, params, gateways.network);
const call = async (name, args) => (await ask('tools/call', { name, arguments: args })).result;

const { tools } = (await ask('tools/list')).result;
const abilities = new Map(tools.filter(({ name }) => name.includes('__ability-')).map((tool) => [tool.name, tool]));

if (!isNewer) {
  await check('an older WordPress has no abilities', () => assert.deepEqual([...abilities.keys()], []));
  finish();
}
await check('each ability is a tool, if the configuration allows it', () => {
  const of = (site) => [...abilities.keys()].filter((name) => name.startsWith(`${site}__`)).map((name) => name.replace(/^.*ability-/, ''));
  for (const name of ['core_get-site-info', 'tests_sum']) assert.ok(of('main').includes(name) && of('one').includes(name), `${of('main')}`);
  // Only one of the servers may change something by requests that the caller chooses.
  for (const name of ['tests_draft', 'tests_fail']) assert.deepEqual([of('main').includes(name), of('one').includes(name)], [false, true], name);
  const { annotations, inputSchema } = abilities.get('main__ability-tests_sum');
  assert.deepEqual([annotations.readOnlyHint, inputSchema.required], [true, ['a', 'b']]);
  assert.deepEqual(abilities.get('one__ability-tests_draft').annotations.destructiveHint, false);
});
await check('an ability runs as the account, on its own site', async () => {
  const { structuredContent: sum } = await call('main__ability-tests_sum', { a: 2, b: 3 });
  assert.equal(sum.sum, 5);
  const { structuredContent: made } = await call('one__ability-tests_draft', { title: 'Made by an ability' });
  const { structuredContent: draft } = await call('one__wp_get_post', { id: made.id });
  assert.deepEqual([draft.title, draft.status, draft.author], ['Made by an ability', 'draft', network.people.ann.id]);
  await call('one__wp_delete_post', { id: made.id, force: true });
});
await check('an ability that fails, and one that is called wrongly, is a failed call', async () => {
  const failed = await call('one__ability-tests_fail', { why: 'x' });
  assert.ok(failed.isError && failed.content[0].text.includes('It failed as asked.'), JSON.stringify(failed));
  const wrong = await ask('tools/call', { name: 'main__ability-tests_sum', arguments: { a: 'two', b: 3 } });
  assert.ok(wrong.error || wrong.result.isError, JSON.stringify(wrong));
});
await check('an account without a role gets no ability beyond its rights', async () => {
  const offered = [...abilities.keys()].filter((name) => name.startsWith('two__'));
  if (offered.includes('two__ability-tests_draft')) assert.ok((await call('two__ability-tests_draft', { title: 'x' })).isError);
  const { isError, content } = await call('two__site_run_ability', { name: 'tests/draft', input: { title: 'x' } });
  assert.ok(isError, JSON.stringify(content));
});
if (gateways.adapter) {
  // The site is also an MCP server itself, with the adapter that the command line names.
  const through = (method, params) => stateless({}, method, params, gateways.adapter);
  const run = async (name, parameters) => (await through('tools/call', { name: 'mcp-adapter-execute-ability', arguments: { ability_name: name, parameters } })).result;
  await check('the adapter offers its tools', async () => {
    const { result } = await through('tools/list');
    assert.deepEqual(result.tools.map(({ name }) => name).sort(), ['mcp-adapter-discover-abilities', 'mcp-adapter-execute-ability', 'mcp-adapter-get-ability-info']);
  });
  await check('abilities are found and run through the adapter', async () => {
    const { result } = await through('tools/call', { name: 'mcp-adapter-discover-abilities', arguments: {} });
    for (const name of ['tests/sum', 'tests/draft']) assert.ok(JSON.stringify(result.structuredContent).includes(JSON.stringify(name)), JSON.stringify(result));
    const sum = await run('tests/sum', { a: 2, b: 3 });
    assert.ok(!sum.isError && /"sum":\s*5/.test(JSON.stringify(sum.structuredContent)), JSON.stringify(sum));
  });
  await check('failures of abilities arrive as failed calls', async () => {
    for (const [name, parameters, words] of [['tests/fail', { why: 'x' }, 'It failed as asked.'], ['tests/sum', { a: 2 }, 'invalid input'], ['tests/none', {}, 'not found']]) {
      const answer = await run(name, parameters);
      assert.ok(answer.isError && JSON.stringify(answer).includes(words), `${name}: ${JSON.stringify(answer)}`);
    }
  });
}
finish();

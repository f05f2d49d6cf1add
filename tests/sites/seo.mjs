// The fields of Yoast SEO: shown with a post, and written as far as the plugin registers them. `--yoast` names the real plugin;
// without it, a stand-in registers the same fields.

import { strict as assert } from 'node:assert';
import { as, check, finish, south, stateless } from './cases.mjs';

const editor = as(south, 'editor');
const TITLE = 'Opening hours of the lake & the beach';
const TEXT = 'The lake is open every day from 9 to 18.';
let id;

/** Calls a tool; its answer, or the text of its failure. */
async function called(headers, name, args) {
  const { result, error } = await stateless(headers, 'tools/call', { name, arguments: args });
  assert.ok(result, JSON.stringify(error));
  return result;
}
async function shown(headers, name, args) {
  const result = await called(headers, name, args);
  assert.ok(!result.isError, JSON.stringify(result));
  return JSON.parse(result.content[0].text);
}

await check('a post is created with a title and a description for search engines', async () => {
  ({ id } = await shown(editor, 'wp_create_post', {
    title: 'The lake', content: 'It is open.', status: 'publish', meta: { _yoast_wpseo_title: TITLE, _yoast_wpseo_metadesc: TEXT },
  }));
  const { seo, meta } = await shown(editor, 'wp_get_post', { id });
  assert.deepEqual([seo.title.replace('&amp;', '&'), seo.description], [TITLE, TEXT]);
  assert.equal(meta._yoast_wpseo_metadesc, TEXT);
  assert.ok(seo.canonical.startsWith(south.url), seo.canonical);
});
await check('one field changes, and the others and the content stay', async () => {
  await shown(editor, 'wp_update_post', { id, meta: { _yoast_wpseo_metadesc: 'Closed in winter.' } });
  const { seo, content } = await shown(editor, 'wp_get_post', { id });
  assert.deepEqual([seo.title.replace('&amp;', '&'), seo.description], [TITLE, 'Closed in winter.']);
  assert.ok(content.includes('It is open.'), content);
});
await check('a subscriber reads what search engines read, and writes nothing', async () => {
  const reader = as(south, 'subscriber');
  const { seo, meta = {} } = await shown(reader, 'wp_get_post', { id });
  assert.equal(seo.description, 'Closed in winter.');
  assert.ok(!('_yoast_wpseo_metadesc' in meta), JSON.stringify(meta));
  const refused = await called(reader, 'wp_update_post', { id, meta: { _yoast_wpseo_metadesc: 'x' } });
  assert.ok(refused.isError && JSON.stringify(refused).includes('rest_cannot_edit'), JSON.stringify(refused));
});
await check('lists stay short', async () => {
  const list = JSON.stringify(await shown(editor, 'wp_get_posts', { per_page: 10 }));
  assert.ok(!list.includes('yoast') && !list.includes('schema.org'), list);
});
await check('a post without fields of its own has the title that the plugin makes', async () => {
  const made = await shown(editor, 'wp_create_post', { title: 'Plain', content: 'x', status: 'publish' });
  const { seo } = await shown(editor, 'wp_get_post', { id: made.id });
  assert.ok(seo.title.startsWith('Plain') && !('description' in seo), JSON.stringify(seo));
  await shown(editor, 'wp_delete_post', { id: made.id, force: true });
});
await shown(editor, 'wp_delete_post', { id, force: true });
finish();

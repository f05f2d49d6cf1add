// Each of the WordPress tools at a real site, as each role that matters: what it shows, and what it is refused with.

import { strict as assert } from 'node:assert';
import { PIXEL, as, call, check, finish, gateways, has, north, refused, shown, south } from './cases.mjs';

const ROLES = ['admin', 'editor', 'author', 'contributor', 'subscriber'];
const EDITORS = ['admin', 'editor'];
const AUTHORS = [...EDITORS, 'author'];
const others = (roles) => ROLES.filter((role) => !roles.includes(role));
const of = (role) => as(north, role);
const string = 'string';
const number = 'number';
const LINE = { id: number, title: string, link: string, status: string, date: string };
const UPDATED = { id: number, title: string, link: string, status: string, modified: string };
const MEDIUM = { id: number, title: string, link: string, source_url: string, media_type: string, mime_type: string };
const CATEGORY = { id: number, name: string, slug: string, description: string, count: number, parent: number, link: string };
const { parent: _, ...TAG } = CATEGORY;
const COMMENT = { id: number, post: number, author_name: string, author_url: string, date: string, content: string, status: string, link: string };
const MODERATED = { success: 'boolean', id: number, status: string, post: number, author_name: string };

/** The rows of a list, as many as it says. */
async function listed(role, tool, name, kinds, args = {}) {
  const found = await shown(of(role), tool, args);
  assert.deepEqual(Object.keys(found).filter((key) => !/^total/.test(key)), ['count', name]);
  assert.equal(found.count, found[name].length);
  found[name].forEach((row) => has(row, kinds));
  return found[name];
}

/** A case for each role that may, and for each that may not. */
async function roles(tool, may, run, denied) {
  for (const role of may) await check(`${tool} as ${role}`, () => run(role));
  if (denied) for (const role of others(may)) await check(`${tool} is refused to ${role}`, () => denied(role));
}

const write = async (role, args = {}) => (await shown(of(role), 'wp_create_post', { title: 'Mine', content: '<p>Mine.</p>', ...args })).id;

await roles('wp_get_posts', ROLES, async (role) => {
  const rows = await listed(role, 'wp_get_posts', 'posts', { ...LINE, excerpt: string });
  assert.equal(rows.length, 10);
  assert.ok(rows.every((row) => row.status === 'publish'));
  const page = await listed(role, 'wp_get_posts', 'posts', { ...LINE, excerpt: string }, { per_page: 5, page: 2 });
  assert.deepEqual(page.map((row) => row.id), rows.slice(5).map((row) => row.id));
  const found = await listed(role, 'wp_get_posts', 'posts', { ...LINE, excerpt: string }, { search: 'Post 7 of north' });
  assert.equal(found[0].id, north.posts[6]);
});
await check('wp_get_posts by status, as far as the role goes', async () => {
  const drafts = async (role) => (await listed(role, 'wp_get_posts', 'posts', { ...LINE, excerpt: string }, { status: 'draft', per_page: 100 })).map((row) => row.title);
  const all = Object.values(north.people).map((person) => person.secret);
  for (const role of EDITORS) {
    const seen = await drafts(role);
    assert.ok(all.every((title) => seen.includes(title)), `${seen}`);
  }
  assert.deepEqual(await drafts('author'), [north.people.author.secret]);
  assert.deepEqual(await drafts('contributor'), [north.people.contributor.secret]);
  for (const status of ['pending', 'private', 'trash']) {
    const [row] = await listed('editor', 'wp_get_posts', 'posts', { ...LINE, excerpt: string }, { status });
    assert.equal(row.id, north.statuses[status]);
  }
  const error = await refused(of('subscriber'), 'wp_get_posts', { status: 'draft' }, 400, 'rest_invalid_param');
  assert.match(error.message, /status: Status is forbidden/);
});
await check('wp_get_posts past the last page', () => refused(of('admin'), 'wp_get_posts', { page: 99 }, 400, 'rest_post_invalid_page_number'));

await roles('wp_get_post', ROLES, async (role) => {
  const post = await shown(of(role), 'wp_get_post', { id: north.posts[0] });
  has(post, { ...UPDATED, content: string, date: string, author: number, featured_media: number, excerpt: string });
  assert.match(post.content, /ünïcödé 漢字/);
});
await roles('wp_get_post of a draft', EDITORS,
  async (role) => assert.equal((await shown(of(role), 'wp_get_post', { id: north.statuses.draft })).status, 'draft'),
  (role) => refused(of(role), 'wp_get_post', { id: north.statuses.draft }, 403, 'rest_forbidden'));
await check('wp_get_post of nothing', () => refused(of('admin'), 'wp_get_post', { id: 99999 }, 404, 'rest_post_invalid_id'));

await roles('wp_create_post', [...AUTHORS, 'contributor'], async (role) => {
  const made = await shown(of(role), 'wp_create_post', { title: 'Fish & "chips" ü', content: '<p>New.</p>', excerpt: 'Short' });
  has(made, LINE);
  assert.equal(made.status, 'draft');
}, (role) => refused(of(role), 'wp_create_post', { title: 'x', content: 'x' }, 403, 'rest_cannot_create'));
await roles('wp_create_post published', AUTHORS, async (role) => {
  const made = await shown(of(role), 'wp_create_post', { title: 'Out', content: 'x', status: 'publish', featured_media: north.picture.id });
  assert.equal(made.status, 'publish');
  assert.equal((await shown(of(role), 'wp_get_post', { id: made.id })).featured_media, north.picture.id);
}, (role) => refused(of(role), 'wp_create_post', { title: 'x', content: 'x', status: 'publish' }, 403, role === 'subscriber' ? 'rest_cannot_create' : 'rest_cannot_publish'));

await roles('wp_update_post of another', EDITORS, async (role) => {
  const updated = await shown(of(role), 'wp_update_post', { id: north.posts[1], excerpt: `By ${role}` });
  has(updated, UPDATED);
  const { excerpt, title } = await shown(of(role), 'wp_get_post', { id: north.posts[1] });
  assert.match(excerpt, new RegExp(`By ${role}`));
  assert.equal(title, 'Post 2 of north');
}, (role) => refused(of(role), 'wp_update_post', { id: north.posts[1], title: 'x' }, 403, 'rest_cannot_edit'));
await check('wp_update_post of one\'s own', async () => {
  const { title } = await shown(of('author'), 'wp_update_post', { id: north.people.author.draft, title: 'Renamed' });
  assert.equal(title, 'Renamed');
  await shown(of('author'), 'wp_update_post', { id: north.people.author.draft, title: north.people.author.secret });
});

await check('wp_update_post keeps the markup of blocks, and of shortcodes', async () => {
  const block = '<!-- wp:heading -->\n<h2 class="wp-block-heading">At the lake</h2>\n<!-- /wp:heading -->';
  const id = await write('admin', { content: block });
  const { content } = await shown(of('admin'), 'wp_get_post', { id });
  assert.doesNotMatch(content, /wp:heading/);
  const { error, result } = await call(of('admin'), 'wp_update_post', { id, content: content.replace('lake', 'sea') });
  assert.equal(error?.code, -32003, JSON.stringify([error, result]));
  assert.match(error.message, /a heading block/);
  has(await shown(of('admin'), 'wp_update_post', { id, content: block.replace('lake', 'sea') }), UPDATED);
  await shown(of('admin'), 'wp_delete_post', { id, force: true });
});

await roles('wp_delete_post', [...AUTHORS, 'contributor'], async (role) => {
  const id = await write(role);
  assert.deepEqual(await shown(of(role), 'wp_delete_post', { id }), { success: true, id, deleted: false, status: 'trash' });
  await refused(of(role), 'wp_delete_post', { id }, 410, 'rest_already_trashed');
  const gone = { success: true, id, deleted: true, previous: { title: 'Mine', status: 'trash' } };
  assert.deepEqual(await shown(of(role), 'wp_delete_post', { id, force: true }), gone);
  await refused(of(role), 'wp_get_post', { id }, 404, 'rest_post_invalid_id');
});
await roles('wp_delete_post of another', EDITORS, async (role) => {
  await shown(of(role), 'wp_delete_post', { id: await write('author'), force: true });
}, (role) => refused(of(role), 'wp_delete_post', { id: north.posts[2] }, 403, 'rest_cannot_delete'));

await roles('wp_get_pages', ROLES, async (role) => {
  const [row] = await listed(role, 'wp_get_pages', 'pages', LINE, { search: 'About north', per_page: 1 });
  assert.equal(row.id, north.page);
});
for (const [tool, denial] of [['wp_create_page', 'rest_cannot_create']]) {
  await roles(tool, EDITORS, async (role) => {
    const made = await shown(of(role), tool, { title: `By ${role}`, content: 'x' });
    has(made, LINE);
    const { title } = await shown(of(role), 'wp_update_page', { id: made.id, title: 'New title', status: 'publish' });
    assert.equal(title, 'New title');
    assert.equal((await shown(of(role), 'wp_delete_page', { id: made.id })).deleted, false);
    assert.equal((await shown(of(role), 'wp_delete_page', { id: made.id, force: true })).deleted, true);
  }, (role) => refused(of(role), tool, { title: 'x', content: 'x' }, 403, denial));
}
for (const [tool, args, denial] of [['wp_update_page', { title: 'x' }, 'rest_cannot_edit'], ['wp_delete_page', {}, 'rest_cannot_delete']]) {
  await roles(tool, EDITORS, async (role) => {
    const { id } = await shown(of(role), 'wp_create_page', { title: 'Brief', content: 'x' });
    const done = await shown(of(role), tool, { id, ...args });
    if (tool === 'wp_update_page') has(done, UPDATED);
    else assert.deepEqual(done, { success: true, id, deleted: false, status: 'trash' });
  }, (role) => refused(of(role), tool, { id: north.page, ...args }, 403, denial));
}

await roles('wp_get_media', ROLES, async (role) => {
  const rows = await listed(role, 'wp_get_media', 'media', { ...MEDIUM, alt_text: string }, { media_type: 'image', per_page: 100 });
  assert.ok(rows.some((row) => row.source_url === north.picture.url), JSON.stringify(rows));
  assert.deepEqual(await listed(role, 'wp_get_media', 'media', MEDIUM, { media_type: 'audio' }), []);
});
await roles('wp_get_media_item', ROLES, async (role) => {
  const item = await shown(of(role), 'wp_get_media_item', { id: north.picture.id });
  has(item, { ...MEDIUM, alt_text: string, caption: string, media_details: 'object' });
  assert.deepEqual([item.media_details.width, item.media_details.height], [64, 48]);
});
const upload = { base64: PIXEL, fileName: 'pixel.png', mimeType: 'image/png', title: 'A pixel', alt_text: 'One dot', caption: 'Dot' };
await roles('wp_upload_media_from_base64', AUTHORS, async (role) => {
  const made = await shown(of(role), 'wp_upload_media_from_base64', upload);
  has(made, MEDIUM);
  const bytes = Buffer.from(await (await fetch(made.source_url)).arrayBuffer());
  assert.equal(bytes.toString('base64'), PIXEL);
  const item = await shown(of(role), 'wp_get_media_item', { id: made.id });
  assert.deepEqual([item.title, item.alt_text], ['A pixel', 'One dot']);
  assert.match(item.caption, /Dot/);
}, (role) => refused(of(role), 'wp_upload_media_from_base64', upload, 403, 'rest_cannot_create'));
await check('wp_upload_media_from_base64 of what is no picture', async () => {
  const fake = { ...upload, base64: Buffer.from('<?php echo 1;').toString('base64') };
  await refused(of('admin'), 'wp_upload_media_from_base64', { ...fake, fileName: 'a.php', mimeType: 'text/x-php' }, 500, 'rest_upload_unknown_error');
  assert.equal((await call(of('admin'), 'wp_upload_media_from_base64', { ...upload, base64: 'no base64!' })).error.code, -32005);
});
await roles('wp_upload_media_from_url', AUTHORS, async (role) => {
  const made = await shown(of(role), 'wp_upload_media_from_url', { url: south.picture.url, title: `Of south by ${role}` }, gateways.files);
  has(made, MEDIUM);
  const fetched = async (url) => Buffer.from(await (await fetch(url)).arrayBuffer()).toString('base64');
  assert.equal(await fetched(made.source_url), await fetched(south.picture.url));
}, (role) => refused(of(role), 'wp_upload_media_from_url', { url: south.picture.url }, 403, 'rest_cannot_create', gateways.files));
await check('wp_upload_media_from_url of an address that is not public', async () => {
  const { error } = await call(of('admin'), 'wp_upload_media_from_url', { url: south.picture.url });
  assert.equal(error.code, -32005, JSON.stringify(error));
  assert.match(error.message, /fetching this file is not allowed/);
});

await roles('wp_get_categories', ROLES, async (role) => {
  const rows = await listed(role, 'wp_get_categories', 'categories', CATEGORY, { search: 'local' });
  assert.deepEqual(rows.map((row) => [row.id, row.parent]), [[north.terms.local, north.terms.news]]);
});
await roles('wp_get_category', ROLES, async (role) => {
  const found = await shown(of(role), 'wp_get_category', { id: north.terms.news });
  has(found, CATEGORY);
  assert.equal(found.description, 'News of north');
});
await check('wp_get_category of nothing', () => refused(of('admin'), 'wp_get_category', { id: 9999 }, 404, 'rest_term_invalid'));
await roles('wp_create_category', EDITORS, async (role) => {
  const made = await shown(of(role), 'wp_create_category', { name: `By ${role}`, description: 'D', slug: `by-${role}`, parent: north.terms.news });
  has(made, CATEGORY);
  assert.deepEqual([made.slug, made.parent], [`by-${role}`, north.terms.news]);
  const twice = await refused(of(role), 'wp_create_category', { name: `By ${role}`, parent: north.terms.news }, 400, 'term_exists');
  assert.equal(twice.data.data.term_id, made.id);
  assert.deepEqual(await shown(of(role), 'wp_delete_category', { id: made.id }), { success: true, id: made.id, deleted: true, name: `By ${role}` });
}, (role) => refused(of(role), 'wp_create_category', { name: 'x' }, 403, 'rest_cannot_create'));
await roles('wp_delete_category', EDITORS, async (role) => {
  const { id } = await shown(of(role), 'wp_create_category', { name: `Brief ${role}` });
  await refused(of(role), 'wp_delete_category', { id, force: false }, 501, 'rest_trash_not_supported');
  assert.equal((await shown(of(role), 'wp_delete_category', { id, force: true })).deleted, true);
}, (role) => refused(of(role), 'wp_delete_category', { id: north.terms.local }, 403, 'rest_cannot_delete'));

await roles('wp_get_tags', ROLES, async (role) => {
  const rows = await listed(role, 'wp_get_tags', 'tags', TAG, { search: 'alpha' });
  assert.deepEqual(rows.map((row) => row.id), [north.terms.alpha]);
});
await roles('wp_create_tag', [...AUTHORS, 'contributor'], async (role) => {
  has(await shown(of(role), 'wp_create_tag', { name: `tag of ${role}`, description: 'D' }), TAG);
}, (role) => refused(of(role), 'wp_create_tag', { name: 'x' }, 403, 'rest_cannot_create'));

await roles('wp_get_comments', ROLES, async (role) => {
  const rows = await listed(role, 'wp_get_comments', 'comments', COMMENT, { post: north.posts[0] });
  assert.deepEqual(rows.map((row) => row.id), [north.comments.approved]);
});
for (const [status, said] of [['pending', 'hold'], ['spam', 'spam']]) {
  await roles(`wp_get_comments that are ${status}`, EDITORS, async (role) => {
    const rows = await listed(role, 'wp_get_comments', 'comments', COMMENT, { status });
    assert.deepEqual(rows.map((row) => [row.id, row.status]), [[north.comments[status], said]]);
  }, async (role) => {
    // Who writes posts may ask, and sees none of others' posts.
    if (role !== 'subscriber') assert.deepEqual(await listed(role, 'wp_get_comments', 'comments', COMMENT, { status }), []);
    else await refused(of(role), 'wp_get_comments', { status }, 403, 'rest_forbidden_param');
  });
}
await roles('wp_approve_comment and wp_spam_comment', EDITORS, async (role) => {
  const id = north.comments.pending;
  const approved = await shown(of(role), 'wp_approve_comment', { id });
  has(approved, MODERATED);
  assert.deepEqual([approved.status, approved.post], ['approved', north.posts[0]]);
  assert.equal((await shown(of(role), 'wp_spam_comment', { id })).status, 'spam');
}, async (role) => {
  await refused(of(role), 'wp_approve_comment', { id: north.comments.approved }, 403, 'rest_cannot_edit');
  await refused(of(role), 'wp_spam_comment', { id: north.comments.approved }, 403, 'rest_cannot_edit');
});
await roles('wp_delete_comment', EDITORS, async (role) => {
  const id = north.comments[role === 'editor' ? 'spam' : 'pending'];
  const gone = { success: true, id, author_name: `Visitor with ${role === 'editor' ? 'spam' : 'pending'} words` };
  assert.deepEqual(await shown(of(role), 'wp_delete_comment', { id }), { ...gone, deleted: false });
  await refused(of(role), 'wp_delete_comment', { id }, 410, 'rest_already_trashed');
  assert.deepEqual(await shown(of(role), 'wp_delete_comment', { id, force: true }), { ...gone, deleted: true });
  await refused(of(role), 'wp_delete_comment', { id }, 404, 'rest_comment_invalid_id');
}, (role) => refused(of(role), 'wp_delete_comment', { id: north.comments.approved }, 403, 'rest_cannot_delete'));

await check('upload_to_imgbb without a key, and without a picture', async () => {
  assert.equal((await call(of('admin'), 'upload_to_imgbb', { base64: PIXEL })).error.code, -32001);
  assert.equal((await call({ ...of('admin'), 'x-imgbb-api-key': 'k' }, 'upload_to_imgbb', { base64: '%%' })).error.code, -32005);
});

finish();

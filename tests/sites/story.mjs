// One afternoon of a site's owner, with the Inspector's command line as the client and three headers in each request: a post
// with a picture is written, found, commented on, put into the bin, taken out again and removed.

import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PIXEL, as, check, finish, gateways, north, south } from './cases.mjs';

const main = join(createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json'), '../clients/launcher/build/index.js');
// It keeps a catalogue of servers in its user's home.
const home = mkdtempSync(join(tmpdir(), 'inspector-'));

/** Calls a tool by a process of its own, as the editor or somebody else; what the tool shows. */
function call(name, args, who = 'editor', gateway = gateways.files, site = north) {
  const headers = Object.entries(as(site, who)).flatMap(([header, value]) => ['--header', `${header}: ${value}`]);
  const pairs = Object.entries(args).flatMap(([key, value]) => ['--tool-arg', `${key}=${JSON.stringify(value)}`]);
  const where = [gateway, '--transport', 'http', ...headers, '--protocol-era', 'legacy'];
  const line = [main, '--cli', ...where, '--method', 'tools/call', '--tool-name', name, ...pairs];
  const options = { timeout: 30_000, maxBuffer: 16 << 20, env: { ...process.env, HOME: home } };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, line, options, (error, out, told) => {
      if (error) reject(new Error(`${name}: ${told.trim()} ${out.trim()}`));
      else resolve(shown(JSON.parse(out)));
    });
  });
}

/** The answer of a tool; a refused call rejects with its words. */
function shown({ content: [{ text }], isError }) {
  if (isError) throw new Error(text);
  return JSON.parse(text);
}

/** The bytes of a post's content in the database. */
async function stored(id, site = north) {
  return Buffer.from(await (await fetch(`${site.url}/stored/${id}`)).arrayBuffer());
}

/** Content with everything that editing rendered HTML would destroy. */
const BLOCKS = `<!-- wp:heading {"level":3,"className":"is-style-wide"} -->
<h3 class="wp-block-heading is-style-wide">An evening &amp; a morning</h3>
<!-- /wp:heading -->

<!-- wp:paragraph -->
<p>The lake is cold. Ünïcödé 漢字, and “quotes”.</p>
<!-- /wp:paragraph -->

<!-- wp:gallery {"columns":2,"linkTo":"none"} -->
<figure class="wp-block-gallery has-nested-images columns-2 is-cropped"><!-- wp:image {"id":1} -->
<figure class="wp-block-image"><img src="/a.png" alt="A" class="wp-image-1"/></figure>
<!-- /wp:image --></figure>
<!-- /wp:gallery -->

[gallery ids="1,2" size="large"]

<!-- wp:latest-posts {"postsToShow":3} /-->
`;
/** With compact answers, as without a preset. */
const compact = (name, args, site) => call(name, args, 'editor', gateways.extended, site);

let post;
let comment;
let blocks;
let replaced;
const steps = {
  'a picture is uploaded, and a post with it is published': async () => {
    const picture = await call('wp_upload_media_from_base64', { base64: PIXEL, fileName: 'sunset.png', mimeType: 'image/png', alt_text: 'A sunset' });
    assert.equal(picture.mime_type, 'image/png');
    post = await call('wp_create_post', { title: 'An evening at the lake', content: '<p>Blue &amp; gold.</p>', status: 'publish', featured_media: picture.id });
    assert.equal((await call('wp_get_post', { id: post.id })).featured_media, picture.id);
  },
  'it is found': async () => {
    const { posts } = await call('wp_get_posts', { search: 'evening at the lake' });
    assert.deepEqual(posts.map(({ id }) => id), [post.id]);
  },
  'a reader comments on it, and the comment waits': async () => {
    const made = await call('wp_create_comment', { post: post.id, content: 'Where is that?' }, 'subscriber');
    assert.equal(made.status, 'hold', JSON.stringify(made));
    const { comments } = await call('wp_get_comments', { post: post.id, status: 'pending' });
    assert.equal(comments.length, 1);
    [comment] = comments;
    assert.match(comment.content, /Where is that\?/);
  },
  'the comment is approved, and everybody sees it': async () => {
    assert.equal((await call('wp_approve_comment', { id: comment.id })).status, 'approved');
    const seen = await (await fetch(`${north.url}/wp-json/wp/v2/comments?post=${post.id}`)).json();
    assert.deepEqual(seen.map(({ id }) => id), [comment.id]);
  },
  'the comment is taken away and put back': async () => {
    assert.equal((await call('wp_trash_comment', { id: comment.id })).status, 'trash');
    assert.equal((await call('wp_get_comments', { post: post.id })).count, 0);
    assert.equal((await call('wp_restore_comment', { id: comment.id })).status, 'approved');
    assert.equal((await call('wp_get_comments', { post: post.id })).count, 1);
  },
  'the post goes into the bin, and nobody finds it': async () => {
    assert.deepEqual(await call('wp_delete_post', { id: post.id }), { success: true, id: post.id, deleted: false, status: 'trash' });
    assert.equal((await call('wp_get_posts', { search: 'evening at the lake' })).count, 0);
  },
  'it is taken out again': async () => {
    assert.equal((await call('wp_restore_post', { id: post.id, status: 'publish' })).status, 'publish');
    assert.equal((await call('wp_get_posts', { search: 'evening at the lake' })).count, 1);
  },
  'one sentence of a post with blocks is changed, and nothing else': async () => {
    blocks = (await compact('wp_create_post', { title: 'Blocks', content: BLOCKS })).id;
    const before = await stored(blocks);
    assert.equal(before.toString(), BLOCKS);
    const { content, content_format: format } = await compact('wp_get_post', { id: blocks });
    assert.equal(format, 'source');
    const edited = content.replace('The lake is cold.', 'The lake is warm.');
    const dry = await compact('wp_update_post', { id: blocks, content: edited, dry_run: true });
    assert.equal(dry.saved, false);
    assert.match(dry.changes.content.difference, /^@ line 6\n- <p>The lake is cold\..*\n\+ <p>The lake is warm\..*\n$/);
    assert.deepEqual(await stored(blocks), before);
    replaced = (await compact('wp_update_post', { id: blocks, content: edited })).previous_content;
    assert.deepEqual(await stored(blocks), Buffer.from(BLOCKS.replace('cold.', 'warm.')));
  },
  'the rendered page is not saved over the source': async () => {
    const { content } = await compact('wp_get_post', { id: blocks, rendered: true });
    await assert.rejects(compact('wp_update_post', { id: blocks, content }), /not saved/);
    assert.deepEqual(await stored(blocks), Buffer.from(BLOCKS.replace('cold.', 'warm.')));
  },
  'one call restores the source byte for byte': async () => {
    await compact('wp_restore_content', { previous_content: replaced });
    assert.deepEqual(await stored(blocks), Buffer.from(BLOCKS));
    await compact('wp_delete_post', { id: blocks, force: true });
  },
  'one call restores the source where the site keeps no revision': async () => {
    const { id } = await compact('wp_create_post', { title: 'Without revisions', content: BLOCKS }, south);
    const changed = BLOCKS.replace('cold.', 'warm.');
    const { previous_content: kept } = await compact('wp_update_post', { id, content: changed }, south);
    assert.deepEqual(await stored(id, south), Buffer.from(changed));
    assert.equal((await compact('wp_get_post_revisions', { id }, south)).count, 0);
    const undone = await compact('wp_restore_content', { previous_content: kept }, south);
    assert.deepEqual(await stored(id, south), Buffer.from(BLOCKS));
    // What has been undone can be done again.
    await compact('wp_restore_content', { previous_content: undone.previous_content }, south);
    assert.deepEqual(await stored(id, south), Buffer.from(changed));
    await assert.rejects(compact('wp_restore_content', { previous_content: kept }), /no content is kept at this address for this account/);
    await compact('wp_delete_post', { id, force: true }, south);
  },
  'content that the site changes for an account without unfiltered_html is reported, and so is its restoration': async () => {
    const iframe = '<iframe src="https://maps.example/1"></iframe>';
    const source = `<!-- wp:html -->\n${iframe}\n<!-- /wp:html -->\n\n<!-- wp:paragraph -->\n<p>Old text.</p>\n<!-- /wp:paragraph -->`;
    const { id } = await call('wp_create_post', { title: 'A map', content: source, author: north.people.author.id }, 'admin', gateways.extended);
    const byAuthor = (name, args) => call(name, args, 'author', gateways.extended);
    assert.equal((await stored(id)).toString(), source);
    const changed = await byAuthor('wp_update_post', { id, content: source.replace('Old', 'New') });
    assert.ok(!(await stored(id)).includes('<iframe'));
    const undone = await byAuthor('wp_restore_content', { previous_content: changed.previous_content });
    assert.ok(!(await stored(id)).includes('<iframe'));
    for (const answer of [changed, undone]) {
      assert.deepEqual(answer.not_stored, ['content'], JSON.stringify(answer));
      assert.match(answer.stored.content.difference, /^@ line 2\n- <iframe [^\n]*\n$/);
    }
    // The site writes the rest of such content in its own spelling, which is no difference.
    const plain = '<!-- wp:image {"id":1,"alt":"a & b"} -->\n<figure><img src="/a.png" alt="A"/><br/></figure>\n<!-- /wp:image -->\n\n<p style="color:red;">Ends.</p>\n';
    const other = await byAuthor('wp_update_post', { id, content: plain });
    assert.equal(other.not_stored, undefined, JSON.stringify(other));
    await call('wp_delete_post', { id, force: true }, 'admin', gateways.extended);
  },
  'what a change refers to exists, and the answer shows what was stored': async () => {
    const all = async () => (await compact('wp_get_posts', { status: 'draft', per_page: 1 })).total;
    const before = await all();
    const args = { title: 'With references', content: 'x' };
    await assert.rejects(compact('wp_create_post', { ...args, categories: [99999] }), /not saved: there is no category 99999/);
    await assert.rejects(compact('wp_create_post', { ...args, featured_media: 99999 }), /there is no media item 99999/);
    assert.equal(await all(), before);
    const { news } = north.terms;
    const made = await compact('wp_create_post', { ...args, categories: [news], featured_media: north.picture.id, meta: { no_such_meta: 1 } });
    assert.deepEqual([made.stored, made.not_stored], [{ categories: [news], featured_media: north.picture.id }, ['meta.no_such_meta']]);
    await compact('wp_delete_post', { id: made.id, force: true });
  },
  'comment and post are removed for good': async () => {
    assert.equal((await call('wp_delete_comment', { id: comment.id, force: true })).deleted, true);
    assert.equal((await call('wp_delete_post', { id: post.id, force: true })).deleted, true);
    await assert.rejects(call('wp_get_post', { id: post.id }), /Invalid post ID/);
  },
};
for (const [name, step] of Object.entries(steps)) {
  // What comes after a step that failed would only fail as well.
  if (!await check(name, step)) break;
}
rmSync(home, { recursive: true, force: true });
finish();

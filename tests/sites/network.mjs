// A network of sites (multisite): a main site and two others, of which the last has plain permalinks. Their posts have the same
// numbers, and one application password counts on all of them.

import { strict as assert } from 'node:assert';
import { get } from 'node:http';
import { basename } from 'node:path';
import { PIXEL, basic, check, each, finish, gateways, networks, post, stateless } from './cases.mjs';

/** The network of this script, and the gateway in front of it: a server for each site, and one whose requests name their site. */
const script = basename(process.argv[1], '.mjs');
const network = networks.find(({ name }) => name === script);
const gateway = gateways[script];
const NAMED = `${gateway}/named`;
const { main, one, two } = network.sites;
const isOnSubdomains = new URL(main.url).host !== network.address;
const SITES = Object.entries(network.sites);

/** The headers of somebody at a site; ann is an editor on the main site and on the first, and nothing on the last. */
const at = (site, login = 'ann', password = network.people[login].password) => {
  return { 'x-wordpress-url': site.url, 'x-wordpress-username': login, 'x-wordpress-password': password };
};

const ask = (headers, method, params, url = NAMED) => stateless(headers, method, params, url);

/** A page of a site; no name of a subdomain leads anywhere from here. */
const page = (url) => new Promise((resolve, reject) => {
  const { host, pathname, search } = new URL(url);
  const [hostname, port] = network.address.split(':');
  get({ hostname, port, path: `${pathname}${search}`, headers: { host }, timeout: 30_000 }, (response) => {
    const parts = [];
    response.on('data', (part) => parts.push(part)).on('error', reject);
    response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text: Buffer.concat(parts).toString() }));
  }).on('error', reject);
});

const call = (headers, name, args = {}, url) => ask(headers, 'tools/call', { name, arguments: args }, url);

/** What a tool shows. */
async function shown(headers, name, args, url) {
  const { result, error } = await call(headers, name, args, url);
  assert.ok(result && !result.isError, `${name} ${JSON.stringify(args)}: ${JSON.stringify(error ?? result.content)}`);
  return result.structuredContent;
}

/** The words with which a call is refused. */
async function refused(headers, name, args, url) {
  const { result, error } = await call(headers, name, args, url);
  assert.ok(error || result.isError, `${name} ${JSON.stringify(args)} shows ${JSON.stringify(result)}`);
  return error ? `${error.message} ${JSON.stringify(error.data)}` : result.content[0].text;
}

/** Somebody who calls tools at a site: by headers, or as the configuration says. */
const visitor = (headers) => ({
  shown: (name, args) => shown(headers, name, args),
  refused: (name, args) => refused(headers, name, args),
});
const configured = (site) => ({
  shown: (name, args) => shown({}, `${site}__${name}`, args, gateway),
  refused: (name, args) => refused({}, `${site}__${name}`, args, gateway),
});

/** Looks for what belongs to other sites. */
function isOf(name, found) {
  const text = JSON.stringify(found);
  const others = SITES.map(([other]) => other).filter((other) => other !== name);
  for (const other of others) {
    assert.ok(!new RegExp(` of ${other}\\b|/${other}[./]`).test(text), `${name} shows something of ${other}: ${text}`);
  }
  return found;
}

/** Reads, writes and removes at a site, and sees only what is there. */
async function work(name, { shown: show }) {
  const [site, titles] = [network.sites[name], []];
  for (const status of ['publish', 'draft']) {
    const { posts } = isOf(name, await show('wp_get_posts', { per_page: 100, status }));
    titles.push(...posts.map(({ title }) => title));
  }
  for (const title of ['Post 1', 'Post 2', 'A secret draft']) assert.ok(titles.includes(`${title} of ${name}`), `${titles}`);
  isOf(name, await show('wp_get_post', { id: site.posts[0] }));
  const made = await show('wp_create_post', { title: `Made of ${name}`, content: '<p>New.</p>', status: 'publish' });
  const [link, home] = [new URL(made.link), new URL(site.url)];
  assert.deepEqual([link.host, link.pathname.startsWith(home.pathname)], [home.host, true], made.link);
  const found = isOf(name, await show('wp_get_posts', { search: 'Made of' }));
  assert.deepEqual(found.posts.map(({ id }) => id), [made.id]);
  await show('wp_delete_post', { id: made.id, force: true });
}

/** Nothing but what anybody may see, and no changes. */
async function visit(name, { shown: show, refused: refuse }) {
  const { posts } = isOf(name, await show('wp_get_posts', { per_page: 100 }));
  assert.ok(posts.some(({ title }) => title === `Post 1 of ${name}`), JSON.stringify(posts));
  const { posts: [id], draft } = network.sites[name];
  for (const [tool, args, code] of [
    ['wp_create_post', { title: 'x', content: 'x' }, 'rest_cannot_create'],
    ['wp_update_post', { id, title: 'x' }, 'rest_cannot_edit'],
    ['wp_delete_post', { id }, 'rest_cannot_delete'],
    ['wp_get_post', { id: draft }, 'rest_forbidden'],
    ['wp_upload_media_from_base64', { base64: PIXEL, mimeType: 'image/png', fileName: 'no.png' }, 'rest_cannot_create'],
  ]) {
    const words = await refuse(tool, args);
    assert.ok(words.includes(code), `${tool}: ${words}`);
    assert.match(words, /the account has no role on this site; in a network of sites/, tool);
  }
  assert.match(await refuse('wp_get_posts', { status: 'draft' }), /Status is forbidden/);
}

await check('the posts of all sites have the same numbers, and the last has plain permalinks', async () => {
  for (const site of [main, one]) assert.equal((await page(`${site.url}/wp-json/wp/v2/posts`)).headers['x-wp-total'], '3');
  assert.deepEqual([one.posts, two.posts], [two.posts, main.posts]);
  const plain = await page(`${two.url}/wp-json/wp/v2/posts`);
  assert.ok(!plain.headers['content-type']?.includes('json'), `${plain.status} ${plain.text}`);
});
for (const name of ['main', 'one']) {
  await check(`a request names ${name}`, () => work(name, visitor(at(network.sites[name]))));
  await check(`the configuration names ${name}`, () => work(name, configured(name)));
}
await check('an account without a role on a site that a request names', () => visit('two', visitor(at(two))));
await check('an account without a role on a site that the configuration names', () => visit('two', configured('two')));
await check('who belongs to one site only', async () => {
  for (const [login, home, other] of [['mia', main, one], ['olaf', one, main]]) {
    const { id } = await shown(at(home, login), 'wp_create_post', { title: `Of ${login}`, content: 'x' });
    await shown(at(home, login), 'wp_delete_post', { id, force: true });
    assert.match(await refused(at(other, login), 'wp_create_post', { title: 'x', content: 'x' }), /no role on this site/);
  }
});
await check('a role that is missing is not the reason for every refusal', async () => {
  const words = await refused(at(one, 'olaf'), 'wp_update_post', { id: one.posts[0], title: 'x' });
  assert.match(words, /rest_cannot_edit/);
  assert.doesNotMatch(words, /no role/);
});
await check('the tools of the sites stand side by side', async () => {
  const { result } = await ask({}, 'tools/list', {}, gateway);
  const tools = result.tools.map(({ name }) => name).filter((name) => !name.includes('__ability-'));
  const of = (site) => tools.filter((name) => name.startsWith(`${site}__`)).map((name) => name.slice(site.length + 2)).sort();
  assert.ok(of('one').includes('wp_get_posts') && of('one').length > 100, `${of('one')}`);
  assert.deepEqual([of('main'), of('two'), 3 * of('one').length], [of('one'), of('one'), tools.length]);
});
await check('a password that counts on one site is asked about on each', async () => {
  for (const [, site] of SITES) {
    await shown(at(site), 'wp_get_categories');
    assert.match(await refused(at(site, 'ann', 'wrong wrong'), 'wp_get_categories'), /Application Password/);
    assert.match(await refused(at(site, 'ann', network.people.mia.password), 'wp_get_categories'), /Application Password/);
  }
});
await check('replaced content stays on its site', async () => {
  const [id] = main.posts;
  const content = async (site) => (await shown(at(site), 'wp_get_post', { id })).content;
  const links = {};
  for (const [name, site] of [['main', main], ['one', one]]) {
    const answer = await shown(at(site), 'wp_update_post', { id, content: `<p>Changed words of ${name}.</p>` });
    links[name] = answer.previous_content;
    assert.match(links[name], /^wp:\/\/previous\/\w+$/);
  }
  const changed = [await content(main), await content(one)];
  for (const [link, site, name] of [[links.main, one, 'one'], [links.one, main, 'main'], [links.one, two, 'two']]) {
    const args = { previous_content: link };
    assert.match(await refused(at(site), 'wp_restore_content', args), /no content is kept at this address for this account/);
    assert.match(await refused({}, `${name}__wp_restore_content`, args, gateway), /no content is kept/);
    assert.ok((await ask(at(site), 'resources/read', { uri: link })).error, 'read at another site');
  }
  assert.match(await refused(at(one, 'owner'), 'wp_restore_content', { previous_content: links.one }), /for this account/);
  assert.deepEqual([await content(main), await content(one)], changed);
  // A slash at the end makes no other site.
  await shown({ ...at(one), 'x-wordpress-url': `${one.url}/` }, 'wp_restore_content', { previous_content: links.one });
  assert.deepEqual([await content(main), await content(one)], [changed[0], '<p>Words of one.</p>']);
  await shown(at(main), 'wp_restore_content', { previous_content: links.main });
  assert.equal(await content(main), '<p>Words of main.</p>');
});
await check(`a ${isOnSubdomains ? 'name' : 'path'} in capitals leads to the same site, or to none`, async () => {
  const headers = { ...at(one), 'x-wordpress-url': one.url.replace(/\bone\b/, 'ONE') };
  isOf('one', await shown(headers, 'wp_get_posts', { per_page: 100 }));
  const { previous_content: link } = await shown(at(one), 'wp_update_post', { id: one.posts[1], content: '<p>Other words of one.</p>' });
  // Names are the same in capitals, paths are not.
  if (!isOnSubdomains) assert.match(await refused(headers, 'wp_restore_content', { previous_content: link }), /no content is kept/);
  await shown(isOnSubdomains ? headers : at(one), 'wp_restore_content', { previous_content: link });
});
await check('an address without a site does not lead to another site', async () => {
  const count = async () => Promise.all([main, one].map(async (site) => (await shown(at(site), 'wp_get_posts', { status: 'draft' })).total));
  const before = await count();
  const instead = /there is no site at this address: the site http\S+ answers instead/;
  const astray = [main, one, two].map((site) => [`${site.url}/three`, instead]);
  if (isOnSubdomains) astray.push([one.url.replace('one', 'three'), /there is no site at this address/]);
  for (const [url, words] of astray) {
    const headers = { ...at(main), 'x-wordpress-url': url };
    await Promise.all([['wp_get_posts', {}], ['wp_create_post', { title: 'Astray', content: 'x' }]].map(async ([tool, args]) => {
      assert.match(await refused(headers, tool, args), words, url);
    }));
  }
  assert.deepEqual(await count(), before);
});
await check('a site with plain permalinks', async () => {
  await work('two', visitor(at(two, 'owner')));
  const [id] = two.posts;
  const { previous_content: link } = await shown(at(two, 'owner'), 'wp_update_post', { id, content: '<p>Changed.</p>' });
  await shown(at(two, 'owner'), 'wp_restore_content', { previous_content: link });
  assert.equal((await shown(at(two, 'owner'), 'wp_get_post', { id })).content, '<p>Words of two.</p>');
  // The others go on having paths.
  for (const [name, site] of [['main', main], ['one', one]]) isOf(name, await shown(at(site), 'wp_get_post', { id }));
});
await check('what a site offers', async () => {
  for (const [name, site] of SITES) {
    const { name: title, url, home } = await shown(at(site, 'admin'), 'site_routes');
    assert.equal(title, `Site ${name === 'main' ? script : name}`, `${url} ${home}`);
    const { routes } = await shown(at(site, 'admin'), 'site_routes', { namespace: 'wp/v2', search: 'comments' });
    assert.ok(routes.some(({ route }) => route === '/wp/v2/comments/{id}'), JSON.stringify(routes));
    isOf(name, await shown(at(site, 'admin'), 'site_request', { route: '/wp/v2/posts', parameters: { per_page: 50, context: 'edit' } }));
  }
});
await check('a file goes to the library of its site', async () => {
  const args = { base64: PIXEL, mimeType: 'image/png', fileName: 'network.png', title: 'Network' };
  const made = await shown(at(one), 'wp_upload_media_from_base64', args);
  assert.ok(made.source_url.includes(`/wp-content/uploads/sites/${one.id}/`), made.source_url);
  assert.equal((await page(made.source_url)).headers['content-type'], 'image/png');
  const listed = async (site) => (await shown(at(site, 'admin'), 'wp_get_media')).media.map(({ source_url: url }) => url);
  assert.ok((await listed(one)).includes(made.source_url));
  assert.deepEqual([await listed(main), await listed(two)], [[], []]);
  await shown(at(one), 'wp_delete_media_item', { id: made.id });
});
await check('only the members of a site are listed', async () => {
  const members = async (site, login, args) => {
    const { users } = await shown(at(site, login), 'wp_get_users', { per_page: 100, ...args });
    return users.map(({ slug }) => slug).sort();
  };
  assert.deepEqual(await members(one, 'owner'), ['ann', 'olaf', 'owner']);
  assert.deepEqual(await members(one, 'admin'), ['ann', 'olaf', 'owner']);
  assert.deepEqual(await members(two, 'owner'), ['owner']);
  // Only the administrator of a network may edit others.
  assert.deepEqual(await members(one, 'owner', { context: 'edit' }), ['owner']);
  assert.deepEqual(await members(one, 'admin', { context: 'edit' }), ['ann', 'olaf', 'owner']);
  assert.deepEqual(await members(main, 'admin'), ['admin', 'ann', 'mia']);
  assert.match(await refused(at(one, 'owner'), 'wp_get_user', { id: network.people.mia.id }), /rest_user_invalid_id/);
});
await check('the administrator of the network works on all sites', async () => {
  await Promise.all(SITES.map(([name, site]) => work(name, visitor(at(site, 'admin')))));
});
await check('the administrator of the network may read what an administrator of a site may read', async () => {
  const { tools } = (await ask(at(one, 'owner'), 'tools/list')).result;
  const readers = tools.filter(({ annotations, inputSchema }) => annotations.readOnlyHint && !inputSchema.required?.length);
  assert.ok(readers.length > 40, `${readers.length}`);
  await each(readers, async ({ name }) => {
    const [owner, admin] = await Promise.all(['owner', 'admin'].map(async (login) => (await call(at(one, login), name)).result));
    // An administrator of a site may not do everything in a network; the administrator of the network may do all of it.
    if (!owner.isError) assert.ok(!admin.isError, `${name}: ${admin.content[0].text}`);
    else assert.ok(!/no role/.test(admin.content[0].text), `${name}: ${admin.content[0].text}`);
  });
});
if (!isOnSubdomains) {
  await check('an endpoint for administrators of a site admits the administrator of the network', async () => {
    const url = `${new URL(gateways.owners).origin}/wp-json/buddyboss-mcp/v1/mcp`;
    const list = async (login) => post(basic(login, network.people[login].password), { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }, url);
    for (const login of ['owner', 'admin']) assert.ok((await list(login)).body.result.tools.length > 30, login);
    for (const login of ['ann', 'mia', 'olaf']) assert.equal((await list(login)).status, 403, login);
  });
}
await check('all sites at once', async () => {
  const turns = Array.from({ length: 24 }, (_, turn) => SITES[turn % 3]);
  await Promise.all(turns.map(async ([name, site], turn) => {
    const headers = at(site, turn % 2 ? 'admin' : 'ann');
    const found = await shown(headers, 'wp_get_post', { id: site.posts[turn % 2] });
    assert.equal(isOf(name, found).title, `Post ${1 + (turn % 2)} of ${name}`);
  }));
});
finish();

// Twenty accounts of two sites at once, whose posts have the same numbers: nobody sees what is another's, in answers, in
// errors or in what is kept.

import { strict as assert } from 'node:assert';
import { PIXEL, as, call, check, finish, gateways, north, post, shown, sites, south } from './cases.mjs';

const EDITORS = ['admin', 'editor'];
const tenants = sites.flatMap((site) => Object.entries(site.people).map(([login, person]) => ({ site, login, ...person })));
const secrets = tenants.flatMap(({ password }) => [password, password.replaceAll(' ', '')]);

/** What must not be in an answer to somebody. */
function foreign({ site, login }) {
  const sees = (other) => other.site === site && (other.login === login || EDITORS.includes(login));
  const hidden = tenants.filter((other) => !sees(other)).map((other) => other.secret);
  return [...hidden, ...secrets, site === north ? ' of south' : ' of north', (site === north ? south : north).url];
}

/** Calls that wait for their answers, and the most that ever did. */
let [waiting, most] = [0, 0];

/** Calls, and looks at all that comes back before anything else. */
async function asked(tenant, name, args, headers = as(tenant.site, tenant.login)) {
  most = Math.max(most, waiting += 1);
  const answer = await call(headers, name, args).finally(() => { waiting -= 1; });
  const text = JSON.stringify(answer);
  for (const word of foreign(tenant)) assert.ok(!text.includes(word), `${tenant.login} of ${tenant.site.name} sees ${word} in ${text}`);
  return { answer, text };
}

let marks = 0;
const KINDS = [
  async (one) => {
    const { text } = await asked(one, 'wp_get_post', { id: one.site.posts[3] });
    assert.ok(text.includes(`Post 4 of ${one.site.name}`), text);
  },
  async (one) => {
    const { text } = await asked(one, 'wp_get_post', { id: one.draft });
    assert.ok(text.includes(one.secret), text);
  },
  async (one) => {
    // The same number is somebody else's at the other site, too.
    const other = one.site.people[one.login === 'writer1' ? 'writer2' : 'writer1'];
    const { answer, text } = await asked(one, 'wp_get_post', { id: other.draft });
    if (EDITORS.includes(one.login)) assert.ok(text.includes(other.secret), text);
    else assert.equal(answer.error?.data?.code, 'rest_forbidden', text);
  },
  async (one) => {
    const { answer, text } = await asked(one, 'wp_get_posts', { status: 'draft', search: 'secret', per_page: 50 });
    if (one.login === 'subscriber') return assert.equal(answer.error?.data?.code, 'rest_invalid_param', text);
    const { count } = JSON.parse(answer.result.content[0].text);
    return assert.equal(count, EDITORS.includes(one.login) ? 10 : 1, text);
  },
  async (one) => {
    const { text } = await asked(one, 'wp_get_category', { id: one.site.terms.news });
    assert.ok(text.includes(`News of ${one.site.name}`), text);
  },
  async (one) => {
    const mark = `mark-${(marks += 1)}-${one.site.name}-${one.login}`;
    const { answer, text } = await asked(one, 'wp_create_post', { title: mark, content: mark });
    if (one.login === 'subscriber') return assert.equal(answer.error?.data?.code, 'rest_cannot_create', text);
    const made = JSON.parse(answer.result.content[0].text);
    assert.ok(made.title === mark && made.link.startsWith(one.site.url), text);
    const { text: gone } = await asked(one, 'wp_delete_post', { id: made.id, force: true });
    return assert.ok(gone.includes(mark), gone);
  },
  async (one) => {
    const { answer, text } = await asked(one, 'wp_get_post', { id: 99999 });
    assert.equal(answer.error?.data?.code, 'rest_post_invalid_id', text);
  },
  async (one) => {
    // Its name with a neighbour's password, and its own at the other site.
    const other = one.site === north ? south : north;
    const next = tenants[(tenants.findIndex((it) => it.site === one.site && it.login === one.login) + 1) % tenants.length];
    for (const headers of [as(one.site, one.login, next.password), as(other, one.login, one.password)]) {
      const { answer, text } = await asked(one, 'wp_get_categories', {}, headers);
      assert.deepEqual([answer.error?.code, answer.error?.message], [-32002, 'Invalid credentials'], text);
    }
  },
  async (one) => {
    const { text } = await asked(one, 'wp_get_media_item', { id: one.site.picture.id });
    assert.ok(text.includes(one.site.picture.url), text);
  },
  async (one) => {
    const { text } = await asked(one, 'wp_get_pages', { search: 'About' });
    assert.ok(text.includes(`About ${one.site.name}`), text);
  },
];

await check('200 calls of 20 accounts of two sites at once', async () => {
  assert.equal(tenants.length, 20);
  // Neighbours in the queue are of different sites and kinds.
  const jobs = KINDS.flatMap((_, turn) => tenants.map((one, at) => () => KINDS[(turn + at) % KINDS.length](one)));
  assert.equal(jobs.length, 200);
  const outcomes = await Promise.allSettled(jobs.map((job) => job()));
  const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map((outcome) => outcome.reason.message);
  assert.deepEqual(failures, []);
  assert.deepEqual([most, waiting], [200, 0]);
});
await check('a wrong password sees nothing, not even what anybody may see', async () => {
  for (const tool of ['wp_get_posts', 'wp_get_categories', 'wp_get_comments', 'wp_get_media']) {
    for (const password of ['wrong wrong', 'login-of-admin', north.people.editor.password]) {
      const { error } = await call(as(south, 'admin', password), tool);
      assert.deepEqual([error?.code, error?.message], [-32002, 'Invalid credentials']);
    }
  }
});
await check('no tool works for a stranger, or for nobody', async () => {
  const { body } = await post({}, { jsonrpc: '2.0', id: 1, method: 'tools/list' });
  assert.equal(body.result.tools.length, 24);
  const known = { id: north.posts[0], url: 'https://files.example.com/a.png', base64: PIXEL, mimeType: 'image/png' };
  const elsewhere = ['upload_to_imgbb'];
  for (const { name, inputSchema } of body.result.tools) {
    const args = Object.fromEntries(inputSchema.required.map((key) => [key, known[key] ?? 'words']));
    const strangers = await call(as(south, 'admin', 'wrong wrong'), name, args);
    if (!elsewhere.includes(name)) assert.deepEqual([strangers.error?.code, strangers.error?.message], [-32002, 'Invalid credentials'], name);
    const nobodys = await call({}, name, args);
    assert.deepEqual([nobodys.error?.code, nobodys.error?.message], [-32001, 'No credentials provided'], name);
  }
});
await check('a password that is taken back counts no more', async () => {
  const [admin, writer] = [as(north, 'admin'), north.people.writer2];
  const made = await shown(admin, 'wp_create_application_password', { user_id: writer.id, name: 'brief' }, gateways.files);
  const brief = as(north, 'writer2', made.password);
  const asked = (tool, args) => call(brief, tool, args, gateways.files);
  assert.ok((await asked('wp_get_categories')).result);
  await shown(admin, 'wp_delete_application_password', { user_id: writer.id, uuid: made.uuid }, gateways.files);
  // The first refusal by the site ends what is remembered of it.
  for (const [tool, args] of [['wp_create_post', { title: 'x', content: 'x' }], ['wp_get_categories', {}], ['wp_get_posts', {}]]) {
    const { error, result } = await asked(tool, args);
    assert.deepEqual([error?.code, error?.message], [-32002, 'Invalid credentials'], JSON.stringify(result));
  }
});
await check('an account counts with its address, too', async () => {
  for (const login of ['writer1', 'WRITER1', 'writer1@north.example.org']) {
    const answer = await call(as(north, login, north.people.writer1.password), 'wp_get_categories');
    assert.ok(answer.result, `${login}: ${JSON.stringify(answer)}`);
  }
});
await check('what is measured names no tenant', async () => {
  for (const path of ['/metrics', '/health', '/ready', '/']) {
    const text = await (await fetch(new URL(path, gateways.wordpress))).text();
    for (const word of [...secrets, ...tenants.map((one) => one.secret), north.url, south.url]) assert.ok(!text.includes(word), `${path}: ${word}`);
  }
});
finish();

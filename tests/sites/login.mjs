// Signing in with WordPress: real clients, and a person with a browser who has an account at a real site.

import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Browser } from './browser.mjs';
import { basic, check, finish, gateways, north, python, south } from './cases.mjs';

const url = gateways.login;
const { origin } = new URL(url);
const CALLBACK = 'http://127.0.0.1:33419/callback';
const isCallback = (to) => to.startsWith('http://127.0.0.1:33419/') || to.startsWith('http://localhost:');

/** What a person does after a client has sent the browser to `address`: the address with which it returns to the client. */
async function approve(address, { site = north, name = 'editor', choice = 'approve', browser = new Browser() } = {}) {
  const question = await browser.open(address);
  assert.equal(question.status, 200, question.text);
  let page = await browser.submit(question, 'name="site"', { site: site.url, choice: 'continue' });
  assert.equal(page.status, 303, page.text);
  page = await browser.open(page.to);
  if (page.url.pathname.endsWith('/wp-login.php')) {
    const sent = await browser.submit(page, 'user_login', { log: name, pwd: `login-of-${name}`, testcookie: '1' });
    assert.equal(sent.status, 302, sent.text);
    page = await browser.open(sent.to);
  }
  assert.ok(page.text.includes('(Dragoman '), page.text.slice(0, 3000));
  const left = await browser.submit(page, 'authorize_application_password', { [choice]: 'yes' });
  assert.ok(left.to, left.text);
  const end = await browser.open(left.to, (to) => !isCallback(to));
  assert.ok(end.to, end.text);
  assert.ok(!end.to.includes('password='), 'the password goes to no client');
  return new URL(end.to);
}

/** The application passwords of an account, as the site lists them for it. */
async function passwords(site, name) {
  const headers = basic(name, site.people[name].password);
  const answer = await fetch(`${site.url}/wp-json/wp/v2/users/me/application-passwords`, { headers });
  return (await answer.json()).filter((one) => /\(Dragoman .{6}\)$/.test(one.name));
}

const form = (path, fields) => fetch(`${origin}${path}`, { method: 'POST', body: new URLSearchParams(fields) });
const ask = (token, method, params) => fetch(url, {
  method: 'POST',
  headers: {
    authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream', 'content-type': 'application/json',
    'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(params?.name && { 'mcp-name': params.name }),
  },
  body: JSON.stringify({
    jsonrpc: '2.0', id: 1, method, params: {
      ...params,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  }),
});

/** A sign-in without an SDK: the tokens and the id of the client. */
async function signedIn(person) {
  const registered = await fetch(`${origin}/oauth/register`, {
    method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'By hand', redirect_uris: [CALLBACK] }),
  });
  const { client_id } = await registered.json();
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    response_type: 'code', client_id, redirect_uri: CALLBACK, state: 'x', resource: url,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 'S256',
  });
  const back = await approve(`${origin}/oauth/authorize?${query}`, person);
  if (!back.searchParams.has('code')) return { back };
  const answer = await form('/oauth/token', {
    grant_type: 'authorization_code', code: back.searchParams.get('code'), client_id, code_verifier: verifier, redirect_uri: CALLBACK,
  });
  return { ...(await answer.json()), client_id, back };
}

/** What both TypeScript SDKs ask of a program that uses them. */
function provider() {
  const kept = {};
  return {
    kept,
    redirectUrl: CALLBACK,
    clientMetadata: { client_name: 'An SDK', redirect_uris: [CALLBACK], grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], token_endpoint_auth_method: 'none' },
    clientInformation: () => kept.client,
    saveClientInformation: (client) => { kept.client = client; },
    tokens: () => kept.tokens,
    saveTokens: (tokens) => { kept.tokens = tokens; },
    redirectToAuthorization: (address) => { kept.address = address.href; },
    saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
    codeVerifier: () => kept.verifier,
  };
}

for (const [sdk, Client, Transport] of [['1', ClientV1, TransportV1], ['2', ClientV2, TransportV2]]) {
  await check(`the TypeScript SDK ${sdk} signs in`, async () => {
    const authProvider = provider();
    const connect = async () => {
      const transport = new Transport(new URL(url), { authProvider });
      const client = new Client({ name: 'test', version: '1' });
      return { transport, client, failed: await client.connect(transport).then(() => undefined, (error) => error) };
    };
    const first = await connect();
    assert.ok(authProvider.kept.address, String(first.failed?.stack));
    const back = await approve(authProvider.kept.address);
    await first.transport.finishAuth(back.searchParams.get('code'), back.searchParams.get('iss') ?? undefined);
    const { client, failed } = await connect();
    assert.equal(failed, undefined);
    const answer = await client.callTool({ name: 'wp_get_post', arguments: { id: north.people.editor.draft } });
    assert.ok(answer.content[0].text.includes(north.people.editor.secret), answer.content[0].text);
    await client.close();
  });
}

await check('the Python SDK signs in', async () => {
  const program = fileURLToPath(new URL('login.py', import.meta.url));
  const args = JSON.stringify({ id: north.people.editor.draft });
  const child = spawn(python, [program, url, 'wp_get_post', args], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const [, what, text] = /^(\S+) (.*)$/.exec(line);
      if (what === 'open') child.stdin.write(`${(await approve(text)).href}\n`);
      else return assert.ok(text.includes(north.people.editor.secret), text);
    }
    return assert.fail('it ended without an answer');
  } finally {
    child.kill();
  }
});

await check('mcp-remote signs in', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-login-'));
  const program = fileURLToPath(new URL('../node_modules/mcp-remote/dist/proxy.js', import.meta.url));
  const port = 20000 + (process.pid % 20000);
  const child = spawn(process.execPath, [program, url, String(port)], {
    env: { ...process.env, MCP_REMOTE_CONFIG_DIR: folder, BROWSER: '/bin/true', DISPLAY: '' }, stdio: ['pipe', 'pipe', 'pipe'],
  });
  try {
    const address = new Promise((done) => {
      let text = '';
      child.stderr.on('data', (part) => {
        text += part;
        const found = /(http:\/\/127\.0\.0\.1:\d+\/oauth\/authorize\?\S+)/.exec(text);
        if (found && text.includes(`${found[1]}\n`)) done(found[1]);
      });
    });
    const waiting = {};
    const answer = (id) => new Promise((done) => { waiting[id] = done; });
    createInterface({ input: child.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      waiting[message.id]?.(message);
    });
    const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const greeted = answer(1);
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } } });
    const back = await approve(await address);
    const page = await fetch(back);
    assert.equal(page.status, 200, await page.text());
    await greeted;
    send({ method: 'notifications/initialized' });
    const answered = answer(2);
    send({ id: 2, method: 'tools/call', params: { name: 'wp_get_post', arguments: { id: north.people.editor.draft } } });
    const text = JSON.stringify(await answered);
    assert.ok(text.includes(north.people.editor.secret), text);
  } finally {
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});

await check('each person is somebody else, at either site', async () => {
  const people = [[north, 'writer1'], [north, 'writer2'], [south, 'writer1']];
  const all = await Promise.all(people.map(([site, name]) => signedIn({ site, name })));
  await Promise.all(all.map(async ({ access_token: token }, at) => {
    const [site, name] = people[at];
    const answer = await (await ask(token, 'tools/call', { name: 'wp_get_post', arguments: { id: site.people[name].draft } })).text();
    assert.ok(answer.includes(site.people[name].secret), answer);
    const other = site.people[name === 'writer1' ? 'writer2' : 'writer1'];
    const refused = await (await ask(token, 'tools/call', { name: 'wp_get_post', arguments: { id: other.draft } })).text();
    assert.ok(!refused.includes(other.secret) && refused.includes('rest_forbidden'), refused);
  }));
});

await check('without a token, clients learn where to sign in', async () => {
  const answer = await fetch(url, { method: 'POST', body: '{}' });
  assert.equal(answer.status, 401);
  const challenge = answer.headers.get('www-authenticate');
  const [, metadata] = /^Bearer resource_metadata="([^"]+)"/.exec(challenge) ?? assert.fail(challenge);
  const resource = await (await fetch(metadata)).json();
  assert.equal(resource.resource, url);
  const server = await (await fetch(`${resource.authorization_servers[0]}/.well-known/oauth-authorization-server`)).json();
  assert.equal(server.issuer, resource.authorization_servers[0]);
});

await check('a person declines at the site', async () => {
  const { back } = await signedIn({ choice: 'reject' });
  assert.equal(back.searchParams.get('error'), 'access_denied');
  assert.equal(back.searchParams.get('state'), 'x');
});

await check('a revoked token deletes the password at the site', async () => {
  const before = await passwords(north, 'writer3');
  const { access_token: token, refresh_token } = await signedIn({ name: 'writer3' });
  assert.equal((await passwords(north, 'writer3')).length, before.length + 1);
  assert.equal((await ask(token, 'tools/list')).status, 200);
  assert.equal((await form('/oauth/revoke', { token: refresh_token })).status, 200);
  assert.equal((await ask(token, 'tools/list')).status, 401);
  for (let wait = 0; (await passwords(north, 'writer3')).length > before.length; wait += 1) {
    assert.ok(wait < 100, 'the password is still there');
    await new Promise((done) => { setTimeout(done, 100); });
  }
});

await check('a password that was revoked at the site becomes 401', async () => {
  const { access_token: token, refresh_token, client_id } = await signedIn({ name: 'writer4' });
  assert.equal((await ask(token, 'tools/list')).status, 200);
  const headers = basic('writer4', north.people.writer4.password);
  for (const { uuid } of await passwords(north, 'writer4')) {
    await fetch(`${north.url}/wp-json/wp/v2/users/me/application-passwords/${uuid}`, { method: 'DELETE', headers });
  }
  // Dragoman trusts what it knows about a token for a few seconds.
  let answer = await ask(token, 'tools/list');
  for (let wait = 0; answer.status === 200; wait += 1) {
    assert.ok(wait < 100, 'the token still works');
    await new Promise((done) => { setTimeout(done, 100); });
    answer = await ask(token, 'tools/list');
  }
  assert.equal(answer.status, 401);
  assert.match(answer.headers.get('www-authenticate'), /error="invalid_token"/);
  const renewed = await form('/oauth/token', { grant_type: 'refresh_token', refresh_token, client_id });
  assert.equal((await renewed.json()).error, 'invalid_grant');
});
finish();

// A person with a browser, and an OAuth client that keeps what it learns in memory: for the SDKs, which do the rest.

import { strict as assert } from 'node:assert';
import { gateway, provider, token } from './cases.mjs';

const REDIRECT = 'http://127.0.0.1:9/callback';

/** Opens a URL, keeps cookies, follows redirects until it is sent back to the client; the parameters that it brings. */
export async function browse(start) {
  const cookies = new Map();
  let url = new URL(start);
  for (let step = 0; step < 20; step += 1) {
    if (url.href.startsWith(REDIRECT)) return url.searchParams;
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      if (value) cookies.set(name, value);
      else cookies.delete(name);
    }
    const next = response.headers.get('location');
    assert.ok(next, `${url} answers ${response.status} ${await response.text()}`);
    url = new URL(next, url);
  }
  throw new Error('redirects without end');
}

/** What an SDK asks an application for (its `OAuthClientProvider`). */
export class Application {
  constructor(scope) {
    this.scope = scope;
    this.told = [];
  }

  get redirectUrl() {
    return REDIRECT;
  }

  get clientMetadata() {
    return {
      client_name: 'a client of tests',
      redirect_uris: [REDIRECT],
      grant_types: ['authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      ...(this.scope && { scope: this.scope }),
    };
  }

  state() {
    this.expected = crypto.randomUUID();
    return this.expected;
  }

  clientInformation() {
    return this.client;
  }

  saveClientInformation(client) {
    this.told.push('registered');
    this.client = client;
  }

  tokens() {
    return this.saved;
  }

  saveTokens(tokens) {
    this.told.push('tokens');
    this.saved = tokens;
  }

  redirectToAuthorization(url) {
    this.told.push('authorization');
    this.authorization = url;
  }

  saveDiscoveryState(state) {
    this.discovered = state;
  }

  discoveryState() {
    return this.discovered;
  }

  saveCodeVerifier(verifier) {
    this.verifier = verifier;
  }

  codeVerifier() {
    return this.verifier;
  }

  /** What the person does with the URL that the SDK opens. */
  async agree() {
    const back = await browse(this.authorization);
    assert.equal(back.get('state'), this.expected);
    assert.ok(back.get('code'), back.toString());
    return back;
  }
}

/** Goes through the whole flow of one SDK; `connect` makes a transport with an application, connects a client by it. */
export async function wholeFlow(check, { newTransport, newClient, UnauthorizedError, finishAuth }) {
  const application = new Application('mcp');
  let client;
  await check('a client without a token is sent to the provider', async () => {
    const transport = newTransport(application);
    await assert.rejects(newClient().connect(transport), (error) => error instanceof UnauthorizedError);
    assert.deepEqual(application.told, ['registered', 'authorization']);
    const asked = application.authorization.searchParams;
    assert.equal(asked.get('code_challenge_method'), 'S256');
    assert.equal(asked.get('resource'), gateway);
    assert.equal(asked.get('scope'), 'mcp');
    await finishAuth(transport, await application.agree());
    assert.equal(application.told.at(-1), 'tokens');
  });
  await check('with the token it connects', async () => {
    client = newClient();
    await client.connect(newTransport(application));
  });
  await check('it lists tools and calls one', async () => {
    const { tools } = await client.listTools();
    assert.ok(tools.some((tool) => tool.name === 'echo'), JSON.stringify(tools));
    const { content } = await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
    assert.match(JSON.stringify(content), /hello/);
  });
  await check('end', () => client.close());
  await check('a client with too little scope asks for more', async () => {
    const poor = new Application('mcp write');
    poor.saved = { access_token: await token({ scope: 'write' }), token_type: 'Bearer', scope: 'write', issuer: provider };
    const transport = newTransport(poor);
    await assert.rejects(newClient().connect(transport));
    assert.deepEqual(poor.told, ['registered', 'authorization']);
    const scopes = poor.authorization.searchParams.get('scope').split(' ');
    assert.ok(scopes.includes('mcp'), scopes.join(' '));
    await finishAuth(transport, await poor.agree());
    const richer = newClient();
    await richer.connect(newTransport(poor));
    assert.ok((await richer.listTools()).tools.length > 0);
    await richer.close();
  });
}

// An identity provider (`oidc-provider`) whose one user agrees to everything at once.
//   node provider.mjs
// It prints `provider at URL` and serves until its stdin ends.
//
// Clients register themselves, or are machines: `robot`, `other` (tokens of ten minutes) and `brief` (of two seconds). Tokens are JWTs for whatever resource is asked for. `POST /test/rotate` gives it new keys; `POST /test/gate` says where the public
// address of a gateway is on this machine.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';

const USER = 'ann';
const SECRET = 'a-secret-that-only-tests-know';
const SCOPES = 'mcp write';

async function newKey(alg) {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: `${alg}-${randomUUID()}`, alg, use: 'sig' };
}

const machine = (id) => ({
  client_id: id,
  client_secret: SECRET,
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
});

async function newProvider(issuer) {
  const provider = new Provider(issuer, {
    jwks: { keys: await Promise.all(['RS256', 'ES256', 'PS256'].map(newKey)) },
    clients: ['robot', 'other', 'brief'].map(machine),
    scopes: ['openid', 'offline_access', ...SCOPES.split(' ')],
    claims: { openid: ['sub'] },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    cookies: { keys: [randomUUID()] },
    ttl: { ClientCredentials: (_ctx, _token, client) => (client.clientId === 'brief' ? 2 : 600) },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    pkce: { required: () => true },
    clientBasedCORS: () => false,
    // No name server knows the public address of the gateway in these tests, and the provider's dispatcher refuses this machine.
    fetch: (url, { dispatcher, ...options }) => fetch(gate ? String(url).replace(gate.open, gate.here) : url, options),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        useGrantedResource: () => true,
        // `?alg=` chooses what the token is signed by.
        getResourceServerInfo: (_, resource) => ({
          scope: SCOPES,
          audience: resource.split('?')[0],
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: new URL(resource).searchParams.get('alg') ?? 'RS256' } },
        }),
      },
    },
  });
  return provider;
}

/** The user signs in and agrees. */
async function interact(provider, request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: USER } });
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  if (prompt.details.missingOIDCScope) grant.addOIDCScope(prompt.details.missingOIDCScope.join(' '));
  for (const [resource, scopes] of Object.entries(prompt.details.missingResourceScopes ?? {})) {
    grant.addResourceScope(resource, scopes.join(' '));
  }
  const consent = { grantId: await grant.save() };
  return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
}

let gate;
let registered = 0;
let provider;
const server = createServer(async (request, response) => {
  try {
    if (request.url.startsWith('/interaction/')) return await interact(provider, request, response);
    if (request.method === 'POST' && request.url === '/test/rotate') {
      provider = await newProvider(issuer);
      return response.writeHead(204).end();
    }
    if (request.method === 'POST' && request.url === '/test/gate') {
      let text = '';
      for await (const chunk of request) text += chunk;
      gate = JSON.parse(text);
      return response.writeHead(204).end();
    }
    if (request.url === '/test/registered') {
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ registered }));
    }
    if (request.method === 'POST' && request.url === '/reg') registered += 1;
    return await provider.callback()(request, response);
  } catch (error) {
    console.error(error);
    return response.writeHead(500).end();
  }
});
await new Promise((ready) => { server.listen(0, '127.0.0.1', ready); });
const issuer = `http://127.0.0.1:${server.address().port}`;
provider = await newProvider(issuer);
console.log(`provider at ${issuer}`);
process.stdin.resume().on('end', () => process.exit(0));

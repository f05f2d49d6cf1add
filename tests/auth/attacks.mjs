// Tokens that a real provider gave, and what can be made of them.

import { strict as assert } from 'node:assert';
import { createHmac, createPublicKey } from 'node:crypto';
import { SignJWT, UnsecuredJWT, decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose';
import { accepted, ask, check, finish, gateway, provider, refused, show, token } from './cases.mjs';

const encoded = (value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const publicKeys = async () => (await (await fetch(`${provider}/jwks`)).json()).keys;
/** Whether a token is let in; begins no session. */
async function isKnown(text) {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', authorization: `Bearer ${text}` };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const response = await fetch(gateway, { method: 'POST', headers, body });
  await response.text();
  return response.status !== 401;
}
const WELL_KNOWN = '/.well-known/oauth-protected-resource';

await check('the challenge names the metadata, which names the provider', async () => {
  const { status, challenge } = await ask();
  assert.equal(status, 401);
  const [, place] = /^Bearer resource_metadata="([^"]+)", scope="mcp"$/.exec(challenge) ?? [];
  const { origin, pathname } = new URL(gateway);
  assert.equal(place, `${origin}${WELL_KNOWN}${pathname}`, challenge);
  const metadata = await (await fetch(place)).json();
  assert.deepEqual(metadata, {
    resource: gateway, authorization_servers: [provider], bearer_methods_supported: ['header'], scopes_supported: ['mcp'],
  });
  assert.deepEqual(await (await fetch(`${origin}${WELL_KNOWN}`)).json(), metadata);
});
for (const alg of ['RS256', 'ES256']) {
  await check(`a token signed by ${alg}`, async () => {
    const text = await token({ alg });
    assert.equal(decodeProtectedHeader(text).alg, alg);
    await accepted(text);
    await accepted(text);
  });
}
await check('an algorithm that the issuer may not use', async () => {
  await refused(await token({ alg: 'PS256' }), "the token's algorithm is not allowed for this issuer");
});
await check('a token in the query', async () => {
  const text = await token();
  for (const name of ['access_token', 'token', 'authorization']) {
    assert.equal((await ask({}, `${gateway}?${name}=${text}`)).status, 401);
  }
});
await check('a token for somebody else', async () => {
  const why = 'the token was issued for another audience';
  await refused(await token({ resource: 'https://elsewhere.example/mcp' }), why);
  await refused(await token({ resource: `${gateway}/more` }), why);
  await refused(await token({ resource: new URL(gateway).origin }), why);
});
await check('a token that is no JWT', async () => {
  const text = await token({ resource: null, scope: '' });
  assert.equal(text.split('.').length, 1);
  await refused(text, 'unknown token');
});
await check('a token with too little scope', async () => {
  const { status, challenge } = await show(await token({ scope: 'write' }));
  assert.equal(status, 403);
  assert.match(challenge, /^Bearer error="insufficient_scope", resource_metadata="[^"]+", scope="mcp"$/);
});
await check('a token that ends', async () => {
  const text = await token({ client: 'brief' });
  await accepted(text);
  const { exp } = decodeJwt(text);
  while (await isKnown(text));
  assert.ok(Date.now() / 1000 >= exp - 1, 'not before its time');
  assert.ok(Date.now() / 1000 < exp + 2, 'and not long after');
  await refused(text, 'the token has expired');
});
await check('alg none', async () => {
  const text = await token();
  const why = "the token's signature algorithm is not supported";
  await refused(new UnsecuredJWT(decodeJwt(text)).encode(), why);
  const [, claims, signature] = text.split('.');
  for (const alg of ['none', 'None', 'NONE', '']) {
    await refused(`${encoded({ ...decodeProtectedHeader(text), alg })}.${claims}.`, why);
    await refused(`${encoded({ ...decodeProtectedHeader(text), alg })}.${claims}.${signature}`, why);
  }
  await refused(`${text.slice(0, text.lastIndexOf('.'))}.`, 'the token is not signed');
});
await check('a public key as a shared secret', async () => {
  const text = await token();
  const { kid } = decodeProtectedHeader(text);
  const jwk = (await publicKeys()).find((key) => key.kid === kid);
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  const secrets = [
    key.export({ type: 'spki', format: 'pem' }), key.export({ type: 'spki', format: 'der' }),
    key.export({ type: 'pkcs1', format: 'pem' }), JSON.stringify(jwk), Buffer.from(jwk.n, 'base64url'), jwk.n,
  ];
  const claims = encoded(decodeJwt(text));
  for (const secret of secrets) {
    for (const alg of ['HS256', 'RS256']) {
      const signed = `${encoded({ alg, kid, typ: 'at+jwt' })}.${claims}`;
      const tag = createHmac('sha256', secret).update(signed).digest('base64url');
      await refused(`${signed}.${tag}`, alg === 'HS256' ? "the token's signature algorithm is not supported" : "the token's signature is wrong");
    }
  }
});
await check('a key of one algorithm with another', async () => {
  const text = await token();
  const other = (await publicKeys()).find((key) => key.alg === 'ES256');
  const [, claims, signature] = text.split('.');
  const why = "the token's algorithm is not allowed for this issuer and this key";
  await refused(`${encoded({ alg: 'RS256', kid: other.kid })}.${claims}.${signature}`, why);
  await refused(`${encoded({ alg: 'ES256', kid: decodeProtectedHeader(text).kid })}.${claims}.${signature}`, why);
});
await check("one's own key", async () => {
  const text = await token();
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const { kid } = decodeProtectedHeader(text);
  const jwk = await exportJWK(publicKey);
  for (const head of [{ kid }, { kid, jwk }, { kid, jku: `${provider}/jwks` }]) {
    const forged = new SignJWT(decodeJwt(text)).setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', ...head });
    await refused(await forged.sign(privateKey), "the token's signature is wrong");
  }
});
await check('other claims under the same signature', async () => {
  const text = await token();
  const [head, , signature] = text.split('.');
  const claims = decodeJwt(text);
  await refused(`${head}.${encoded({ ...claims, sub: 'root' })}.${signature}`, "the token's signature is wrong");
  const issuer = 'tokens from this issuer are not accepted here';
  await refused(`${head}.${encoded({ ...claims, iss: 'https://evil.example' })}.${signature}`, issuer);
});
await check("somebody else's session", async () => {
  const mine = await token();
  const { status, session } = await show(mine);
  assert.equal(status, 200);
  assert.ok(session);
  const request = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
  const asks = async (text) => {
    const headers = {
      'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-session-id': session,
      'mcp-protocol-version': '2025-06-18', ...(text && { authorization: `Bearer ${text}` }),
    };
    const response = await fetch(gateway, { method: 'POST', headers, body: JSON.stringify(request) });
    await response.text();
    return response.status;
  };
  assert.equal(await asks(mine), 200);
  assert.equal(await asks(await token()), 200, 'another token of the same machine');
  assert.equal(await asks(await token({ client: 'other' })), 404);
  assert.equal(await asks(), 401);
  assert.equal(await asks(mine), 200);
});
await check('new keys', async () => {
  const [known, unknown] = [await token(), await token()];
  await accepted(known);
  assert.equal((await fetch(`${provider}/test/rotate`, { method: 'POST' })).status, 204);
  await accepted(await token());
  await refused(unknown, "the token's issuer has no key for this token");
});
finish();

// TypeScript SDK v2 (`@modelcontextprotocol/client`): the same in its newest era, with the issuer checked (RFC 9207).

import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { check, finish, gateway } from './cases.mjs';
import { wholeFlow } from './user.mjs';

await wholeFlow((name, run) => check(`ts-sdk-v2: ${name}`, run), {
  UnauthorizedError,
  newClient: () => new Client({ name: 'flow-v2', version: '1' }, { capabilities: {}, versionNegotiation: { mode: 'auto' } }),
  newTransport: (authProvider) => new StreamableHTTPClientTransport(new URL(gateway), { authProvider }),
  finishAuth: (transport, back) => transport.finishAuth(back),
});
finish();

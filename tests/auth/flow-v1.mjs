// TypeScript SDK v1 (`@modelcontextprotocol/sdk`): the whole authorization-code flow with PKCE and registration.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { check, finish, gateway } from './cases.mjs';
import { wholeFlow } from './user.mjs';

await wholeFlow((name, run) => check(`ts-sdk-v1: ${name}`, run), {
  UnauthorizedError,
  newClient: () => new Client({ name: 'flow-v1', version: '1' }, { capabilities: {} }),
  newTransport: (authProvider) => new StreamableHTTPClientTransport(new URL(gateway), { authProvider }),
  finishAuth: (transport, back) => transport.finishAuth(back.get('code')),
});
finish();

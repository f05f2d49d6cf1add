// A stand-in for the API of a vendor on a port of this machine: keeps what a client would have sent, and refuses it. Knows no
// vendor.

import { createServer } from 'node:http';

/** Runs a client with the address of the stand-in; the bodies that it sent. */
export async function captured(run) {
  const bodies = [];
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(JSON.parse(Buffer.concat(chunks).toString() || 'null'));
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end('{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"captured","type":"invalid_request_error"}}');
    });
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  try {
    await run(`http://127.0.0.1:${server.address().port}`);
  } catch (error) {
    // The refusal comes back as an error of the client. Without a body, the client itself has failed.
    if (bodies.length === 0) throw error;
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return bodies;
}

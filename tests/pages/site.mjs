// The gallery as a site: the files of a folder, with the headers that the gateway sends.

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { join, normalize } from 'node:path';

const TYPES = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8', svg: 'image/svg+xml', html: 'text/html; charset=utf-8' };

/** The data of an event on the stream of the live page: one row. */
export const row = (what) => `<tr><td data-label="When">now</td><td>call</td><td>ann</td><td>${what}</td><td>ok</td></tr>`;

/** Serves a gallery; returns its address, functions that send events and count open streams, and the function that ends it. */
export async function site(folder) {
  const policy = await readFile(join(folder, 'csp.txt'), 'utf8');
  const headers = {
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': 'same-origin',
  };
  /** The open streams, and the names of their addresses. */
  const streams = new Map();
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname));
    if (path.startsWith('/admin/events/')) {
      response.writeHead(200, { ...headers, 'content-type': 'text/event-stream' });
      const first = await stream(folder, path);
      streams.set(response, path.split('/').pop());
      response.on('close', () => streams.delete(response));
      response.write(first);
      return;
    }
    // A page is below the name of its data: /lifelike/servers. The addresses of the gateway show lifelike data.
    const page = path === '/admin' ? '/lifelike/overview' : path.replace(/^\/admin\//, '/lifelike/');
    const file = path.startsWith('/admin/assets/') ? path : `${page}.html`;
    try {
      const body = await readFile(join(folder, file));
      response.writeHead(200, { ...headers, 'content-type': TYPES[file.split('.').pop()] ?? 'text/plain' });
      response.end(body);
    } catch {
      response.writeHead(404, headers);
      response.end();
    }
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const open = (name) => [...streams].flatMap(([response, own]) => (own === name ? [response] : []));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Sends an event on all open streams with this name. */
    send: (name, kind, data) => open(name).forEach((response) => response.write(event(kind, data))),
    /** The number of open streams with this name. */
    count: (name) => open(name).length,
    /** Ends the open streams with this name, as a gateway does that stops. */
    end: (name) => open(name).forEach((response) => response.end()),
    close: () => { streams.forEach((_, response) => response.destroy()); server.close(); },
  };
}

/** An event as text. */
function event(kind, data) {
  return `event: ${kind}\n${data.split('\n').map((line) => `data: ${line}`).join('\n')}\n\n`;
}

/** The first event of a stream. */
async function stream(folder, path) {
  const html = async (name) => (await readFile(join(folder, 'lifelike', `${name}.html`), 'utf8'));
  if (path.endsWith('/now')) return event('replace', await html('overview-now'));
  if (path.endsWith('/live')) return event('prepend', row('fresh_tool'));
  return ': nothing yet\n\n';
}

// One MCP server over stdio, from its start to its end: the handshake, and all pages of its tools as they were received. Knows
// nothing of the table of servers.

import { spawn } from 'node:child_process';
import { elements } from './slices.mjs';

const VERSION = '2025-06-18';
const PAGES = 50;
const LINE = 16 << 20;
const TOLD = 12;

/** Runs a server; the text of each tool. Fails with the last lines that the server wrote to stderr. */
export async function tools({ command, args, env, cwd, deadline }) {
  const child = spawn(command, args, { env, cwd, stdio: 'pipe', detached: true });
  const server = new Connection(child);
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no list within ${deadline / 1000} s`)), deadline);
  });
  try {
    return await Promise.race([listed(server), server.ended, late]);
  } catch (error) {
    throw new Error([error.message, ...server.told.slice(-TOLD)].join('\n    '));
  } finally {
    clearTimeout(timer);
    end(child);
  }
}

async function listed(server) {
  const clientInfo = { name: 'dragoman-corpus', version: '1' };
  await server.ask('initialize', { protocolVersion: VERSION, capabilities: {}, clientInfo });
  server.send({ method: 'notifications/initialized' });
  const all = [];
  for (let page = 0, cursor; page < PAGES; page += 1) {
    const { line, result } = await server.ask('tools/list', cursor === undefined ? {} : { cursor });
    all.push(...elements(line, 'result', 'tools'));
    cursor = result.nextCursor;
    if (cursor === undefined || cursor === null) return all;
  }
  throw new Error(`more than ${PAGES} pages of tools`);
}

/** The whole process group: a server may have started others. */
function end(child) {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

class Connection {
  told = [];
  #child;
  #waiting = new Map();
  #id = 0;

  constructor(child) {
    this.#child = child;
    this.ended = new Promise((_, reject) => {
      child.on('error', reject);
      child.on('exit', (code, signal) => reject(new Error(`ended early (${signal ?? `code ${code}`})`)));
      child.stdin.on('error', () => {});
      lines(child.stdout, (line) => this.#received(line), reject);
    });
    this.ended.catch(() => {});
    lines(child.stderr, (line) => this.told.push(line), () => {});
  }

  send(message) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  /** Sends a request; the parsed result, and the line of the answer. */
  ask(method, params) {
    const id = ++this.#id;
    this.send({ id, method, params });
    return new Promise((resolve, reject) => this.#waiting.set(id, { method, resolve, reject }));
  }

  #received(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      // Some servers greet on stdout.
      this.told.push(line.slice(0, 200));
      return;
    }
    if (message.method !== undefined && message.id !== undefined) {
      const error = { code: -32601, message: 'this client offers nothing' };
      return this.send(message.method === 'ping' ? { id: message.id, result: {} } : { id: message.id, error });
    }
    const waiting = this.#waiting.get(message.id);
    if (!waiting) return;
    this.#waiting.delete(message.id);
    if (message.error) waiting.reject(new Error(`${waiting.method}: ${JSON.stringify(message.error).slice(0, 300)}`));
    else waiting.resolve({ line, result: message.result });
  }
}

/** Cuts a stream into lines; fails for one that is too long or is not UTF-8. */
function lines(stream, take, fail) {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let rest = [];
  let size = 0;
  stream.on('data', (chunk) => {
    for (let end; (end = chunk.indexOf(10)) >= 0; chunk = chunk.subarray(end + 1)) {
      const line = Buffer.concat([...rest, chunk.subarray(0, end)]);
      [rest, size] = [[], 0];
      try {
        if (line.length) take(decoder.decode(line));
      } catch (error) {
        fail(error);
      }
    }
    rest.push(chunk);
    if ((size += chunk.length) > LINE) fail(new Error(`a line of more than ${LINE} bytes`));
  });
  stream.on('error', fail);
}

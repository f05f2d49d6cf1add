// A gateway with admin pages, and a client of it, for the journeys.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list' };

/** Starts a gateway with this configuration. */
export async function start(program, config) {
  const folder = mkdtempSync(join(tmpdir(), 'journey-'));
  const file = join(folder, 'dragoman.yaml');
  const write = (text) => writeFileSync(file, `listen: 127.0.0.1:0\nadmin: true\nstateFolder: ${folder}/state\n${text}`);
  write(config);
  const child = spawn(program, ['--config', file, '--json'], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NO_COLOR: '1' } });
  const log = [];
  child.stderr.on('data', (data) => log.push(String(data)));
  const hello = await new Promise((resolve, reject) => {
    let printed = '';
    child.on('exit', (code) => reject(new Error(`the gateway ended with ${code}: ${log.join('')}`)));
    child.stdout.on('data', (data) => {
      printed += data;
      if (!printed.includes('\n')) return;
      try { resolve(JSON.parse(printed)); } catch { /* more is coming */ }
    });
  });
  child.removeAllListeners('exit');
  const url = new URL(hello.admin).origin;
  return {
    url,
    admin: hello.admin,
    folder,
    write,
    log: () => log.join(''),
    client: (headers) => new Client(`${url}/mcp`, headers),
    modernClient: () => new ModernClient(`${url}/mcp`),
    repeatCalls: (count) => repeatCalls(join(folder, 'state', 'audit.db'), count),
    stop: () => new Promise((resolve) => {
      child.on('exit', () => { rmSync(folder, { recursive: true, force: true }); resolve(); });
      child.kill();
    }),
  };
}

/** Records the calls of a record again and again, spread over the last day, until there are `count` more. */
function repeatCalls(file, count) {
  const record = new DatabaseSync(file);
  const columns = record.prepare('PRAGMA table_info(calls)').all().map(({ name }) => name).filter((name) => !['id', 'at_ms'].includes(name)).join(', ');
  const recorded = record.prepare('SELECT count(*) AS count FROM calls').get().count;
  record.prepare(`
    WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers LIMIT ?)
    INSERT INTO calls (at_ms, ${columns})
    SELECT ? - 86400000 + (n * 86400000) / ?, ${columns} FROM numbers JOIN calls ON calls.id = 1 + n % ?
  `).run(count, Date.now(), count, recorded);
  record.close();
}

/** A client of version 2025-06-18 that calls tools. */
class Client {
  constructor(url, headers = {}) {
    this.url = url;
    this.headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'user-agent': 'cursor/1.7', ...headers };
  }

  async send(message) {
    const answer = await fetch(this.url, { method: 'POST', headers: this.headers, body: JSON.stringify(message) });
    const session = answer.headers.get('mcp-session-id');
    if (session) this.headers['mcp-session-id'] = session;
    const text = await answer.text();
    const data = text.split('\n').filter((line) => line.startsWith('data: ')).pop();
    let body;
    try { body = JSON.parse(data ? data.slice(6) : text); } catch { body = undefined; }
    return { status: answer.status, body };
  }

  async open(capabilities = {}) {
    const params = { protocolVersion: '2025-06-18', capabilities, clientInfo: { name: 'cursor', version: '1.7' } };
    const { status } = await this.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    if (status === 200) await this.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return status;
  }

  list() {
    return this.send(LIST);
  }

  call(name, given = {}) {
    return this.send({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name, arguments: given } });
  }
}

/** A client of version 2026-07-28, whose requests stand alone. */
class ModernClient extends Client {
  open() {
    return this.list();
  }

  list() {
    return this.ask('tools/list', {});
  }

  call(name, given = {}) {
    return this.ask('tools/call', { name, arguments: given });
  }

  ask(method, params) {
    const version = '2026-07-28';
    Object.assign(this.headers, { 'mcp-protocol-version': version, 'mcp-method': method });
    if (params.name) this.headers['mcp-name'] = params.name;
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientInfo': { name: 'cursor', version: '2.0' },
      'io.modelcontextprotocol/clientCapabilities': this.capabilities ?? {},
    };
    return this.send({ jsonrpc: '2.0', id: 3, method, params: { ...params, _meta } });
  }
}

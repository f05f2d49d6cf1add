// From an empty home with empty caches: Dragoman with seven real servers, and the first client of each era. Prints what each
// client saw, and when. Arguments: the program, an empty folder, the folder of uvx.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [program, folder, uv] = process.argv.slice(2);
const DEADLINE = 300_000;
const started = Date.now();
const seconds = () => ((Date.now() - started) / 1000).toFixed(1).padStart(6);
const say = (who, what) => console.log(`${seconds()} s  ${who.padEnd(17)} ${what}`);

const home = join(folder, "home");
const files = join(folder, "files");
for (const path of [home, files]) mkdirSync(path, { recursive: true });

// The settings by which the package managers find their registries come along, without being named anywhere.
const settings = Object.keys(process.env).filter((name) => /^(npm_config_|UV_|PIP_)/i.test(name) || /_CA_|SSL_CERT/.test(name));
const caches = { HOME: home, npm_config_cache: join(home, "npm"), UV_CACHE_DIR: join(home, "uv"), UV_TOOL_DIR: join(home, "tools"), npm_config_prefix: undefined };
const environment = { ...process.env, ...caches, PATH: `${uv}:${process.env.PATH}` };
for (const name of Object.keys(environment)) if (environment[name] === undefined) delete environment[name];
const env = {};
for (const name of [...settings, "npm_config_cache", "UV_CACHE_DIR", "UV_TOOL_DIR"]) if (environment[name]) env[name] = "${" + name + "}";
const npx = (name, ...more) => ({ command: "npx", args: ["-y", `@modelcontextprotocol/server-${name}`, ...more], env });
const uvx = (name) => ({ command: "uvx", args: [name], env });
const mcpServers = {
  files: npx("filesystem", files),
  memory: npx("memory"),
  everything: npx("everything"),
  thinking: npx("sequential-thinking"),
  time: uvx("mcp-server-time"),
  fetch: uvx("mcp-server-fetch"),
  git: uvx("mcp-server-git"),
};
const names = Object.keys(mcpServers);
writeFileSync(join(folder, "dragoman.yaml"), JSON.stringify({ mcpServers }, null, 2));

const gateway = spawn(program, ["serve", "--json", "--listen", "127.0.0.1:0", "--config", join(folder, "dragoman.yaml")], { cwd: folder, env: environment });
const lines = (stream, take) => {
  let rest = "";
  stream.setEncoding("utf8").on("data", (text) => {
    const all = (rest + text).split("\n");
    rest = all.pop();
    all.forEach(take);
  });
};
lines(gateway.stderr, (line) => say("log", line.replace(/^\S+\s+/, "")));
const url = await new Promise((found) => lines(gateway.stdout, (line) => found(JSON.parse(line).urls[0])));
say("gateway", "listens");

// Every message of an event stream.
async function* events(response) {
  let rest = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    rest += chunk;
    for (let end; (end = rest.indexOf("\n\n")) >= 0; rest = rest.slice(end + 2)) {
      const field = (name) => rest.slice(0, end).split("\n").filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trim()).join("\n");
      if (field("data")) yield { event: field("event"), data: field("data") };
    }
  }
}

const capabilities = {};
const info = { name: "first-contact", version: "1" };

// Tells what a list has, and of which servers.
function told(era, began, result) {
  const tools = result.tools.map((tool) => tool.name);
  const there = names.filter((name) => tools.some((tool) => tool.startsWith(`${name}__`)));
  const ttl = result.ttlMs === undefined ? "" : `, ttlMs ${result.ttlMs}`;
  say(era, `tools/list answered in ${Date.now() - began} ms: ${tools.length} tools of ${there.length} servers (${there.join(", ") || "none"})${ttl}`);
  return there.length === names.length;
}

// Lists now and after each announcement, until all servers are there.
async function watch(era, list, notices) {
  let all = told(era, ...(await list()));
  for await (const method of notices) {
    if (method === "notifications/tools/list_changed") {
      say(era, "hears notifications/tools/list_changed");
      all = told(era, ...(await list()));
    }
    if (all) break;
  }
  return all;
}

async function* methods(response) {
  for await (const { data } of events(response)) yield JSON.parse(data).method;
}

async function stateless(era) {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": era,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    "io.modelcontextprotocol/clientInfo": info,
  };
  const ask = (id, method, params) =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-protocol-version": era, "mcp-method": method },
      body: JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } }),
    });
  const listening = await ask(1, "subscriptions/listen", { notifications: { toolsListChanged: true } });
  let id = 1;
  const list = async () => {
    const began = Date.now();
    return [began, (await (await ask(++id, "tools/list", {})).json()).result];
  };
  return watch(era, list, methods(listening));
}

async function handshake(era) {
  let session;
  const send = (method, body, more = {}) =>
    fetch(url, {
      method,
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-protocol-version": era, ...(session && { "mcp-session-id": session }), ...more },
      body: body && JSON.stringify({ jsonrpc: "2.0", ...body }),
    });
  const began = Date.now();
  const hello = await send("POST", { id: 0, method: "initialize", params: { protocolVersion: era, capabilities, clientInfo: info } });
  session = hello.headers.get("mcp-session-id");
  await hello.text();
  say(era, `initialize answered in ${Date.now() - began} ms`);
  await send("POST", { method: "notifications/initialized" });
  const stream = await send("GET", undefined, { accept: "text/event-stream" });
  let id = 0;
  const list = async () => {
    const began = Date.now();
    const answer = await send("POST", { id: ++id, method: "tools/list", params: {} });
    if (answer.headers.get("content-type").startsWith("application/json")) return [began, (await answer.json()).result];
    for await (const { data } of events(answer)) if (JSON.parse(data).result) return [began, JSON.parse(data).result];
  };
  return watch(era, list, methods(stream));
}

async function eventStream(era) {
  const address = new URL("/sse", url);
  const stream = events(await fetch(address, { headers: { accept: "text/event-stream" } }));
  const endpoint = new URL((await stream.next()).value.data, address);
  const waiting = new Map();
  const heard = [];
  let wake = () => {};
  (async () => {
    for await (const { data } of stream) {
      const message = JSON.parse(data);
      if (waiting.has(message.id)) waiting.get(message.id)(message.result);
      else heard.push(message.method);
      wake();
    }
  })().catch(() => {});
  const post = (body) => fetch(endpoint, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ jsonrpc: "2.0", ...body }) });
  const ask = async (id, method, params) => {
    const answer = new Promise((found) => waiting.set(id, found));
    await post({ id, method, params });
    return answer;
  };
  // The first version is a number.
  await ask(0, "initialize", { protocolVersion: era === "1" ? 1 : era, capabilities, clientInfo: info });
  await post({ method: "notifications/initialized" });
  let id = 0;
  const list = async () => {
    const began = Date.now();
    return [began, await ask(++id, "tools/list", {})];
  };
  async function* notices() {
    for (;;) {
      while (heard.length) yield heard.shift();
      await new Promise((next) => (wake = next));
    }
  }
  return watch(era, list, notices());
}

const clients = [
  ["1", eventStream],
  ["2024-10-07", eventStream],
  ["2024-11-05", eventStream],
  ["2025-03-26", handshake],
  ["2025-06-18", handshake],
  ["2025-11-25", handshake],
  ["2026-07-28", stateless],
];
const late = new Promise((over) => setTimeout(over, DEADLINE, false));
const seen = await Promise.all(
  clients.map(async ([era, client]) => {
    const all = await Promise.race([client(era), late]).catch((why) => say(era, `failed: ${why}`));
    say(era, all ? "has seen all servers" : "has NOT seen all servers");
    console.log(`${all ? "ok" : "not ok"} ${era}`);
    return all;
  }),
);
gateway.kill("SIGTERM");
await new Promise((ended) => gateway.on("exit", ended));
process.exit(seen.every(Boolean) ? 0 : 1);

// The clients of the command line, each in an empty home: connected by `dragoman connect`, asked for the state of their servers, put back by
// `dragoman disconnect`.   node cli.mjs WORLD
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { check, finish } from "../check.mjs";

const world = JSON.parse(readFileSync(process.argv[2], "utf8"));
const modules = dirname(dirname(dirname(createRequire(import.meta.url).resolve("@google/gemini-cli/package.json"))));
const DEADLINE = 60_000;

const own = (path) => join(modules, path);
const CLIENTS = [
  { name: "claude-code", program: own("@anthropic-ai/claude-code-linux-x64/claude"), args: ["mcp", "list"], says: /dragoman: .*Connected/ },
  // It reads settings only in folders that its user trusts.
  { name: "gemini", program: process.execPath, args: [own("@google/gemini-cli/bundle/gemini.js"), "mcp", "list"], says: /dragoman: .*Connected/, env: { GEMINI_CLI_TRUST_WORKSPACE: "true" } },
  { name: "codex", program: process.execPath, args: [own("@openai/codex/bin/codex.js"), "mcp", "list"], says: /dragoman\s.*enabled/ },
];

/** Runs a program to its end; everything that it says. */
function run(program, args, { cwd, env, fails = false }) {
  return new Promise((done, failed) => {
    execFile(program, args, { cwd, env, timeout: DEADLINE, maxBuffer: 1 << 24 }, (error, out, err) => {
      if (error && !fails) failed(new Error(`${args.join(" ")}: ${error.message}\n${out}${err}`));
      else done(out + err);
    }).stdin.end();
  });
}

/** The files of a folder with their content, without what a client writes on its own account. */
function files(folder, found = {}) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) files(path, found);
    else found[path] = readFileSync(path, "utf8");
  }
  return found;
}

/** The settings that a person already has. */
const BEFORE = {
  "claude-code": [".claude.json", '{\n  "theme": "dark",\n  "mcpServers": {}\n}\n'],
  gemini: [".gemini/settings.json", '{\n  // mine\n  "theme": "Default"\n}\n'],
  codex: [".codex/config.toml", '# mine\nmodel = "x"\n'],
};

for (const client of CLIENTS) {
  const home = join(world.folder, client.name);
  const [file, text] = BEFORE[client.name];
  const settings = join(home, file);
  mkdirSync(dirname(settings), { recursive: true });
  writeFileSync(settings, text);
  const base = { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: home, TERM: "dumb", NO_COLOR: "1" };
  const options = { cwd: home, env: { ...base, ...client.env } };
  const dragoman = (...args) => run(world.program, [...args, "--config", world.config], options);
  await check(`${client.name} is connected`, async () => {
    await dragoman("connect", client.name, "--yes");
    const said = await run(client.program, client.args, { ...options, fails: true });
    if (!client.says.test(said.replace(/\x1b\[[0-9;]*m/g, ""))) throw new Error(`${client.args.join(" ")} says: ${said}\n${readFileSync(settings, "utf8")}`);
  });
  await check(`${client.name} is put back`, async () => {
    await dragoman("disconnect", client.name, "--yes");
    const now = files(home)[settings];
    // A client may have written its own settings meanwhile; Dragoman must not be among them.
    if (now.includes("dragoman")) throw new Error(now);
    if (client.name !== "claude-code" && now !== text) throw new Error(`not byte for byte: ${now}`);
  });
}
finish();

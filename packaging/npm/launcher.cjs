#!/usr/bin/env node
// Becomes the program of this platform's package, or runs it and passes on signals and the exit code.
"use strict";
const { spawn } = require("node:child_process");
const platform = `${process.platform}-${process.arch}`;

let program;
try {
  program = require.resolve(`dragoman-mcp-${platform}/dragoman`);
} catch {
  console.error(`dragoman: the package dragoman-mcp-${platform} is not installed.`);
  console.error("  help: if you installed without optional packages, install again with --include=optional; otherwise there is");
  console.error("        no package for this platform yet: build Dragoman from source");
  process.exit(1);
}

const args = process.argv.slice(2);
if (process.execve) {
  // Node 22.15 and later: no second process stays behind.
  try {
    process.execve(program, [program, ...args], process.env);
  } catch {}
}
const child = spawn(program, args, { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) {
  // On a terminal, Ctrl-C reaches the child as well; a second one would mean "now".
  process.on(signal, () => (signal === "SIGINT" && process.stdin.isTTY ? undefined : child.kill(signal)));
}
child.on("error", (error) => {
  console.error(`dragoman: ${program} does not start: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else process.exit(code);
});

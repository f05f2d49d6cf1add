// LangChain, which runs in Python: see via_langchain.py.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SCRIPT = fileURLToPath(new URL('via_langchain.py', import.meta.url));
const DEADLINE = 120_000;

function converter(model, by, sends) {
  const convert = async ({ command, args }) => {
    const { stdout } = await run(process.env.PYTHON ?? 'python3', [SCRIPT, model, command, ...args], { timeout: DEADLINE, maxBuffer: 64 << 20 });
    return JSON.parse(stdout);
  };
  return { by, sends, convert };
}

export const openai = converter('openai', 'langchain-mcp-adapters', 'openai');
export const google = converter('google', 'langchain-google-genai', 'gemini');

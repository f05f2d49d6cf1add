// The families of clients: the rules of each, and the programs by which its tools can go.

import { anthropic } from './anthropic.mjs';
import { cursor, vscode } from './clients.mjs';
import { gemini, geminiJson } from './gemini.mjs';
import { openai, openaiStrict } from './openai.mjs';
import * as aiSdk from './via-ai-sdk.mjs';
import * as genai from './via-genai.mjs';
import * as langchain from './via-langchain.mjs';
import * as openaiAgents from './via-openai-agents.mjs';

/** What takes a tool, and what a converter may send, by the same names. */
export const RULES = {
  gemini,
  'gemini-json': geminiJson,
  openai,
  'openai-strict': openaiStrict,
  anthropic,
  vscode,
  cursor,
};

const all = (...families) => (tool, report) => families.forEach((family) => family(tool, report));

export const FAMILIES = {
  gemini: { rules: gemini, via: [langchain.google] },
  'gemini-json': { rules: geminiJson, via: [genai, aiSdk.google] },
  openai: { rules: openai, via: [openaiAgents.loose, aiSdk.openai, langchain.openai] },
  'openai-strict': { rules: openaiStrict, via: [openaiAgents.strict] },
  anthropic: { rules: anthropic, via: [aiSdk.anthropic] },
  vscode: { rules: vscode, via: [] },
  cursor: { rules: cursor, via: [] },
  // A list for clients of every kind. Not strict functions, which demand arguments that the server made optional; and not
  // Cursor, which refuses the `anyOf` that Gemini needs for arguments of several types (docs/configuration.md).
  portable: {
    rules: all(gemini, geminiJson, openai, anthropic, vscode),
    via: [langchain.google, genai, aiSdk.google, openaiAgents.loose, aiSdk.openai, langchain.openai, aiSdk.anthropic],
  },
};

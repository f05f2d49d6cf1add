// Vercel's AI SDK: a client of MCP lists tools (`@ai-sdk/mcp`), and a provider writes them into a request.

import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText } from 'ai';
import { captured } from './capture.mjs';

/** A provider: the model of an address, and the tools of a request. */
const PROVIDERS = {
  google: {
    sends: 'gemini-json',
    model: (address) => createGoogle({ apiKey: 'none', baseURL: address })('gemini-2.5-flash'),
    tools: (body) => body.tools.flatMap((tool) => tool.functionDeclarations).map(({ name, parametersJsonSchema }) => ({ name, inputSchema: parametersJsonSchema })),
  },
  openai: {
    sends: 'openai',
    model: (address) => createOpenAI({ apiKey: 'none', baseURL: address })('gpt-4.1'),
    tools: (body) => body.tools.map(({ name, parameters }) => ({ name, inputSchema: parameters })),
  },
  anthropic: {
    sends: 'anthropic',
    model: (address) => createAnthropic({ apiKey: 'none', baseURL: address })('claude-sonnet-4-5'),
    tools: (body) => body.tools.map(({ name, input_schema }) => ({ name, inputSchema: input_schema })),
  },
};

function converter(name) {
  const { sends, model, tools } = PROVIDERS[name];
  const convert = async (invocation) => {
    const client = await createMCPClient({ transport: new StdioTransport(invocation) });
    try {
      const listed = await client.tools();
      const [body] = await captured((address) => generateText({ model: model(address), tools: listed, prompt: 'hello', maxRetries: 0 }));
      return tools(body);
    } finally {
      await client.close();
    }
  };
  return { by: `@ai-sdk/${name}`, sends, convert };
}

export const google = converter('google');
export const openai = converter('openai');
export const anthropic = converter('anthropic');

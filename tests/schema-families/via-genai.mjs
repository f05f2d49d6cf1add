// `@google/genai`: a client of MCP becomes a tool of a request by `mcpToTool`.

import { GoogleGenAI, mcpToTool } from '@google/genai';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { captured } from './capture.mjs';

export const by = '@google/genai';
/** The family whose rules hold for what is sent. */
export const sends = 'gemini-json';

export async function convert(invocation) {
  const client = new Client({ name: 'schema-families', version: '1' });
  await client.connect(new StdioClientTransport(invocation));
  try {
    const [body] = await captured(async (baseUrl) => {
      const ai = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl } });
      await ai.models.generateContent({ model: 'gemini-2.5-flash', contents: 'hello', config: { tools: [mcpToTool(client)] } });
    });
    const declared = body.tools.flatMap((tool) => tool.functionDeclarations);
    return declared.map(({ name, parametersJsonSchema, parameters }) => ({ name, inputSchema: parametersJsonSchema ?? parameters }));
  } finally {
    await client.close();
  }
}

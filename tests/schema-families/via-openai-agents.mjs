// `@openai/agents`: the servers of an agent become function tools of its requests, strict or not.

import { Agent, MCPServerStdio, OpenAIProvider, Runner, setTracingDisabled } from '@openai/agents';
import OpenAI from 'openai';
import { captured } from './capture.mjs';

setTracingDisabled(true);

function converter(strict) {
  const convert = async (invocation) => {
    const server = new MCPServerStdio({ name: 'recorded', fullCommand: [invocation.command, ...invocation.args].join(' '), cacheToolsList: true });
    await server.connect();
    try {
      const [body] = await captured((address) => {
        const openAIClient = new OpenAI({ apiKey: 'none', baseURL: address, maxRetries: 0 });
        const agent = new Agent({ name: 'a', model: 'gpt-4.1', mcpServers: [server], mcpConfig: { convertSchemasToStrict: strict } });
        return new Runner({ modelProvider: new OpenAIProvider({ openAIClient, useResponses: true }) }).run(agent, 'hello');
      });
      return body.tools.map(({ name, parameters, strict: exact }) => ({ name, inputSchema: parameters, strict: exact }));
    } finally {
      await server.close();
    }
  };
  return { by: '@openai/agents', sends: 'openai', convert };
}

export const loose = converter(false);
export const strict = { ...converter(true), sends: 'openai-strict' };

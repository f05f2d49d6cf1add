// What the API of Anthropic takes as a tool.
//
//   https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools
//   https://platform.claude.com/docs/en/managed-agents/self-hosted-sandboxes-custom-tools
// The second page states the rules for schemas that come from MCP servers; its rule for references holds for managed agents, the
// others for all requests. Rules by `reports` are answers of the API or of a client; the issue is named beside each.

import { propertyNames, toolName } from './names.mjs';
import { valid } from './valid.mjs';
import { isObject, schemas } from './walk.mjs';

export function anthropic(tool, report) {
  // "Must match the regex ^[a-zA-Z0-9_-]{1,64}$" (define-tools). The API itself takes 128 by now (github/copilot-cli#1879), but
  // neither Claude Desktop nor the tool search do (anthropics/claude-code#34960, #19882).
  toolName(tool, { pattern: /^[a-zA-Z0-9_-]+$/, longest: 64 }, report);
  const root = tool.inputSchema;
  // "A JSON Schema object defining the expected parameters" (define-tools)
  if (!isObject(root) || root.type !== 'object') report('', 'root-object', 'documentation');
  if (!isObject(root)) return;
  // "It also rejects top-level oneOf, anyOf, and allOf"
  for (const key of ['oneOf', 'anyOf', 'allOf']) if (Object.hasOwn(root, key)) report(`/${key}`, 'root-combinator', 'documentation');
  // "and property names outside letters, digits, underscores, dots, and hyphens (1–64 characters)"
  propertyNames(root, /^[a-zA-Z0-9_.-]{1,64}$/, 'documentation', report);
  // "It rejects reference keywords such as $ref anywhere"
  for (const { node, path } of schemas(root)) {
    if (!isObject(node)) continue;
    for (const key of ['$ref', '$dynamicRef', '$recursiveRef']) if (Object.hasOwn(node, key)) report(`${path}/${key}`, 'ref', 'documentation');
  }
  // "JSON schema is invalid. It must match JSON Schema draft 2020-12" (afrise/MCPSharp#9, MarkusPfundstein/mcp-gsuite#19)
  valid(root, '2020-12', 'reports', report);
}

// What popular clients refuse before any API sees it.

import { valid } from './valid.mjs';
import { isObject, schemas, types } from './walk.mjs';

/**
 * GitHub Copilot's chat in VS Code: one tool that fails here fails the whole request. The rules are those of its
 * `toolSchemaNormalizer.ts` (microsoft/vscode-copilot-chat); what that repairs by itself is not reported. At most 128 tools are
 * sent with a request: https://code.visualstudio.com/docs/copilot/chat/chat-tools
 */
export function vscode(tool, report) {
  // A prefix of up to 22 characters (`mcp_`, 17 of the server's name, `_`) stands before each name, which the API limits to 64
  // (microsoft/vscode#243602).
  if (!/^[a-zA-Z0-9_-]+$/.test(tool.name)) report('name', 'name-chars', 'source');
  if (tool.name.length > 64) report('name', 'name-length', 'source');
  const root = tool.inputSchema;
  // A root that is no object becomes one there.
  if (!isObject(root) || root.type !== 'object') return;
  // "tool parameters do not match JSON schema" (microsoft/vscode#245066)
  valid(root, 'draft-07', 'source', report);
  for (const { node, path } of schemas(root)) {
    // "tool parameters array type must have items" (microsoft/vscode#325618)
    if (isObject(node) && node.type === 'array' && !node.items) report(path, 'items-missing', 'source');
  }
}

/** The longest name of a server and a tool together, with the character between them. */
const CURSOR_LONGEST = 60;

/** Cursor: https://docs.cursor.com/context/mcp, and the issues named below. */
export function cursor(tool, report) {
  // "Combined server and tool name length exceeds 60 characters" (ComposioHQ/composio#2788): such a tool is left out.
  const whole = tool.server ? `${tool.server}:${tool.name}` : tool.name;
  if (whole.length > CURSOR_LONGEST) report('name', 'name-length', 'reports');
  const root = tool.inputSchema;
  // One tool of another shape empties the list (Automattic/wordpress-mcp#58, MervinPraison/PraisonAI#3111).
  if (!isObject(root) || root.type !== 'object') return report('', 'root-object', 'reports');
  if (root.required !== undefined && !Array.isArray(root.required)) report('/required', 'required-shape', 'reports');
  if (root.properties !== undefined && !isObject(root.properties)) report('/properties', 'properties-shape', 'reports');
  for (const { node, path } of schemas(root)) {
    // "any tool schema with oneOf/anyOf/allOf makes Cursor reject the whole request" (code-yeongyu/senpi#952, one account)
    if (!isObject(node)) continue;
    for (const key of ['oneOf', 'anyOf', 'allOf']) if (Object.hasOwn(node, key)) report(`${path}/${key}`, 'combinator', 'reports');
    if (types(node).includes('array') && node.items === undefined) report(path, 'items-missing', 'reports');
  }
}

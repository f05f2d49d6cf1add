// What the API of OpenAI takes as the parameters of a function, without and with `strict`.
//
// The documented rules are from "Function calling" and from the reference of "Create chat completion" (`tools[].function`):
//   https://platform.openai.com/docs/guides/function-calling
//   https://platform.openai.com/docs/api-reference/chat/create
// and, for strict functions, from "Supported schemas" of "Structured outputs":
//   https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
// Rules by `reports` are answers of the API that no page mentions; the issue is named beside each.

import { toolName } from './names.mjs';
import { valid } from './valid.mjs';
import { isObject, resolved, schemas, types } from './walk.mjs';

const NAME = { pattern: /^[a-zA-Z0-9_-]+$/, longest: 64 };
const ROOT_COMBINATORS = ['oneOf', 'anyOf', 'allOf', 'enum', 'const', 'not'];

export function openai(tool, report) {
  // "Must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64." (reference)
  toolName(tool, NAME, report);
  const root = tool.inputSchema;
  // "described as a JSON Schema object" (reference)
  if (!isObject(root) || root.type !== 'object') report('', 'root-object', 'documentation');
  if (!isObject(root)) return;
  valid(root, '2020-12', 'documentation', report);
  // "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'const'/'not' at the top level"
  // (langchain-ai/langchainjs#9804, goruck/home-generative-agent#545)
  for (const key of ROOT_COMBINATORS) if (Object.hasOwn(root, key)) report(`/${key}`, 'root-combinator', 'reports');
  // "In context=(), object schema missing properties" (spring-projects/spring-ai#4776, containers/kubernetes-mcp-server#340)
  if (root.type === 'object' && !isObject(root.properties)) report('', 'root-properties', 'reports');
  for (const { node, path } of schemas(root)) {
    if (!isObject(node)) continue;
    // "array schema missing items" (PrefectHQ/fastmcp#2464); a tuple has none either.
    if (types(node).includes('array') && node.items === undefined) report(path, 'items-missing', 'reports');
    if (Array.isArray(node.items)) report(`${path}/items`, 'items-shape', 'reports');
    if (node.$ref !== undefined && resolved(root, node.$ref) === undefined) report(`${path}/$ref`, 'ref-unresolved', 'documentation');
  }
}

/** "Some type-specific keywords are not yet supported": composition, and everything that the page does not list as supported. */
const STRICT_REFUSED = ['allOf', 'not', 'dependentRequired', 'dependentSchemas', 'if', 'then', 'else'];
const STRICT_KEYWORDS = new Set([
  'type', 'properties', 'required', 'additionalProperties', 'items', 'anyOf', 'enum', 'const', '$ref', '$defs', 'definitions', 'title', 'description',
  'pattern', 'format', 'multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum', 'minItems', 'maxItems', '$schema',
  ...STRICT_REFUSED,
]);
/** The keywords whose schemas count; what stands below another keyword is reported with it. */
const STRICT_FOLLOWED = ['properties', 'items', 'anyOf', 'oneOf', 'allOf', '$defs', 'definitions'];
const STRICT_FORMATS = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']);
const LIMITS = { properties: 5000, depth: 10, values: 1000, characters: 120_000 };

export function openaiStrict(tool, report) {
  openai(tool, report);
  if (!isObject(tool.inputSchema)) return;
  const sums = { properties: 0, depth: 0, values: 0, characters: 0 };
  for (const { node, path } of schemas(tool.inputSchema, STRICT_FOLLOWED)) strictNode(node, path, sums, report);
  // "up to 5000 object properties total, with up to 10 levels of nesting", "up to 1000 enum values", "total string length of
  // all property names, definition names, enum values, and const values cannot exceed 120,000 characters"
  for (const [what, most] of Object.entries(LIMITS)) if (sums[what] > most) report('', `limit-${what}`, 'documentation');
}

function strictNode(node, path, sums, report) {
  const doc = (where, rule) => report(`${path}${where}`, rule, 'documentation');
  if (!isObject(node)) return doc('', 'boolean-schema');
  for (const key of Object.keys(node)) {
    if (STRICT_REFUSED.includes(key)) doc(`/${key}`, 'composition');
    else if (!STRICT_KEYWORDS.has(key)) doc(`/${key}`, 'keyword');
  }
  if (node.type === undefined && node.anyOf === undefined && node.$ref === undefined && node.enum === undefined && node.const === undefined) doc('', 'type-missing');
  if (node.format !== undefined && !STRICT_FORMATS.has(node.format)) doc('/format', 'format');
  const names = isObject(node.properties) ? Object.keys(node.properties) : [];
  if (types(node).includes('object')) {
    // "All fields must be required"; "additionalProperties: false must always be set in objects"
    if (node.additionalProperties !== false) doc('/additionalProperties', 'additional-properties');
    if (names.some((name) => !(Array.isArray(node.required) && node.required.includes(name)))) doc('/required', 'all-required');
    sums.depth = Math.max(sums.depth, path.split('/properties/').length);
  }
  sums.properties += names.length;
  const values = Array.isArray(node.enum) ? node.enum : [];
  sums.values += values.length;
  sums.characters += [...names, ...Object.keys(node.$defs ?? {}), ...values].join('').length;
}

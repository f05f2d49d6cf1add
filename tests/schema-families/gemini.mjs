// What the API of Gemini takes as a function declaration: `parameters`, a message with a fixed set of fields, and
// `parametersJsonSchema`, which takes more of JSON Schema.
//
//   https://ai.google.dev/api/caching#Schema, #FunctionDeclaration
//   https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/Schema and …/FunctionDeclaration
//   https://ai.google.dev/api/generate-content#GenerationConfig (responseJsonSchema, which lists the keywords of the second form)
// Rules by `reports` are answers of the API that no page mentions; the issue is named beside each.

import { propertyNames, toolName } from './names.mjs';
import { cyclic, isObject, resolved, schemas } from './walk.mjs';

// "Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or contain underscores, dots, colons and dashes, with a
// maximum length of 64" (FunctionDeclaration)
const NAME = { pattern: /^[a-zA-Z_][a-zA-Z0-9_.:-]*$/, longest: 64 };

/** The fields of the Schema message; any other name is an error of the whole request ("Unknown name …: Cannot find field"). */
const FIELDS = new Set([
  'type', 'format', 'title', 'description', 'nullable', 'default', 'example', 'enum', 'items', 'minItems', 'maxItems', 'properties',
  'propertyOrdering', 'required', 'minProperties', 'maxProperties', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'anyOf',
]);
/** The fields that hold schemas, and keywords that can become one of them. What else holds schemas is reported as a whole. */
const FOLLOWED = ['items', 'properties', 'anyOf', 'oneOf', 'allOf'];
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);
const COMPOSITION = { $ref: 'ref', oneOf: 'one-of', allOf: 'all-of', const: 'const' };
/** The types to which a field belongs ("SCHEMA FIELDS FOR TYPE …"). */
const BELONGS = {
  items: ['array'], minItems: ['array'], maxItems: ['array'],
  properties: ['object'], required: ['object'], minProperties: ['object'], maxProperties: ['object'],
  minimum: ['number', 'integer'], maximum: ['number', 'integer'], minLength: ['string'], maxLength: ['string'], pattern: ['string'],
};
// "only 'enum' and 'date-time' are supported for STRING type" (google-gemini/gemini-cli#2706, #5450); numbers are documented.
const FORMATS = { string: ['enum', 'date-time'], number: ['float', 'double'], integer: ['int32', 'int64'] };

export function gemini(tool, report) {
  toolName(tool, NAME, report);
  const root = tool.inputSchema;
  if (!isObject(root) || String(root.type).toLowerCase() !== 'object') report('', 'root-object', 'documentation');
  if (!isObject(root)) return;
  // "Parameter names must start with a letter or an underscore and must only contain chars a-z, A-Z, 0-9, or underscores with a
  // maximum length of 64" (Vertex: FunctionDeclaration)
  propertyNames(root, /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/, 'documentation', report);
  for (const { node, path } of schemas(root, FOLLOWED)) schemaNode(node, path, report);
}

function schemaNode(node, path, report) {
  const doc = (where, rule) => report(`${path}${where}`, rule, 'documentation');
  if (!isObject(node)) return doc('', 'boolean-schema');
  for (const key of Object.keys(node)) if (!FIELDS.has(key)) doc(`/${key}`, COMPOSITION[key] ?? 'keyword');
  typeOf(node, path, report);
  values(node, path, report);
  array(node, path, report);
  object(node, path, report);
  // "schema specified other fields alongside any_of. When using any_of, it must be the only field set" (BerriAI/litellm#11164)
  if (node.anyOf !== undefined && Object.keys(node).length > 1) report(`${path}/anyOf`, 'any-of-siblings', 'reports');
  for (const [key, owners] of Object.entries(BELONGS)) {
    // "properties: only allowed for OBJECT type" (anomalyco/opencode#11889)
    const stray = node[key] !== undefined && typeof node.type === 'string' && !owners.includes(node.type.toLowerCase());
    if (stray) report(`${path}/${key}`, 'field-misplaced', 'reports');
  }
}

function typeOf(node, path, report) {
  if (Array.isArray(node.type)) return report(`${path}/type`, 'type-union', 'documentation');
  if (node.type === undefined) {
    // "must be specified when not using one_of, any_of or all_of fields" (danny-avila/LibreChat#6971)
    const composed = ['anyOf', 'oneOf', 'allOf', '$ref'].some((key) => node[key] !== undefined);
    if (!composed) report(path, 'type-missing', 'reports');
    return;
  }
  const type = String(node.type).toLowerCase();
  if (!TYPES.has(type)) report(`${path}/type`, 'type-value', 'documentation');
  if (type === 'null') report(`${path}/type`, 'type-null', 'reports');
}

function values(node, path, report) {
  const type = String(node.type).toLowerCase();
  if (node.format !== undefined && !(FORMATS[type] ?? []).includes(node.format)) report(`${path}/format`, 'format', 'reports');
  if (node.enum === undefined) return;
  // "Possible values of the element of Type.STRING with enum format", a list of strings (Schema)
  const texts = Array.isArray(node.enum) && node.enum.every((value) => typeof value === 'string');
  if (!texts || type !== 'string') report(`${path}/enum`, 'enum-type', 'documentation');
  // "enum[0]: cannot be empty" (apify/apify-mcp-server#353)
  if (Array.isArray(node.enum) && node.enum.includes('')) report(`${path}/enum`, 'enum-empty-value', 'reports');
}

function array(node, path, report) {
  if (String(node.type).toLowerCase() !== 'array') return;
  // "items: missing field"; `items` is one Schema (Schema)
  if (node.items === undefined) report(path, 'items-missing', 'reports');
  else if (!isObject(node.items)) report(`${path}/items`, 'items-shape', 'documentation');
}

function object(node, path, report) {
  const names = isObject(node.properties) ? Object.keys(node.properties) : [];
  // "properties: should be non-empty for OBJECT type" (langchain-ai/langchain-google#416, home-assistant/core#122403). Clients
  // leave the parameters of a function out if it has none, so the root is exempt. Since 2025, the API takes an object without
  // `properties` (vercel/ai#11319, Kilo-Org/kilocode#11955).
  const isEmpty = String(node.type).toLowerCase() === 'object' && isObject(node.properties) && names.length === 0;
  if (isEmpty && path !== '') report(`${path}/properties`, 'object-empty', 'reports');
  // "required[0]: property is not defined" (probelabs/probe#569, NousResearch/hermes-agent#64054)
  if (node.required === undefined) return;
  const known = Array.isArray(node.required) && node.required.every((name) => names.includes(name));
  if (!known) report(`${path}/required`, 'required-undefined', 'reports');
}

/** The keywords with schemas that this form supports ("only the following properties are supported"). Others are not errors. */
const JSON_FOLLOWED = ['$defs', 'items', 'prefixItems', 'anyOf', 'oneOf', 'properties', 'additionalProperties'];

export function geminiJson(tool, report) {
  toolName(tool, NAME, report);
  const root = tool.inputSchema;
  if (!isObject(root) || String(root.type).toLowerCase() !== 'object') report('', 'root-object', 'documentation');
  if (!isObject(root)) return;
  for (const { node, path } of schemas(root, JSON_FOLLOWED)) {
    if (!isObject(node)) continue;
    if (node.$ref !== undefined) reference(root, node, path, report);
    const names = isObject(node.properties) ? Object.keys(node.properties) : [];
    const asked = node.type === 'object' && Array.isArray(node.required) ? node.required : [];
    // As in the first form.
    if (!asked.every((name) => names.includes(name))) report(`${path}/required`, 'required-undefined', 'reports');
  }
}

function reference(root, node, path, report) {
  const target = resolved(root, node.$ref);
  if (target === undefined) return report(`${path}/$ref`, 'ref-unresolved', 'documentation');
  // "If $ref is set on a sub-schema, no other properties, except for than those starting as a $, may be set"; the API takes a
  // description and a default (anomalyco/opencode#12295).
  const others = Object.keys(node).filter((key) => !key.startsWith('$') && key !== 'description' && key !== 'default');
  if (others.length) report(`${path}/$ref`, 'ref-siblings', 'documentation');
  // "Cyclic references are unrolled to a limited degree and, as such, may only be used within non-required properties"
  if (cyclic(root, target)) report(`${path}/$ref`, 'ref-cycle', 'documentation');
}

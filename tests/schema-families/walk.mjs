// The places of a JSON Schema at which a schema stands. A property that is called `type` or `$ref` is no keyword, and values
// such as `default` and `enum` contain no schemas. Knows no vendor.

/** Keywords whose value is a schema; a list of schemas; an object whose values are schemas. */
const ONE = ['items', 'additionalItems', 'additionalProperties', 'unevaluatedItems', 'unevaluatedProperties', 'contains', 'propertyNames', 'not', 'if', 'then', 'else', 'contentSchema'];
const LIST = ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'];
const NAMED = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const DEEPEST = 64;

export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Escapes a key for a JSON pointer. */
const escaped = (key) => String(key).replaceAll('~', '~0').replaceAll('/', '~1');

function* children(node) {
  for (const key of ONE) if (Object.hasOwn(node, key) && !Array.isArray(node[key])) yield [key, node[key]];
  for (const key of LIST) {
    if (Array.isArray(node[key])) for (const [index, value] of node[key].entries()) yield [`${key}/${index}`, value];
  }
  for (const key of NAMED) {
    if (!Object.hasOwn(node, key) || !isObject(node[key])) continue;
    for (const [name, value] of Object.entries(node[key])) yield [`${key}/${escaped(name)}`, value];
  }
}

/**
 * Every schema inside a schema, itself first: `{ node, path }`. A node is whatever stands there, also `true` or a mistake. `below`
 * limits the keywords that are followed.
 */
export function* schemas(node, below, path = '', depth = 0) {
  yield { node, path };
  if (!isObject(node) || depth > DEEPEST) return;
  for (const [step, child] of children(node)) {
    if (!below || below.includes(step.split('/')[0])) yield* schemas(child, below, `${path}/${step}`, depth + 1);
  }
}

/** The types that a node names, as a list. */
export const types = (node) => (Array.isArray(node.type) ? node.type : node.type === undefined ? [] : [node.type]);

/** What a local reference leads to; undefined if it leads nowhere. */
export function resolved(root, reference) {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined;
  const pointer = decodeURIComponent(reference.slice(1));
  if (pointer !== '' && !pointer.startsWith('/')) {
    for (const { node } of schemas(root)) if (isObject(node) && node.$anchor === pointer) return node;
    return undefined;
  }
  let at = root;
  for (const step of pointer.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return at;
}

/** True if the references below a node lead back to one of the nodes on the way. */
export function cyclic(root, node, way = [], depth = 0) {
  if (!isObject(node) || depth > DEEPEST) return depth > DEEPEST;
  if (way.includes(node)) return true;
  const on = [...way, node];
  if (node.$ref !== undefined && cyclic(root, resolved(root, node.$ref), on, depth + 1)) return true;
  for (const [step, child] of children(node)) {
    if (step.startsWith('$defs/') || step.startsWith('definitions/')) continue;
    if (cyclic(root, child, on, depth + 1)) return true;
  }
  return false;
}

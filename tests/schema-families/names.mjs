// Rules for the names of tools and of arguments, which differ between vendors only in a pattern and a length.

import { isObject, schemas } from './walk.mjs';

/** Reports a name with other characters or more of them. */
export function toolName(tool, { pattern, longest, by = 'documentation' }, report) {
  if (!pattern.test(tool.name)) report('name', 'name-chars', by);
  if (tool.name.length > longest) report('name', 'name-length', by);
}

/** Reports the keys of properties that do not have this pattern. */
export function propertyNames(schema, pattern, by, report) {
  for (const { node, path } of schemas(schema)) {
    if (!isObject(node) || !isObject(node.properties)) continue;
    for (const key of Object.keys(node.properties)) {
      if (!pattern.test(key)) report(`${path}/properties/${key}`, 'property-name', by);
    }
  }
}

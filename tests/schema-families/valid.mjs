// Validity as JSON Schema: the meta schema of a draft, which every vendor assumes. Knows no vendor.

import Ajv from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';

const META = { 'draft-07': 'http://json-schema.org/draft-07/schema', '2020-12': 'https://json-schema.org/draft/2020-12/schema' };

function checker(draft) {
  const ajv = draft === '2020-12' ? new Ajv2020({ strict: false }) : new Ajv({ strict: false });
  return ajv.getSchema(META[draft]);
}

const checkers = Object.fromEntries(Object.keys(META).map((draft) => [draft, checker(draft)]));

/** Reports where a schema breaks the meta schema of a draft. */
export function valid(schema, draft, by, report) {
  const check = checkers[draft];
  if (check(schema)) return;
  // One mistake breaks several rules of the meta schema: the deepest says the most.
  const deepest = check.errors.reduce((best, error) => (error.instancePath.length > best.instancePath.length ? error : best));
  report(deepest.instancePath, 'schema-valid', by);
}

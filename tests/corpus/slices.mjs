// Positions of values inside JSON text, so that a value can be kept exactly as it was written. Knows nothing of MCP. The text
// must already have passed JSON.parse: this only finds where values begin and end.

const SPACE = /[ \t\r\n]/;

function pastSpace(text, at) {
  while (SPACE.test(text[at])) at += 1;
  return at;
}

function pastString(text, at) {
  for (at += 1; text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
  return at + 1;
}

/** The position after the value that begins here. */
function pastValue(text, at) {
  if (text[at] === '"') return pastString(text, at);
  if (text[at] !== '{' && text[at] !== '[') {
    while (at < text.length && !/[,\]}\s]/.test(text[at])) at += 1;
    return at;
  }
  for (let depth = 0; ; ) {
    const here = text[at];
    at = here === '"' ? pastString(text, at) : at + 1;
    if (here === '{' || here === '[') depth += 1;
    if (here === '}' || here === ']') depth -= 1;
    if (depth === 0) return at;
  }
}

/** The values of an array or object, in order: `[key, begin, end]`, with the index as the key of an array's values. */
function* inside(text, at) {
  const object = text[at] === '{';
  let index = 0;
  for (at = pastSpace(text, at + 1); text[at] !== '}' && text[at] !== ']'; ) {
    let key = index++;
    if (object) {
      const end = pastString(text, at);
      key = JSON.parse(text.slice(at, end));
      at = pastSpace(text, pastSpace(text, end) + 1);
    }
    const end = pastValue(text, at);
    yield [key, at, end];
    at = pastSpace(text, end);
    if (text[at] === ',') at = pastSpace(text, at + 1);
  }
}

/** The elements of the array that the keys lead to, each as the text between its first and last character. */
export function elements(text, ...keys) {
  let at = pastSpace(text, 0);
  for (const key of keys) {
    // A key that occurs twice means its last value, as in JSON.parse.
    const found = [...inside(text, at)].filter(([name]) => name === key).at(-1);
    if (!found) throw new Error(`there is no \`${key}\``);
    at = found[1];
  }
  if (text[at] !== '[') throw new Error(`\`${keys.join('.')}\` is not an array`);
  return [...inside(text, at)].map(([, begin, end]) => text.slice(begin, end));
}

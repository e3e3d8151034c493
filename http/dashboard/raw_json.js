// Cuts a value out of JSON as it stands there. Parsing and printing again would
// change big integers, blanks, escapes and keys that are given twice.

const blank = /[ \t\n\r]/;

function skipBlanks(text, at) {
  while (at < text.length && blank.test(text[at]))
    ++at;
  return at;
}

/** Returns where the string that begins at `at` has ended. */
function skipString(text, at) {
  for (++at; at < text.length && text[at] !== '"'; ++at)
    if (text[at] === '\\')
      ++at;
  return at + 1;
}

/** Returns where the value that begins at `at` has ended. */
function skipValue(text, at) {
  let depth = 0;
  do {
    const c = text[at];
    if (c === '"') {
      at = skipString(text, at);
    } else if (c === '{' || c === '[') {
      ++depth;
      ++at;
    } else if (c === '}' || c === ']') {
      --depth;
      ++at;
    } else if (depth > 0 && (c === ',' || c === ':' || blank.test(c))) {
      ++at;
    } else {
      while (at < text.length && !/[,:}\]\s]/.test(text[at]))
        ++at;
    }
  } while (depth > 0 && at < text.length);
  return at;
}

/** Returns where the value of `step` begins in what begins at `at`, or -1. */
function find(text, at, step) {
  const isObject = text[at] === '{';
  if (!isObject && text[at] !== '[')
    return -1;
  at = skipBlanks(text, at + 1);
  for (let n = 0; at < text.length && text[at] !== '}' && text[at] !== ']'; ++n) {
    let name = n;
    if (isObject) {
      const end = skipString(text, at);
      name = JSON.parse(text.slice(at, end));
      at = skipBlanks(text, skipBlanks(text, end) + 1);
    }
    if (name === step)
      return at;
    at = skipBlanks(text, skipValue(text, at));
    if (text[at] === ',')
      at = skipBlanks(text, at + 1);
  }
  return -1;
}

/**
 * Returns the value at `path`, a list of names and indices, character by
 * character; `undefined` where there is none. `text` is valid JSON.
 */
export function sliceJson(text, path) {
  let at = skipBlanks(text, 0);
  for (const step of path) {
    at = find(text, at, step);
    if (at < 0)
      return undefined;
  }
  return text.slice(at, skipValue(text, at));
}

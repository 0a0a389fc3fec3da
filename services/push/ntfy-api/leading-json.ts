/** Returns the index behind the first JSON value of a text that begins with an object; -1 where it never ends. */
function findEnd(text: string): number {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (inString) {
      if (character === '\\') index += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') depth += 1;
    else if ((character === '}' || character === ']') && (depth -= 1) === 0) return index + 1;
  }
  return -1;
}

/**
 * Parses the JSON object that a text begins with. What follows it is ignored, as the peer's decoder stops at the end of the
 * first value.
 *
 * @throws SyntaxError
 */
export function parseLeadingJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const start = text.trimStart();
    const end = start.startsWith('{') ? findEnd(start) : -1;
    if (end === -1 || end === start.length) throw error;
    return JSON.parse(start.slice(0, end));
  }
}

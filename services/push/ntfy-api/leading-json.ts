import { parseJson } from '../../contracts/parse-json.ts';

/** Returns the index after the first JSON value of a text that begins with an object, or -1 when it is incomplete. */
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
 * Parses the JSON object at the beginning of a text and ignores the rest, as ntfy's decoder does.
 *
 * @throws SyntaxError
 */
export function parseLeadingJson(text: string): unknown {
  const value = parseJson(text);
  if (value !== undefined) return value;
  const start = text.trimStart();
  const end = start.startsWith('{') ? findEnd(start) : -1;
  return JSON.parse(end === -1 ? text : start.slice(0, end));
}

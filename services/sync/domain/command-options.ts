import { parseJson } from '../../contracts/parse-json.ts';

const commandKey = /(?:command|metadatamapper|(?:^|override|sftp)ssh)$/;
const commandText = /(?:^|[,.\s'"])(?:[a-z0-9_.-]*command|metadata[_-]?mapper|(?:sftp[_-])?ssh)\s*=/i;
const maxDepth = 12;

/**
 * Finds the first option that makes the engine run a local program: as a key, in the text of an inline remote, or in JSON
 * inside of a string.
 */
export function findCommandOption(value: unknown, depth = 0): string | undefined {
  if (depth > maxDepth) return 'too deep';
  if (typeof value === 'string') {
    const option = commandText.exec(value)?.[0];
    if (option !== undefined) return option.replace(/^[^a-z]+|\s*=$/gi, '');
    return /^\s*[[{"]/.test(value) ? findCommandOption(parseJson(value), depth + 1) : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, part] of Object.entries(value)) {
    if (commandKey.test(key.toLowerCase().replace(/[^a-z0-9]/g, ''))) return key;
    const match = findCommandOption(part, depth + 1);
    if (match !== undefined) return match;
  }
  return undefined;
}

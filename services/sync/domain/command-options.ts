const commandKey = /(?:command|metadatamapper|(?:^|override|sftp)ssh)$/;
const commandText = /(?:^|[,.\s'"])(?:[a-z0-9_.-]*command|metadata[_-]?mapper|(?:sftp[_-])?ssh)\s*=/i;
const deepest = 12;

/**
 * Finds the first option that makes the engine run a local program: as a key, in the text of an inline remote, or in JSON
 * inside of a string.
 */
export function commandIn(value: unknown, depth = 0): string | undefined {
  if (depth > deepest) return 'too deep';
  if (typeof value === 'string') {
    const found = commandText.exec(value)?.[0];
    if (found !== undefined) return found.replace(/^[^a-z]+|\s*=$/gi, '');
    return /^\s*[[{"]/.test(value) ? commandIn(parsed(value), depth + 1) : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, part] of Object.entries(value)) {
    if (commandKey.test(key.toLowerCase().replace(/[^a-z0-9]/g, ''))) return key;
    const found = commandIn(part, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

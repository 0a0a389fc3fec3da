import { parse } from 'yaml';

/** Parses each text; undefined for one that is not YAML. Runs in a limited process. */
export function run(texts: readonly string[]): readonly unknown[] {
  return texts.map(read);
}

function read(text: string): unknown {
  try {
    return parse(text, { logLevel: 'error' });
  } catch {
    return undefined;
  }
}

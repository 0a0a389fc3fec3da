import { parse } from 'yaml';

/** Parses each text in a limited process; undefined for invalid YAML. */
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

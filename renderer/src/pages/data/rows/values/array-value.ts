/**
 * Parses a one-dimensional array in PostgreSQL's text format. Returns undefined for arrays that a list of lines cannot
 * show: with several dimensions, custom bounds, nulls, empty items or line breaks.
 */
export function parseArray(text: string): readonly string[] | undefined {
  if (!text.startsWith('{') || !text.endsWith('}')) return undefined;
  const body = text.slice(1, -1);
  if (body === '') return [];
  const item = /(?:"((?:[^"\\]|\\.)*)"|([^",{}\\\s][^",{}\\]*))(,|$)/gsy;
  const items: string[] = [];
  while (item.lastIndex < body.length) {
    const match = item.exec(body);
    if (match === null) return undefined;
    const [, quoted, plain = '', separator] = match;
    const value = quoted === undefined ? plain : quoted.replaceAll(/\\(.)/gs, '$1');
    if (value === '' || value.includes('\n') || (quoted === undefined && plain.toUpperCase() === 'NULL'))
      return undefined;
    items.push(value);
    if (separator === '' && item.lastIndex < body.length) return undefined;
  }
  return body.endsWith(',') ? undefined : items;
}

/** Formats an array in PostgreSQL's text format. */
export function formatArray(items: readonly string[]): string {
  return `{${items.map((value) => `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`).join(',')}}`;
}

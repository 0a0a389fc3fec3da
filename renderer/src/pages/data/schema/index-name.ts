/** Maximum length of an identifier of PostgreSQL, in bytes. */
const maxNameBytes = 63;
const encoder = new TextEncoder();

/** Suggests a name for an index as PostgreSQL does: `hulls_length_idx`, with a number if it exists. */
export function suggestIndexName(table: string, columns: readonly string[], existing: ReadonlySet<string>): string {
  const stem = [table, ...columns].join('_');
  for (let attempt = 0; ; attempt += 1) {
    const suffix = attempt === 0 ? '_idx' : `_idx${String(attempt)}`;
    const name = `${truncate(stem, maxNameBytes - suffix.length)}${suffix}`;
    if (!existing.has(name)) return name;
  }
}

function truncate(text: string, maxBytes: number): string {
  const characters = [...text];
  while (encoder.encode(characters.join('')).length > maxBytes) characters.pop();
  return characters.join('');
}

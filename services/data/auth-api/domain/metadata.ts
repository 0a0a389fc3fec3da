export type Metadata = Readonly<Record<string, unknown>>;

/** Merges metadata. Null in the change removes a key. */
export function mergeMetadata(before: Metadata, change: Metadata): Metadata {
  const all = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null);
  return Object.fromEntries(all);
}

export type Metadata = Readonly<Record<string, unknown>>;

/** Keys of the change are taken over; null removes one. */
export function merged(before: Metadata, change: Metadata): Metadata {
  const all = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null);
  return Object.fromEntries(all);
}

interface Row {
  readonly id: string;
}

/** Appends older rows and leaves out duplicates. */
export function appendOlder<Each extends Row>(rows: readonly Each[], older: readonly Each[]): readonly Each[] {
  const existingIds = new Set(rows.map(({ id }) => id));
  return [...rows, ...older.filter(({ id }) => !existingIds.has(id))];
}

/**
 * Merges the newest rows into the existing ones. `added` are new. When all rows of a page (`step`) are new, older
 * ones may be missing in between: then `gap` is set and `rows` stay unchanged.
 */
export function mergeNewest<Each extends Row>(
  rows: readonly Each[],
  newest: readonly Each[],
  step: number,
  time: (row: Each) => number,
): { readonly rows: readonly Each[]; readonly added: readonly Each[]; readonly gap: boolean } {
  const existingIds = new Set(rows.map(({ id }) => id));
  const added = newest.filter(({ id }) => !existingIds.has(id));
  if (added.length === step) return { rows, added, gap: true };
  const byId = new Map(newest.map((row) => [row.id, row]));
  // Existing rows in the range of the page that it does not contain were removed or no longer match.
  const oldestTime = newest.length < step ? -Infinity : Math.min(...newest.map(time));
  const remaining = rows.filter((row) => byId.has(row.id) || time(row) <= oldestTime);
  return { rows: remaining.map((row) => byId.get(row.id) ?? row), added, gap: false };
}

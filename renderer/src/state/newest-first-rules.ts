interface Row {
  readonly id: string;
}

/** Rows with those behind them that were read later, each once. */
export function continued<Each extends Row>(rows: readonly Each[], behind: readonly Each[]): readonly Each[] {
  const known = new Set(rows.map(({ id }) => id));
  return [...rows, ...behind.filter(({ id }) => !known.has(id))];
}

/**
 * What the newest rows, read anew, make of those that are shown. `added` are new; where they are as many as one reading brings
 * (`step`) nobody knows what lies between them and the others, and `rows` stay what they were.
 */
export function renewed<Each extends Row>(
  rows: readonly Each[],
  newest: readonly Each[],
  step: number,
  time: (row: Each) => number,
): { readonly rows: readonly Each[]; readonly added: readonly Each[]; readonly gap: boolean } {
  const known = new Set(rows.map(({ id }) => id));
  const added = newest.filter(({ id }) => !known.has(id));
  if (added.length === step) return { rows, added, gap: true };
  const fresh = new Map(newest.map((row) => [row.id, row]));
  // Rows that should be among those read and are not were removed, or do not fit any more.
  const end = newest.length < step ? -Infinity : Math.min(...newest.map(time));
  const left = rows.filter((row) => fresh.has(row.id) || time(row) <= end);
  return { rows: left.map((row) => fresh.get(row.id) ?? row), added, gap: false };
}

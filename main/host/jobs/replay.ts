import type { Kysely } from 'kysely';
import type { JournaledEnd } from './completion-journal.ts';
import { readActive, type JobRow } from './table.ts';

/** Completed jobs by kind whose rows are not updated yet. */
export type Replay = Map<string, { readonly row: JobRow; readonly result: unknown }[]>;

/** Finds the rows of journaled completions; entries without a row, or with the row of another job, are ignored. */
export async function readReplay(db: Kysely<any>, ends: readonly JournaledEnd[]): Promise<Replay> {
  const byId = new Map(ends.map((end) => [end.id, end]));
  const rows = await readActive(db, [...byId.keys()]);
  const previousEnds = rows.flatMap((row) => {
    const end = byId.get(row.id);
    return end?.kind === row.kind && end.created === row.created_at ? [{ row, result: end.result }] : [];
  });
  return Map.groupBy(previousEnds, ({ row }) => row.kind);
}

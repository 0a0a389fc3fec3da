import type { Kysely } from 'kysely';
import type { JournaledEnd } from './completion-journal.ts';
import { readActive, type JobRow } from './table.ts';

/** Jobs that were done and do not stand so in the table, by kind. */
export type Replay = Map<string, { readonly row: JobRow; readonly result: unknown }[]>;

/** Finds the rows of journaled ends; one whose row is gone, or is another's by now, says nothing any more. */
export async function readReplay(db: Kysely<any>, ends: readonly JournaledEnd[]): Promise<Replay> {
  const byId = new Map(ends.map((end) => [end.id, end]));
  const rows = await readActive(db, [...byId.keys()]);
  const left = rows.flatMap((row) => {
    const end = byId.get(row.id);
    return end?.kind === row.kind && end.created === row.created_at ? [{ row, result: end.result }] : [];
  });
  return Map.groupBy(left, ({ row }) => row.kind);
}

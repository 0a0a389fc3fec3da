import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { Log } from '../../../services/contracts/service.ts';
import type { InFlight } from './in-flight.ts';
import type { CompletionJournal, JournaledEnd } from './completion-journal.ts';
import type { JobRow } from './table.ts';
import type { KindState } from './kind-state.ts';

/** Values of one statement. */
const batch = 1_000;

type Ends = Map<string, { readonly row: JobRow; readonly result: unknown }[]>;

/** Jobs the process before had done, which the table does not show as done: they wait for who works their kind. */
export class Replay {
  readonly #ends: Ends;

  private constructor(ends: Ends) {
    this.#ends = ends;
  }

  /** Reads their rows; an end whose row is gone, or is another's by now, says nothing any more. */
  static async read(db: Kysely<any>, log: CompletionJournal | undefined): Promise<Replay> {
    const ends: Ends = new Map();
    const left = new Map<number, JournaledEnd>();
    for (const end of log?.left ?? []) left.set(end.id, end);
    const ids = [...left.keys()];
    for (let start = 0; start < ids.length; start += batch) {
      const rows: JobRow[] = await db
        .selectFrom('jobs')
        .select(['id', 'kind', 'job_key', 'order_key', 'payload', 'attempts', 'created_at', 'run_at'])
        .where('id', 'in', ids.slice(start, start + batch))
        .where('state', 'in', ['waiting', 'running'])
        .execute();
      for (const row of rows) {
        const end = left.get(row.id);
        if (end?.kind !== row.kind || end.created !== row.created_at) continue;
        const known = ends.get(row.kind);
        if (known === undefined) ends.set(row.kind, [{ row, result: end.result }]);
        else known.push({ row, result: end.result });
      }
    }
    return new Replay(ends);
  }

  /** No end waits any more. */
  get none(): boolean {
    return this.#ends.size === 0;
  }

  /** Hands those of a kind over. What `result` no longer reads is done once more. */
  giveTo(kindState: KindState, begun: InFlight, log: Log): void {
    const { kind, handling } = kindState;
    const ends = this.#ends.get(kind.name);
    this.#ends.delete(kind.name);
    for (const { row, result } of ends ?? []) {
      const read = (handling.result && z.safeParse(handling.result, result)) ?? { success: true, data: result };
      if (read.success) begun.takeLeft(kindState, row, read.data);
      else log.warn('what a job left cannot be read, it is done again', { kind: kind.name, id: row.id });
    }
  }
}

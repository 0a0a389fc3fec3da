import { sql, type Kysely } from 'kysely';
import type { JobAttempt } from '../../../services/contracts/jobs.ts';
import type { Clock, Log } from '../../../services/contracts/service.ts';
import type { Database } from '../database/open.ts';
import { attemptOf, readPayload } from './attempt.ts';
import { leaseMs } from './claim.ts';
import type { JobEnd } from './job-end.ts';
import type { KindState } from './kind-state.ts';
import { columns, type JobRow } from './table.ts';

/** A dead letter whose service was not told of it. */
export type Untold = JobRow & {
  readonly last_error: string;
  readonly lease_owner: string;
  readonly lease_until: number;
};

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly owner: string;
  /** Whether another owner tells no more: it is gone, or has had time enough. */
  readonly isLeft: (owner: string, until: number) => boolean;
}

/**
 * Tells services of their dead letters. Until that has succeeded the row has an owner, as one that runs; so whoever comes
 * after a crash, or hears nothing of its commit, knows that it is still to be told.
 */
export class DeadLetters {
  readonly #parts: Parts;
  readonly #telling = new Set<Promise<void>>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Takes over those of a kind that others were to tell of. */
  async take(transaction: Kysely<any>, kind: string): Promise<readonly Untold[]> {
    const { clock, owner, isLeft } = this.#parts;
    const { rows } = await sql<Untold>`select ${columns}, last_error, lease_owner, lease_until from jobs
      where state = 'dead' and kind = ${kind} and lease_owner is not null and lease_owner != ${owner}`.execute(
      transaction,
    );
    const taken: Untold[] = [];
    for (const row of rows.filter(({ lease_owner, lease_until }) => isLeft(lease_owner, lease_until))) {
      const ours = await sql`update jobs set lease_owner = ${owner}, lease_until = ${clock.now() + leaseMs}
        where id = ${row.id} and state = 'dead' and lease_owner = ${row.lease_owner} returning id`.execute(transaction);
      if (ours.rows.length > 0) taken.push(row);
    }
    return taken;
  }

  /** Tells of those that were taken over. Where the payload no longer fits there is nothing to tell. */
  tellTaken(kindState: KindState, rows: readonly Untold[]): void {
    for (const row of rows) {
      const payload = readPayload(kindState.kind, row);
      this.#begin(kindState, row, payload.success ? attemptOf(row, payload.data) : undefined, row.last_error);
    }
  }

  /** Tells of those of these ends that are stored as dead letters. */
  tell(ends: readonly JobEnd[], dead: ReadonlySet<number>): void {
    for (const end of ends) {
      const { kindState, outcome } = end;
      if (outcome.how !== 'dead' || !isToTell(end) || !dead.has(outcome.row.id)) continue;
      this.#begin(kindState, outcome.row, outcome.attempt, outcome.reason);
    }
  }

  /** Resolves when all are told, or after this time. */
  async settled(longestMs: number): Promise<void> {
    if (this.#telling.size === 0) return;
    const late = Promise.withResolvers<void>();
    using _limit = this.#parts.clock.after(longestMs, late.resolve);
    await Promise.race([late.promise, Promise.all(this.#telling)]);
  }

  #begin(
    kindState: KindState,
    { id }: JobRow,
    attempt: Omit<JobAttempt<any>, 'signal'> | undefined,
    reason: string,
  ): void {
    const { database, log, owner } = this.#parts;
    const tell = async (): Promise<void> => {
      try {
        if (attempt !== undefined) await kindState.handling.onDead?.(attempt, reason);
        await database.note(async (transaction) => {
          await sql`update jobs set lease_owner = null, lease_until = null
            where id = ${id} and state = 'dead' and lease_owner = ${owner}`.execute(transaction);
        });
      } catch (error) {
        log.error('what follows a dead letter failed', { kind: kindState.kind.name, id, error });
      }
    };
    const telling = tell().finally(() => this.#telling.delete(telling));
    this.#telling.add(telling);
  }
}

/** Whether somebody is to be told, should this be the end of a dead letter. */
export function isToTell({ kindState, outcome }: JobEnd): boolean {
  return outcome.how === 'dead' && outcome.attempt !== undefined && kindState.handling.onDead !== undefined;
}

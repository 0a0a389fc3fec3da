import { sql, type Kysely } from 'kysely';
import type { JobAttempt } from '../../../services/contracts/jobs.ts';
import type { Clock, Log } from '../../../services/contracts/service.ts';
import type { Database } from '../database/open.ts';
import { toAttempt, readPayload } from './attempt.ts';
import { leaseMs } from './claim.ts';
import type { JobEnd } from './job-end.ts';
import type { KindState } from './kind-state.ts';
import { columns, type JobRow } from './table.ts';

/** Dead letter that was not reported to its service yet. */
export type UnreportedJob = JobRow & {
  readonly last_error: string;
  readonly lease_owner: string;
  readonly lease_until: number;
};

interface DeadLettersDependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly owner: string;
  /** Returns whether another owner no longer reports: it is gone, or its time is over. */
  readonly isAbandoned: (owner: string, until: number) => boolean;
}

/**
 * Reports dead letters to services. Until a report has succeeded, the row has an owner like a running job; so after a
 * crash or a lost commit it is known to be unreported.
 */
export class DeadLetters {
  readonly #parts: DeadLettersDependencies;
  readonly #telling = new Set<Promise<void>>();

  constructor(parts: DeadLettersDependencies) {
    this.#parts = parts;
  }

  /** Takes over unreported dead letters of a kind from other owners. */
  async takeRows(transaction: Kysely<any>, kind: string): Promise<readonly UnreportedJob[]> {
    const { clock, owner, isAbandoned } = this.#parts;
    const { rows } = await sql<UnreportedJob>`select ${columns}, last_error, lease_owner, lease_until from jobs
      where state = 'dead' and kind = ${kind} and lease_owner is not null and lease_owner != ${owner}`.execute(
      transaction,
    );
    const takenRows: UnreportedJob[] = [];
    for (const row of rows.filter(({ lease_owner, lease_until }) => isAbandoned(lease_owner, lease_until))) {
      const claimed = await sql`update jobs set lease_owner = ${owner}, lease_until = ${clock.now() + leaseMs}
        where id = ${row.id} and state = 'dead' and lease_owner = ${row.lease_owner} returning id`.execute(transaction);
      if (claimed.rows.length > 0) takenRows.push(row);
    }
    return takenRows;
  }

  /** Reports dead letters that were taken over. Those whose payload is no longer valid are skipped. */
  reportTaken(kindState: KindState, rows: readonly UnreportedJob[]): void {
    for (const row of rows) {
      const payload = readPayload(kindState.kind, row);
      this.#begin(kindState, row, payload.success ? toAttempt(row, payload.data) : undefined, row.last_error);
    }
  }

  /** Reports those of the ends that are stored as dead letters. */
  report(ends: readonly JobEnd[], dead: ReadonlySet<number>): void {
    for (const end of ends) {
      const { kindState, outcome } = end;
      if (outcome.how !== 'dead' || !isUnreported(end) || !dead.has(outcome.row.id)) continue;
      this.#begin(kindState, outcome.row, outcome.attempt, outcome.reason);
    }
  }

  /** Resolves when all are reported, or after this time. */
  async settled(maxWaitMs: number): Promise<void> {
    if (this.#telling.size === 0) return;
    const deadline = Promise.withResolvers<void>();
    using _limit = this.#parts.clock.after(maxWaitMs, deadline.resolve);
    await Promise.race([deadline.promise, Promise.all(this.#telling)]);
  }

  #begin(
    kindState: KindState,
    { id }: JobRow,
    attempt: Omit<JobAttempt<any>, 'signal'> | undefined,
    reason: string,
  ): void {
    const { database, log, owner } = this.#parts;
    const notify = async (): Promise<void> => {
      try {
        if (attempt !== undefined) await kindState.handling.onDead?.(attempt, reason);
        await database.note(async (transaction) => {
          await sql`update jobs set lease_owner = null, lease_until = null
            where id = ${id} and state = 'dead' and lease_owner = ${owner}`.execute(transaction);
        });
      } catch (error) {
        log.error('dead letter handler failed', { kind: kindState.kind.name, id, error });
      }
    };
    const telling = notify().finally(() => this.#telling.delete(telling));
    this.#telling.add(telling);
  }
}

/** Returns whether a dead letter would be reported to the service. */
export function isUnreported({ kindState, outcome }: JobEnd): boolean {
  return outcome.how === 'dead' && outcome.attempt !== undefined && kindState.handling.onDead !== undefined;
}

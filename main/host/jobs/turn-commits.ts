import type { Kysely } from 'kysely';
import type { Clock } from '../../../services/contracts/service.ts';
import type { Database } from '../database/open.ts';
import type { ClaimRequest } from './claim.ts';
import type { DeadLetters, UnreportedJob } from './dead-letters.ts';
import type { JobEnd } from './job-end.ts';
import type { KindState } from './kind-state.ts';
import type { LiveJobs } from './live-jobs.ts';
import { writeOutcomes } from './outcome.ts';
import { recordResults } from './results.ts';
import { releaseUnknownKinds, nextRunAt, type JobRow } from './table.ts';

/** Result of a claim. `next`: time when the next job is due; undefined when more may be due now. */
export interface Claim {
  readonly kindState: KindState;
  readonly rows: readonly JobRow[];
  readonly next: number | undefined;
  /** Unreported dead letters. */
  readonly unreported: readonly UnreportedJob[];
}

/** Result of a turn: ids of the new dead letters, and the claimed jobs. */
interface Stored {
  readonly dead: ReadonlySet<number>;
  readonly claims: readonly Claim[];
}

interface TurnCommitsDependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly owner: string;
  readonly live: LiveJobs;
  readonly deadLetters: DeadLetters;
  readonly claim: (transaction: Kysely<any>, ask: ClaimRequest) => Promise<readonly JobRow[]>;
  /** Writes further changes between the ends and the claims. */
  readonly writeExtra: (transaction: Kysely<any>) => Promise<void>;
}

/** Transactions of turns: each writes ended jobs and claims jobs for the free slots. */
export class TurnCommits {
  readonly #parts: TurnCommitsDependencies;
  /** The last transaction seemed to fail but may be stored. */
  #isDoubtful = false;

  constructor(parts: TurnCommitsDependencies) {
    this.#parts = parts;
  }

  /**
   * A power failure may revert claims and marks; that repeats work, whose effects have keys. Dead letters are
   * reported once, hence only after the sync.
   */
  async store(ends: readonly JobEnd[], requestedKinds: readonly KindState[]): Promise<Stored> {
    const { database } = this.#parts;
    const write = (transaction: Kysely<any>) => this.#write(transaction, ends, requestedKinds);
    const hasDead = ends.some(({ outcome }) => outcome.how === 'dead');
    try {
      const result = await (hasDead ? database.commit(write) : database.mark(write));
      this.#isDoubtful = false;
      return result;
    } catch (error) {
      this.#isDoubtful = true;
      throw error;
    }
  }

  /** Can run again after a rollback. */
  async #write(
    transaction: Kysely<any>,
    ends: readonly JobEnd[],
    requestedKinds: readonly KindState[],
  ): Promise<Stored> {
    const { clock, owner, live, writeExtra } = this.#parts;
    // Read late: jobs enqueued while the turn waited, behind jobs that ended here, are due as well.
    const now = clock.now();
    if (this.#isDoubtful) {
      const knownIds = [...live.running, ...live.endedJobs].map(({ id }) => id);
      await releaseUnknownKinds(transaction, owner, knownIds);
    }
    const dead = await writeOutcomes(transaction, ends, { owner, now });
    await recordResults(transaction, ends);
    await writeExtra(transaction);
    const claims: Claim[] = [];
    for (const kindState of requestedKinds) claims.push(await this.#claim(transaction, kindState, now));
    return { dead, claims };
  }

  async #claim(transaction: Kysely<any>, kindState: KindState, now: number): Promise<Claim> {
    const { claim, deadLetters, owner } = this.#parts;
    const kind = kindState.kind.name;
    const limit = kindState.free;
    const rows = limit === 0 ? [] : await claim(transaction, { kind, limit, now, owner });
    const next = rows.length < limit ? await nextRunAt(transaction, kind, now) : undefined;
    const unreported = kindState.unreported ? await deadLetters.takeRows(transaction, kind) : [];
    return { kindState, rows, next, unreported };
  }
}

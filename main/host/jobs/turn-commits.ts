import type { Kysely } from 'kysely';
import type { Clock } from '../../../services/contracts/service.ts';
import type { Database } from '../database/open.ts';
import type { Ask } from './claim.ts';
import type { DeadLetters, Untold } from './dead-letters.ts';
import type { JobEnd } from './job-end.ts';
import type { KindState } from './kind-state.ts';
import type { LiveJobs } from './live-jobs.ts';
import { writeOutcomes } from './outcome.ts';
import { recordResults } from './results.ts';
import { giveBackUnknown, nextRunAt, type JobRow } from './table.ts';

/** What a claim brought. `next`: when another falls due; undefined where more may be due now. */
export interface Claim {
  readonly kindState: KindState;
  readonly rows: readonly JobRow[];
  readonly next: number | undefined;
  /** Dead letters that are still to be told of. */
  readonly untold: readonly Untold[];
}

/** What a turn came to: the jobs that are dead letters now, by their ids, and what was claimed. */
interface Stored {
  readonly dead: ReadonlySet<number>;
  readonly claims: readonly Claim[];
}

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
  readonly owner: string;
  readonly live: LiveJobs;
  readonly deadLetters: DeadLetters;
  readonly claim: (transaction: Kysely<any>, ask: Ask) => Promise<readonly JobRow[]>;
  /** Writes what else the table is to know, between the ends and the claims. */
  readonly writeBesides: (transaction: Kysely<any>) => Promise<void>;
}

/** The transactions in which turns touch the table, one for each: it writes what ended and claims for the slots that are free. */
export class TurnCommits {
  readonly #parts: Parts;
  /** The last one seemed to fail, and may be stored all the same. */
  #isDoubtful = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * A power cut may take back claims and marks; that repeats work, whose effects have keys. What follows a dead letter
   * happens once, hence only when the disk has it.
   */
  async store(ends: readonly JobEnd[], asked: readonly KindState[]): Promise<Stored> {
    const { database } = this.#parts;
    const write = (transaction: Kysely<any>) => this.#write(transaction, ends, asked);
    const hasDead = ends.some(({ outcome }) => outcome.how === 'dead');
    try {
      const stored = await (hasDead ? database.commit(write) : database.mark(write));
      this.#isDoubtful = false;
      return stored;
    } catch (error) {
      this.#isDoubtful = true;
      throw error;
    }
  }

  /** May be called again after a transaction that was given up. */
  async #write(transaction: Kysely<any>, ends: readonly JobEnd[], asked: readonly KindState[]): Promise<Stored> {
    const { clock, owner, live, writeBesides } = this.#parts;
    // Not before: what was enqueued while this stood in line, behind what ended here, is due as well.
    const now = clock.now();
    if (this.#isDoubtful) {
      const known = [...live.running, ...live.over].map(({ id }) => id);
      await giveBackUnknown(transaction, owner, known);
    }
    const dead = await writeOutcomes(transaction, ends, { owner, now });
    await recordResults(transaction, ends);
    await writeBesides(transaction);
    const claims: Claim[] = [];
    for (const kindState of asked) claims.push(await this.#claim(transaction, kindState, now));
    return { dead, claims };
  }

  async #claim(transaction: Kysely<any>, kindState: KindState, now: number): Promise<Claim> {
    const { claim, deadLetters, owner } = this.#parts;
    const kind = kindState.kind.name;
    const limit = kindState.free;
    const rows = limit === 0 ? [] : await claim(transaction, { kind, limit, now, owner });
    const next = rows.length < limit ? await nextRunAt(transaction, kind, now) : undefined;
    const untold = kindState.untold ? await deadLetters.take(transaction, kind) : [];
    return { kindState, rows, next, untold };
  }
}

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Kysely } from 'kysely';
import type { Log } from '../../../services/contracts/service.ts';
import { Batcher } from '../../../services/kit/batcher.ts';

type Work<T> = (transaction: Kysely<any>) => Promise<T>;

/** Resolves after the commit. A commit that is not durable reaches the disk later. */
export type Transact = <T>(work: Work<T>, durable: boolean) => Promise<T>;

/** Queue of callers; all that wait at the same time share one transaction. */
export interface CommitQueue {
  /** A group is durable when one of its callers is. */
  join<T>(work: Work<T>, durable: boolean): Promise<T>;
  /**
   * Resolves once the group with this transaction was committed and settled (true) or rolled back (false); undefined
   * for other transactions.
   */
  settling(transaction: Kysely<any>): Promise<boolean> | undefined;
  /** Settles with the current group, whatever its outcome. */
  current(): Promise<void> | undefined;
  /** Settles when the queue is empty. */
  drained(): Promise<void> | undefined;
}

interface Caller {
  readonly work: Work<unknown>;
  readonly durable: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** `repeatable`: nothing was stored, and the works of the group can be retried individually. */
type Outcome = 'committed' | { readonly error: unknown; readonly repeatable: boolean };

/** Maximum size of a group, so that no caller waits indefinitely; the rest joins the next one. */
const maxGroupSize = 256;

/**
 * Creates a commit queue. `settle` is awaited after each commit, before the callers of the group are answered and the
 * next group begins.
 */
export function createCommitQueue(
  transact: Transact,
  log: Log,
  settle: (durable: boolean) => Promise<void>,
): CommitQueue {
  return new GroupCommitQueue(transact, log, settle);
}

class GroupCommitQueue implements CommitQueue {
  readonly #transact: Transact;
  readonly #log: Log;
  readonly #settle: (durable: boolean) => Promise<void>;
  readonly #open = new WeakMap<Kysely<any>, Promise<boolean>>();
  readonly #callers: Batcher<Caller>;
  #serving: Promise<void> | undefined;

  constructor(transact: Transact, log: Log, settle: (durable: boolean) => Promise<void>) {
    this.#transact = transact;
    this.#log = log;
    this.#settle = settle;
    this.#callers = new Batcher<Caller>({
      maxBatchSize: maxGroupSize,
      waitEachTurn: true,
      process: async (group) => {
        this.#serving = this.#serve(group);
        await this.#serving;
        this.#serving = undefined;
      },
    });
  }

  join<T>(work: Work<T>, durable: boolean): Promise<T> {
    // Each caller's work runs in the context of its request, which determines the language and the client address in the log.
    const scopedWork = AsyncLocalStorage.bind(work);
    return new Promise<T>((resolve, reject) => {
      this.#callers.add({ work: scopedWork, durable, resolve: resolve as (value: unknown) => void, reject });
    });
  }

  settling(transaction: Kysely<any>): Promise<boolean> | undefined {
    return this.#open.get(transaction);
  }

  current(): Promise<void> | undefined {
    return this.#serving;
  }

  drained(): Promise<void> | undefined {
    return this.#callers.drained();
  }

  async #serve(group: readonly Caller[]): Promise<void> {
    if (group.length > 1) {
      const outcome = await this.#commitTogether(group);
      if (outcome === 'committed') return;
      if (!outcome.repeatable) return rejectAll(group, outcome.error);
      this.#log.debug('group commit split', { callers: group.length, error: outcome.error });
    }
    for (const [index, caller] of group.entries()) {
      const outcome = await this.#commitTogether([caller]);
      if (outcome === 'committed') continue;
      if (!outcome.repeatable) return rejectAll(group.slice(index), outcome.error);
      caller.reject(outcome.error);
    }
  }

  async #commitTogether(group: readonly Caller[]): Promise<Outcome> {
    const durable = group.some((caller) => caller.durable);
    // A transaction that cannot begin would fail again for each work, each time after its timeout.
    let repeatable = false;
    const over = Promise.withResolvers<boolean>();
    try {
      const values = await this.#transact(async (transaction) => {
        repeatable = true;
        this.#open.set(transaction, over.promise);
        const results: unknown[] = [];
        for (const caller of group) results.push(await caller.work(transaction));
        return results;
      }, durable);
      // Committed work must not be repeated.
      repeatable = false;
      await this.#settle(durable);
      group.forEach((caller, index) => caller.resolve(values[index]));
      over.resolve(true);
      return 'committed';
    } catch (error) {
      over.resolve(false);
      return { error, repeatable };
    }
  }
}

function rejectAll(callers: readonly Caller[], error: unknown): void {
  for (const caller of callers) caller.reject(error);
}

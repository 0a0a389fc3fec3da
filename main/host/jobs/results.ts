import type { Kysely } from 'kysely';
import type { Log } from '../../../services/contracts/service.ts';
import type { Outcome } from './outcome.ts';
import type { KindState } from './kind-state.ts';

/** A job whose attempt ended, with who works its kind. */
export interface Ended {
  readonly kindState: KindState;
  readonly outcome: Outcome;
  /** It stands in the log beside the table: all that follows has happened, and the table is told when it suits. */
  readonly logged: boolean;
  /** The one behind it in its order key was begun here. */
  followed: boolean;
}

/** Whether ends of a kind can be logged: what `record` needs of them has to outlive the process. */
export function isLoggable({ handling }: KindState): boolean {
  return handling.record === undefined || handling.result !== undefined;
}

/** Lets each kind write what its handlers returned, in the transaction of the marks. */
export async function recordResults(transaction: Kysely<any>, ended: readonly Ended[]): Promise<void> {
  for (const [{ handling }, results] of resultsOf(ended)) await handling.record?.(transaction, results);
}

/** Tells each kind that this is stored. */
export function tellResults(ended: readonly Ended[], log: Log): void {
  for (const [{ kind, handling }, results] of resultsOf(ended)) {
    try {
      handling.onDone?.(results);
    } catch (error) {
      log.error('what follows finished jobs failed', { kind: kind.name, error });
    }
  }
}

function resultsOf(ended: readonly Ended[]): ReadonlyMap<KindState, readonly unknown[]> {
  const found = new Map<KindState, unknown[]>();
  for (const { kindState, outcome } of ended) {
    if (outcome.how !== 'done') continue;
    const known = found.get(kindState);
    if (known === undefined) found.set(kindState, [outcome.result]);
    else known.push(outcome.result);
  }
  return found;
}

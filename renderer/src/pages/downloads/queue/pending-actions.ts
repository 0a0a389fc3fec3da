import type { Download } from '../../../../../services/contracts/downloads/api.ts';
import { hasEnded, applyQueueAction } from './list-rules.ts';

/** A request to pause or resume; `uids` names the rows, undefined means the whole queue. */
export interface QueueAction {
  readonly kind: 'pause' | 'resume';
  readonly uids: readonly string[] | undefined;
}

/**
 * Requests that the host has not confirmed yet. Events that arrive in the meantime may be older: a row must not flip
 * back for a moment, with another button under the pointer.
 */
export class PendingActions {
  readonly #pending = new Set<QueueAction>();
  /** Last state from the host of the rows that are displayed differently. */
  readonly #hostRows = new Map<string, Download>();
  /** Last state of the queue from the host, where it is displayed differently. */
  #hostPaused: boolean | undefined;
  /** End of the last request; never rejects. */
  #last: Promise<void> = Promise.resolve();

  /**
   * Sends requests in the order of the clicks: the host replies to a pause when nothing is running any more, and a
   * later request must not overtake it.
   */
  async send<Answer>(action: QueueAction, ask: () => Promise<Answer>): Promise<Answer> {
    this.#pending.add(action);
    const reply = this.#last.then(ask);
    this.#last = reply.then(
      () => undefined,
      () => undefined,
    );
    try {
      return await reply;
    } finally {
      this.#pending.delete(action);
    }
  }

  /** Returns the state in which a row of the host is displayed. */
  getDisplayed(row: Download): Download {
    this.#hostRows.delete(row.uid);
    if (hasEnded(row)) return row;
    let displayed = row;
    for (const { kind, uids } of this.#pending) displayed = applyQueueAction(displayed, kind, uids);
    if (displayed !== row) this.#hostRows.set(row.uid, row);
    return displayed;
  }

  /** Returns the state in which the queue is displayed, given the state from the host. */
  isDisplayedPaused(hostState: boolean): boolean {
    const queueAction = [...this.#pending].findLast(({ uids }) => uids === undefined);
    const displayed = queueAction === undefined ? hostState : queueAction.kind === 'pause';
    this.#hostPaused = displayed === hostState ? undefined : hostState;
    return displayed;
  }

  /** Returns and clears the host states that are displayed differently, to be evaluated again after a reply. */
  takeHostState(): { readonly rows: readonly Download[]; readonly paused: boolean | undefined } {
    const hostState = { rows: [...this.#hostRows.values()], paused: this.#hostPaused };
    this.#hostRows.clear();
    this.#hostPaused = undefined;
    return hostState;
  }

  /** Forgets a deleted row. */
  forget(uid: string): void {
    this.#hostRows.delete(uid);
  }
}

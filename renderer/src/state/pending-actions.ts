import type { Download } from '../../../services/contracts/downloads/api.ts';
import { isOver, steered } from '../pages/downloads/list-rules.ts';

/** A press of Pause or Resume; `uids`: the rows that are named, undefined for the whole queue. */
export interface Press {
  readonly what: 'pause' | 'resume';
  readonly uids: readonly string[] | undefined;
}

/**
 * Presses that the host has not answered yet. What it tells meanwhile may be older than they are: a row that was pressed
 * must not turn back for a moment, with another button under the pointer.
 */
export class PendingActions {
  readonly #open = new Set<Press>();
  /** Rows that are shown otherwise than the host told last. */
  readonly #told = new Map<string, Download>();
  /** The same for the whole queue: whether it is paused. */
  #toldPaused: boolean | undefined;
  /** The end of the last one; never rejects. */
  #last: Promise<void> = Promise.resolve();

  /**
   * Asks the host in the order of the presses: it answers a pause when nothing runs any more, and what was pressed after it
   * must not overtake it.
   */
  async ask<Answer>(press: Press, ask: () => Promise<Answer>): Promise<Answer> {
    this.#open.add(press);
    const asked = this.#last.then(ask);
    this.#last = asked.then(
      () => undefined,
      () => undefined,
    );
    try {
      return await asked;
    } finally {
      this.#open.delete(press);
    }
  }

  /** A row that the host told of, as it is to be shown. */
  shown(told: Download): Download {
    this.#told.delete(told.uid);
    if (isOver(told)) return told;
    let shown = told;
    for (const { what, uids } of this.#open) shown = steered(shown, what, uids);
    if (shown !== told) this.#told.set(told.uid, told);
    return shown;
  }

  /** Whether the whole queue, of which the host told, is to be shown as paused. */
  isPaused(told: boolean): boolean {
    const whole = [...this.#open].findLast(({ uids }) => uids === undefined);
    const shown = whole === undefined ? told : whole.what === 'pause';
    this.#toldPaused = shown === told ? undefined : told;
    return shown;
  }

  /** What was shown otherwise than the host told last: to be looked at again after an answer. */
  takeTold(): { readonly rows: readonly Download[]; readonly paused: boolean | undefined } {
    const told = { rows: [...this.#told.values()], paused: this.#toldPaused };
    this.#told.clear();
    this.#toldPaused = undefined;
    return told;
  }

  /** A row that is gone. */
  forget(uid: string): void {
    this.#told.delete(uid);
  }
}

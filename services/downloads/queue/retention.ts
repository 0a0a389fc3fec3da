import type { Context } from '../../contracts/service.ts';
import { doneStates } from '../domain/item.ts';
import type { Settings } from '../settings.ts';
import { findEndedBefore } from '../store/history.ts';

/** Shortest interval between two checks. */
const minIntervalMs = 30_000;

/** Deletes downloads in one of the states from the history, and returns their number. */
type RemoveDownloads = (uids: readonly string[], states: typeof doneStates) => Promise<number>;

/** Deletes old downloads from the history by the current setting. */
export class Retention {
  readonly #context: Context;
  readonly #settings: Readonly<Pick<Settings, 'clearAfter'>>;
  readonly #remove: RemoveDownloads;
  #timer: Disposable | undefined;
  #isStarted = false;

  constructor(context: Context, settings: Readonly<Pick<Settings, 'clearAfter'>>, remove: RemoveDownloads) {
    this.#context = context;
    this.#settings = settings;
    this.#remove = remove;
  }

  /** Starts until the disposal. */
  start(): Disposable {
    this.#isStarted = true;
    this.restart();
    return {
      [Symbol.dispose]: () => {
        this.#isStarted = false;
        this.#timer?.[Symbol.dispose]();
      },
    };
  }

  /** Starts again with a changed setting, unless another host deletes old downloads. */
  restart(): void {
    if (!this.#isStarted) return;
    this.#timer?.[Symbol.dispose]();
    this.#timer = startRetention(this.#context, this.#remove, this.#settings.clearAfter);
  }
}

/**
 * Deletes downloads from the history that ended the given number of seconds ago; their files remain. With 0, nothing is
 * deleted.
 */
function startRetention(context: Context, remove: RemoveDownloads, seconds: number): Disposable {
  if (seconds === 0) return { [Symbol.dispose]: () => undefined };
  const deleteExpired = async (): Promise<void> => {
    for (;;) {
      const uids = await findEndedBefore(context.db, context.clock.now() - seconds * 1000);
      if (uids.length === 0 || (await remove(uids, doneStates)) === 0) return;
    }
  };
  return context.clock.every(Math.min(seconds * 1000, minIntervalMs), () => {
    deleteExpired().catch((error: unknown) => context.log.error('history retention failed', { error }));
  });
}

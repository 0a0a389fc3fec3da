import { syncChanged } from '../../../../services/contracts/sync/api.ts';
import type { call } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';
import { Loadable } from '../../state/loadable.svelte.ts';
import { RepeatableCalls } from './repeatable-calls.ts';

/** Data of file sync, reloaded when jobs or saved syncs change while it is subscribed. */
export class LiveQuery<Value> extends Loadable {
  value = $state.raw<Value>();
  readonly #read: (request: typeof call) => Promise<Value>;
  readonly #calls = new RepeatableCalls();
  #busy = false;
  #isReloadRequested = false;
  /** The data may have changed, so that the next load requests everything. */
  #isStale = true;

  /** @param read Requests the data with the passed function, which works like {@link call}. */
  constructor(read: (request: typeof call) => Promise<Value>) {
    super();
    this.#read = read;
  }

  /** Loads once at a time; a request during a load causes one more load. */
  async load(): Promise<void> {
    this.#isStale = true;
    await this.#load();
  }

  /** Loads now and on every change. Returns a function that stops it. */
  subscribe(): () => void {
    const reload = (): void => void this.load();
    const unsubscribers = [
      live.on(syncChanged, reload),
      live.onReset(reload),
      live.onTextChange(() => void this.#reloadTexts()),
    ];
    reload();
    return () => unsubscribers.forEach((unsubscribe) => unsubscribe());
  }

  /** Requests only the replies with texts of the host again. */
  async #reloadTexts(): Promise<void> {
    if (this.#calls.hasHostTexts) await this.#load();
  }

  async #load(): Promise<void> {
    if (this.#busy) {
      this.#isReloadRequested = true;
      return;
    }
    this.#busy = true;
    do {
      this.#isReloadRequested = false;
      this.#calls.begin(this.#isStale);
      this.#isStale = false;
      await this.readOnce(
        () => this.#read((route, options) => this.#calls.request(route, options)),
        (value) => (this.value = value),
      );
    } while (this.#isReloadRequested);
    this.#busy = false;
  }
}

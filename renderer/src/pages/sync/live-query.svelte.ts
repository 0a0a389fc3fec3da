import { syncChanged } from '../../../../services/contracts/sync/api.ts';
import { live } from '../../state/live.svelte.ts';
import { Loadable } from '../../state/loadable.svelte.ts';

/** Data of file sync, reloaded when jobs or saved syncs change while it is subscribed. */
export class LiveQuery<Value> extends Loadable {
  value = $state.raw<Value>();
  readonly #read: () => Promise<Value>;
  #busy = false;
  #isReloadRequested = false;

  constructor(read: () => Promise<Value>) {
    super();
    this.#read = read;
  }

  /** Loads once at a time; a request during a load causes one more load. */
  async load(): Promise<void> {
    if (this.#busy) {
      this.#isReloadRequested = true;
      return;
    }
    this.#busy = true;
    do {
      this.#isReloadRequested = false;
      await this.readOnce(this.#read, (value) => (this.value = value));
    } while (this.#isReloadRequested);
    this.#busy = false;
  }

  /** Loads now and on every change. Returns a function that stops it. */
  subscribe(): () => void {
    const reload = (): void => void this.load();
    const unsubscribers = [live.on(syncChanged, reload), live.onReset(reload)];
    reload();
    return () => unsubscribers.forEach((unsubscribe) => unsubscribe());
  }
}

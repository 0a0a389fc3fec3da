import { syncChanged } from '../../../../services/contracts/sync/api.ts';
import { live } from '../../state/live.svelte.ts';
import { Loadable } from '../../state/loadable.svelte.ts';

/** Something of file sync that is read again whenever a job or a saved sync changes, while somebody looks at it. */
export class Followed<Value> extends Loadable {
  value = $state.raw<Value>();
  readonly #read: () => Promise<Value>;
  #busy = false;
  #again = false;

  constructor(read: () => Promise<Value>) {
    super();
    this.#read = read;
  }

  /** One reading at a time; what comes meanwhile is read once more. */
  async load(): Promise<void> {
    if (this.#busy) {
      this.#again = true;
      return;
    }
    this.#busy = true;
    do {
      this.#again = false;
      await this.readOnce(this.#read, (value) => (this.value = value));
    } while (this.#again);
    this.#busy = false;
  }

  /** Reads now and follows; the way to stop. */
  follow(): () => void {
    const again = (): void => void this.load();
    const ends = [live.on(syncChanged, again), live.onReset(again)];
    again();
    return () => ends.forEach((end) => end());
  }
}

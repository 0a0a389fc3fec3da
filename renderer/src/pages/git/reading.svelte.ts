import { formatError } from '../../api/call.ts';
import { toasts } from '../../state/toasts.svelte.ts';

/** Something that is read from the host, and read anew when what it depends on changes. */
export class Reading<Value> {
  value = $state.raw<Value>();
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  error = $state('');
  #turn = 0;
  #work: (() => Promise<Value>) | undefined;

  /** Reads; what was read before stays in sight meanwhile, and an answer that comes too late is dropped. */
  async read(work: () => Promise<Value>): Promise<void> {
    this.#work = work;
    const turn = (this.#turn += 1);
    try {
      const value = await work();
      if (turn !== this.#turn) return;
      this.value = value;
      this.phase = 'ready';
    } catch (error) {
      if (turn !== this.#turn) return;
      this.error = formatError(error);
      this.phase = 'failed';
    }
  }

  /** The same once more. */
  async again(): Promise<void> {
    if (this.#work !== undefined) await this.read(this.#work);
  }
}

interface Part<Item> {
  readonly items: readonly Item[];
  readonly more: boolean;
}

/** The same for a list that is long and read in parts. */
export class PartReading<Item extends { readonly id: string }> extends Reading<Part<Item>> {
  busy = $state(false);

  /** Reads the part that follows the items that are there. */
  async more(read: (items: readonly Item[]) => Promise<Part<Item>>): Promise<void> {
    const before = this.value;
    if (before === undefined) return;
    this.busy = true;
    try {
      const { items, more } = await read(before.items);
      // It may have been read anew meanwhile.
      if (this.value !== before) return;
      // What came in since has moved the others on, so that a part may begin with what the one before ended with.
      const isKnown = ({ id }: Item): boolean => before.items.some((item) => item.id === id);
      this.value = { items: [...before.items, ...items.filter((item) => !isKnown(item))], more };
    } catch (error) {
      toasts.show(formatError(error));
    } finally {
      this.busy = false;
    }
  }
}

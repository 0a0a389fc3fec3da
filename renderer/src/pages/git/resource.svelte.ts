import { formatError } from '../../api/call.ts';
import { toasts } from '../../state/toasts.svelte.ts';

/** Data loaded from the host, reloaded when its inputs change. */
export class Resource<Value> {
  value = $state.raw<Value>();
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  /** Error of the last failed load. */
  failure = $state.raw<unknown>();
  #requestId = 0;
  #load: (() => Promise<Value>) | undefined;

  /** Loads the value. Keeps the previous value until then and ignores outdated responses. */
  async read(load: () => Promise<Value>): Promise<void> {
    this.#load = load;
    const requestId = (this.#requestId += 1);
    try {
      const value = await load();
      if (requestId !== this.#requestId) return;
      this.value = value;
      this.phase = 'ready';
    } catch (error) {
      if (requestId !== this.#requestId) return;
      this.failure = error;
      this.phase = 'failed';
    }
  }

  /** Repeats the last load. */
  async reload(): Promise<void> {
    if (this.#load !== undefined) await this.read(this.#load);
  }
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly more: boolean;
}

/** List that is loaded in pages. */
export class PagedResource<Item extends { readonly id: string }> extends Resource<Page<Item>> {
  busy = $state(false);

  /** Loads the page after the loaded items. */
  async more(read: (items: readonly Item[]) => Promise<Page<Item>>): Promise<void> {
    const previous = this.value;
    if (previous === undefined) return;
    this.busy = true;
    try {
      const { items, more } = await read(previous.items);
      // The list was reloaded in the meantime.
      if (this.value !== previous) return;
      // New items shift the pages, so the next page may repeat items.
      const isLoaded = ({ id }: Item): boolean => previous.items.some((item) => item.id === id);
      this.value = { items: [...previous.items, ...items.filter((item) => !isLoaded(item))], more };
    } catch (error) {
      toasts.show(formatError(error));
    } finally {
      this.busy = false;
    }
  }
}

import { sentence } from '../api/call.ts';

/** How long a toast stays, in ms: long enough to read it, longer when there is something to take back or to follow. */
const readMs = 5000;
const actMs = 8000;

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'plain' | 'bad';
  readonly undo?: (() => Promise<void> | void) | undefined;
  /** Where what it speaks of is. */
  readonly link?: { readonly href: string; readonly words: string } | undefined;
  /** Done once the way back is gone, such as a removal that cannot be undone later. */
  readonly settle?: (() => Promise<void>) | undefined;
}

/** Short news in the corner of the page. */
class Toasts {
  list = $state<readonly Toast[]>([]);
  /** Where they can be shown; the last one is where they are. */
  #places = $state.raw<readonly symbol[]>([]);
  readonly place = $derived(this.#places.at(-1));
  #nextId = 1;
  #timers = new Map<number, ReturnType<typeof setTimeout>>();

  constructor() {
    // What is still open when the page goes is settled: a person who leaves has not taken it back.
    addEventListener('pagehide', () => void this.closeAll());
  }

  /** Shows them in a place before all others, such as a dialog, until the returned function is called. */
  standIn(place: symbol): () => void {
    // Whoever looked at them looked at another place.
    const show = (places: readonly symbol[]): void => {
      this.#places = places;
      this.goOn();
    };
    show([...this.#places, place]);
    return () => show(this.#places.filter((each) => each !== place));
  }

  /** `undo` takes it back; `settle` runs when the toast goes without that. */
  say(text: string, parts: Pick<Toast, 'undo' | 'settle' | 'link'> & { readonly tone?: Toast['tone'] } = {}): void {
    const toast: Toast = { id: this.#nextId, text, tone: parts.tone ?? 'plain', ...parts };
    this.#nextId += 1;
    // Three at most: older news goes, and what waited on it is done.
    for (const { id } of this.list.slice(0, -2)) this.close(id);
    this.list = [...this.list, toast];
    this.#start(toast);
  }

  /** Says why something did not work. */
  sayWhy(error: unknown): void {
    this.say(sentence(error), { tone: 'bad' });
  }

  undo(id: number): void {
    const toast = this.#take(id);
    void this.#run(toast?.undo);
  }

  close(id: number): void {
    const toast = this.#take(id);
    void this.#run(toast?.settle);
  }

  /** Resolves when all that waited on them is done. */
  async closeAll(): Promise<void> {
    await Promise.all(this.list.map(({ id }) => this.#run(this.#take(id)?.settle)));
  }

  wait(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  goOn(): void {
    for (const toast of this.list) this.#start(toast);
  }

  #start(toast: Toast): void {
    clearTimeout(this.#timers.get(toast.id));
    this.#timers.set(
      toast.id,
      setTimeout(() => this.close(toast.id), toast.undo || toast.link ? actMs : readMs),
    );
  }

  #take(id: number): Toast | undefined {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    const toast = this.list.find((each) => each.id === id);
    this.list = this.list.filter((each) => each.id !== id);
    return toast;
  }

  async #run(work: (() => Promise<void> | void) | undefined): Promise<void> {
    try {
      await work?.();
    } catch (error) {
      this.sayWhy(error);
    }
  }
}

export const toasts = new Toasts();

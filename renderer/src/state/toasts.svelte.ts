import * as m from '#messages/state';
import { formatError, isHostFailure } from '../api/call.ts';

/** Display time of a toast, in ms; longer when it has Undo or a link. */
const plainDurationMs = 5000;
const actionDurationMs = 8000;

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'plain' | 'bad';
  readonly undo?: (() => Promise<void> | void) | undefined;
  /** Link to the subject of the toast. */
  readonly link?: { readonly href: string; readonly label: string } | undefined;
  /** Runs once Undo is no longer possible, such as a removal that cannot be undone later. */
  readonly settle?: (() => Promise<void>) | undefined;
}

/** Short notifications in the corner of the page. */
class Toasts {
  list = $state<readonly Toast[]>([]);
  /** Returns true when the account can open the log page; set by the session. */
  canOpenLog: () => boolean = () => false;
  /** Containers that can show toasts; the last one does. */
  #containers = $state.raw<readonly symbol[]>([]);
  readonly activeContainer = $derived(this.#containers.at(-1));
  #nextId = 1;
  #timers = new Map<number, ReturnType<typeof setTimeout>>();

  constructor() {
    // Open toasts are settled when the page is closed, because Undo was not used.
    addEventListener('pagehide', () => void this.closeAll());
  }

  /** Shows the toasts in a container, such as a dialog, before all others until the returned function is called. */
  mountIn(container: symbol): () => void {
    // The pointer can no longer be over the toasts of the previous container.
    const update = (list: readonly symbol[]): void => {
      this.#containers = list;
      this.resumeTimers();
    };
    update([...this.#containers, container]);
    return () => update(this.#containers.filter((each) => each !== container));
  }

  /** Returns the ID of the toast. `undo` reverts the action; `settle` runs when the toast closes without Undo. */
  show(
    text: string,
    options: Pick<Toast, 'undo' | 'settle' | 'link'> & { readonly tone?: Toast['tone'] } = {},
  ): number {
    const toast: Toast = { id: this.#nextId, text, tone: options.tone ?? 'plain', ...options };
    this.#nextId += 1;
    // At most three toasts are shown; older ones are closed and settled.
    for (const { id } of this.list.slice(0, -2)) this.close(id);
    this.list = [...this.list, toast];
    this.#start(toast);
    return toast.id;
  }

  /** Shows an error. */
  showError(error: unknown): void {
    const link = isHostFailure(error) && this.canOpenLog() ? { href: '/settings/log', label: m.log() } : undefined;
    this.show(formatError(error), { tone: 'bad', link });
  }

  undo(id: number): void {
    const toast = this.#remove(id);
    void this.#run(toast?.undo);
  }

  close(id: number): void {
    const toast = this.#remove(id);
    void this.#run(toast?.settle);
  }

  /** Resolves when all open toasts are settled. */
  async closeAll(): Promise<void> {
    await Promise.all(this.list.map(({ id }) => this.#run(this.#remove(id)?.settle)));
  }

  pauseTimers(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  resumeTimers(): void {
    for (const toast of this.list) this.#start(toast);
  }

  #start(toast: Toast): void {
    clearTimeout(this.#timers.get(toast.id));
    this.#timers.set(
      toast.id,
      setTimeout(() => this.close(toast.id), toast.undo || toast.link ? actionDurationMs : plainDurationMs),
    );
  }

  #remove(id: number): Toast | undefined {
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
      this.showError(error);
    }
  }
}

export const toasts = new Toasts();

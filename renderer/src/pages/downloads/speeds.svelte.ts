import { SvelteMap } from 'svelte/reactivity';
import { downloadChanged, downloadRemoved } from '../../../../services/contracts/downloads/api.ts';
import { live } from '../../state/live.svelte.ts';

const everyMs = 1000;
/** Values that are kept: of all downloads five minutes, of one the last minute. */
const [mostOfAll, mostOfOne] = [300, 60];

/** How fast downloads went lately, in bytes a second, measured while this window is open. */
class Speeds {
  /** Of all together, oldest first. */
  all = $state.raw<readonly { readonly at: number; readonly value: number }[]>([]);
  readonly #ofOne = new SvelteMap<string, readonly number[]>();
  readonly #now = new Map<string, number>();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor() {
    live.on(downloadChanged, ({ uid, state, speed }) => {
      if (state === 'downloading' && speed !== null) this.#now.set(uid, speed);
      else this.#forget(uid);
      if (this.#now.size > 0) this.#timer ??= setInterval(() => this.#take(), everyMs);
    });
    live.on(downloadRemoved, ({ uid }) => this.#forget(uid));
    live.onReset(() => [...this.#now.keys()].forEach((uid) => this.#forget(uid)));
  }

  /** The last minute of one download, oldest first. */
  of(uid: string): readonly number[] {
    return this.#ofOne.get(uid) ?? [];
  }

  #forget(uid: string): void {
    this.#now.delete(uid);
    this.#ofOne.delete(uid);
  }

  #take(): void {
    for (const [uid, speed] of this.#now) this.#ofOne.set(uid, [...this.of(uid), speed].slice(-mostOfOne));
    const value = [...this.#now.values()].reduce((sum, speed) => sum + speed, 0);
    this.all = [...this.all, { at: Date.now(), value }].slice(-mostOfAll);
    if (this.#now.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

export const speeds = new Speeds();

import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import { uptimeApi } from '../../../../services/contracts/uptime/api.ts';
import { call } from '../../api/call.ts';

/** Status, ping and time. */
export type RecentBeat = readonly [0 | 1 | 2 | 3, number | null, number];

/** So many of each. */
export const recentCount = 24;
const atOnce = 100;
const gatherMs = 30;

/** The last beats of the monitors that are in sight: only these are asked for, together. */
export class RecentBeats {
  readonly #beats = new SvelteMap<number, readonly RecentBeat[]>();
  /** Who looks at which. */
  readonly #wanted = new SvelteMap<number, number>();
  readonly #due = new SvelteSet<number>();
  #gathering = false;

  of(id: number): readonly RecentBeat[] {
    return this.#beats.get(id) ?? [];
  }

  /** A row came into sight; the function it answers says that it is gone. */
  want(id: number): () => void {
    this.#wanted.set(id, (this.#wanted.get(id) ?? 0) + 1);
    this.#ask([id]);
    return () => {
      const left = (this.#wanted.get(id) ?? 1) - 1;
      if (left > 0) this.#wanted.set(id, left);
      else this.#wanted.delete(id);
    };
  }

  refresh(): void {
    this.#ask(this.#wanted.keys());
  }

  #ask(ids: Iterable<number>): void {
    for (const id of ids) this.#due.add(id);
    if (this.#gathering || this.#due.size === 0) return;
    this.#gathering = true;
    setTimeout(() => void this.#read(), gatherMs);
  }

  async #read(): Promise<void> {
    this.#gathering = false;
    const ids = [...this.#due].filter((id) => this.#wanted.has(id)).slice(0, atOnce);
    this.#due.clear();
    if (ids.length === 0) return;
    try {
      const found = await call(uptimeApi.recent, { query: { ids: ids.join(','), count: recentCount } });
      for (const [id, beats] of Object.entries(found)) this.#beats.set(Number(id), beats);
    } catch {
      // The rows say how monitors stand without them; the next turn asks again.
      for (const id of ids) this.#beats.delete(id);
    }
  }
}

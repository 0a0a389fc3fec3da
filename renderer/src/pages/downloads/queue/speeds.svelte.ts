import { SvelteMap } from 'svelte/reactivity';
import { downloadChanged, downloadRemoved } from '../../../../../services/contracts/downloads/api.ts';
import { live } from '../../../state/live.svelte.ts';

const sampleIntervalMs = 1000;
/** Number of samples: five minutes for the total, one minute per download. */
const [maxTotalSamples, maxDownloadSamples] = [300, 60];

/** Recent speeds of downloads in bytes per second, sampled while this window is open. */
class Speeds {
  /** Total speed, oldest sample first. */
  totals = $state.raw<readonly { readonly at: number; readonly value: number }[]>([]);
  readonly #samples = new SvelteMap<string, readonly number[]>();
  readonly #currentSpeeds = new Map<string, number>();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor() {
    live.on(downloadChanged, ({ uid, state, speed }) => {
      if (state === 'downloading' && speed !== null) this.#currentSpeeds.set(uid, speed);
      else this.#clear(uid);
      if (this.#currentSpeeds.size > 0) this.#timer ??= setInterval(() => this.#sample(), sampleIntervalMs);
    });
    live.on(downloadRemoved, ({ uid }) => this.#clear(uid));
    live.onReset(() => [...this.#currentSpeeds.keys()].forEach((uid) => this.#clear(uid)));
  }

  /** Returns the samples of one download for the last minute, oldest first. */
  getSamples(uid: string): readonly number[] {
    return this.#samples.get(uid) ?? [];
  }

  #clear(uid: string): void {
    this.#currentSpeeds.delete(uid);
    this.#samples.delete(uid);
  }

  #sample(): void {
    for (const [uid, speed] of this.#currentSpeeds)
      this.#samples.set(uid, [...this.getSamples(uid), speed].slice(-maxDownloadSamples));
    const value = [...this.#currentSpeeds.values()].reduce((sum, speed) => sum + speed, 0);
    this.totals = [...this.totals, { at: Date.now(), value }].slice(-maxTotalSamples);
    if (this.#currentSpeeds.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

export const speeds = new Speeds();

import type { Clock } from '../../../contracts/service.ts';
import { askThread, threadFile } from '../../../kit/limited-thread.ts';

const workerFile = threadFile('yaml-worker', import.meta.url);
/** For all texts of a question together. */
const patienceMs = 3000;

/**
 * Reads YAML that anybody may have pushed: three hundred nested keys alone take the parser seconds. It runs in a thread with
 * a limit, one question after another, so that many take no more of the machine than one.
 */
export class YamlReader {
  readonly #clock: Clock;
  #latest: Promise<unknown> = Promise.resolve();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What each text says; undefined for one that is no YAML, and for all when they take too long. Never rejects. */
  async read(texts: readonly string[]): Promise<readonly unknown[]> {
    if (texts.length === 0) return [];
    const reading = this.#latest.then(() => this.#inThread(texts));
    this.#latest = reading;
    return reading;
  }

  async #inThread(texts: readonly string[]): Promise<readonly unknown[]> {
    try {
      return await askThread(workerFile, { clock: this.#clock, workerData: texts, memoryMb: 128, limitMs: patienceMs });
    } catch (error) {
      // Whatever a text did to it, it is no template.
      if (!(error instanceof Error)) throw error;
      return texts.map(() => undefined);
    }
  }
}

import type { Clock } from '../../../contracts/service.ts';
import { LimitedProcesses } from '../../../kit/limited-process.ts';
import { getThreadFile } from '../../../kit/limited-thread.ts';

/** For all texts of a question together. */
const patienceMs = 3000;

/**
 * Reads YAML that anybody may have pushed: three hundred nested keys alone take the parser seconds. It runs in a
 * child process with a limit on time and memory, one question after another.
 */
export class YamlReader {
  readonly #processes: LimitedProcesses;

  constructor(clock: Clock) {
    const moduleFile = getThreadFile('yaml-process', import.meta.url);
    this.#processes = new LimitedProcesses(moduleFile, { clock, memoryMb: 128, timeoutMs: patienceMs });
  }

  /** What each text says; undefined for one that is no YAML, and for all when they take too long. Never rejects. */
  async read(texts: readonly string[]): Promise<readonly unknown[]> {
    if (texts.length === 0) return [];
    try {
      return await this.#processes.run<readonly unknown[]>(texts);
    } catch (error) {
      // Whatever a text did to it, it is no template.
      if (!(error instanceof Error)) throw error;
      return texts.map(() => undefined);
    }
  }
}

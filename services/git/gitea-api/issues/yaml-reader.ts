import type { Clock } from '../../../contracts/service.ts';
import { LimitedProcesses } from '../../../kit/limited-process.ts';
import { getThreadFile } from '../../../kit/limited-thread.ts';

/** Time limit for all texts of one call. */
const timeoutMs = 3000;

/**
 * Reads untrusted YAML: three hundred nested keys alone take the parser seconds. It runs in a child process with limits on
 * time and memory, one call after another.
 */
export class YamlReader {
  readonly #processes: LimitedProcesses;

  constructor(clock: Clock) {
    const moduleFile = getThreadFile('yaml-process', import.meta.url);
    this.#processes = new LimitedProcesses(moduleFile, { clock, memoryMb: 128, timeoutMs });
  }

  /** Parses each text; undefined for invalid YAML, and for all texts after a timeout. Never rejects. */
  async read(texts: readonly string[]): Promise<readonly unknown[]> {
    if (texts.length === 0) return [];
    try {
      return await this.#processes.run<readonly unknown[]>(texts);
    } catch (error) {
      // A text that breaks the parser is not a template.
      if (!(error instanceof Error)) throw error;
      return texts.map(() => undefined);
    }
  }
}

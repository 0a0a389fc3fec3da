import { controlApi } from '../../../../services/contracts/control/api.ts';
import type { LogLine } from '../../../../services/contracts/control/log.ts';
import { call, formatError } from '../../api/call.ts';

const pageSize = 500;

/** Which lines are asked for. */
export interface LogFilter {
  readonly level: LogLine['level'] | undefined;
  readonly service: string;
  readonly text: string;
}

/** The lines of the log that fit, newest first: those since a while, and the earlier ones that somebody asked for. */
export class LogLines {
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  error = $state('');
  #newest = $state.raw<readonly LogLine[]>([]);
  #earlier = $state.raw<readonly LogLine[]>([]);
  /** Where earlier ones go on; null: there are none. */
  #cursor = $state<string | null>(null);
  readonly list = $derived([...this.#newest, ...this.#earlier]);
  readonly more = $derived(this.#cursor !== null);
  #turn = 0;

  /** Reads the newest; a later call overtakes an earlier one. */
  async load(filter: LogFilter): Promise<void> {
    await this.#read(filter, undefined, (lines) => {
      this.#newest = lines;
      this.#earlier = [];
    });
  }

  /** Goes on behind the oldest line, into the files of earlier starts. */
  async loadEarlier(filter: LogFilter): Promise<void> {
    if (this.#cursor === null) return;
    await this.#read(filter, this.#cursor, (lines) => (this.#earlier = [...this.#earlier, ...lines]));
  }

  async #read(filter: LogFilter, cursor: string | undefined, take: (lines: LogLine[]) => void): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    try {
      const reply = await call(controlApi.log, { query: { ...filter, cursor, limit: pageSize } });
      if (turn !== this.#turn) return;
      take(reply.lines.toReversed());
      this.#cursor = reply.cursor;
      this.phase = 'ready';
    } catch (error) {
      if (turn !== this.#turn) return;
      this.error = formatError(error);
      this.phase = 'failed';
    }
  }
}

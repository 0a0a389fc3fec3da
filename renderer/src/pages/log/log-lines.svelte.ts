import { controlApi } from '../../../../services/contracts/control/api.ts';
import type { LogLine } from '../../../../services/contracts/control/log.ts';
import { call, formatError } from '../../api/call.ts';

const pageSize = 500;

/** Filters of the log. */
export interface LogFilter {
  readonly level: LogLine['level'] | undefined;
  readonly service: string;
  readonly text: string;
}

/** Matching log lines, newest first: the newest page and the earlier pages that were requested. */
export class LogLines {
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  error = $state('');
  #newest = $state.raw<readonly LogLine[]>([]);
  #earlier = $state.raw<readonly LogLine[]>([]);
  /** Cursor of the next earlier page; null when there is none. */
  #cursor = $state<string | null>(null);
  readonly list = $derived([...this.#newest, ...this.#earlier]);
  readonly hasMore = $derived(this.#cursor !== null);
  #turn = 0;

  /** Loads the newest lines; a later call supersedes an earlier one. */
  async load(filter: LogFilter): Promise<void> {
    await this.#loadPage(filter, undefined, (lines) => {
      this.#newest = lines;
      this.#earlier = [];
    });
  }

  /** Loads the lines before the oldest one, including files of earlier starts. */
  async loadEarlier(filter: LogFilter): Promise<void> {
    if (this.#cursor === null) return;
    await this.#loadPage(filter, this.#cursor, (lines) => (this.#earlier = [...this.#earlier, ...lines]));
  }

  async #loadPage(filter: LogFilter, cursor: string | undefined, apply: (lines: LogLine[]) => void): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    try {
      const reply = await call(controlApi.log, { query: { ...filter, cursor, limit: pageSize } });
      if (turn !== this.#turn) return;
      apply(reply.lines.toReversed());
      this.#cursor = reply.cursor;
      this.phase = 'ready';
    } catch (error) {
      if (turn !== this.#turn) return;
      this.error = formatError(error);
      this.phase = 'failed';
    }
  }
}

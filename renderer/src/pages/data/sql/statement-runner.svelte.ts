import { dataApi, type DataRole, type DataRun } from '../../../../../services/contracts/data/api.ts';
import { call, formatError } from '../../../api/call.ts';
import { addToHistory, cancelled, type HistoryEntry } from '../history/history.ts';

/** Runs statements one at a time, keeps the last result and can cancel the running ones. */
export class StatementRunner {
  /** Last result with its statements, because the editor text may have changed. */
  answer = $state.raw<{ readonly run: DataRun; readonly text: string }>();
  history = $state.raw<readonly HistoryEntry[]>([]);
  busy = $state(false);
  cancelling = $state(false);
  error = $state('');
  /** Seconds since the start. */
  elapsedSeconds = $state(0);
  #id = '';
  #request = new AbortController();

  constructor(history: readonly HistoryEntry[]) {
    this.history = history;
  }

  /** Runs statements; ignored while others are running. */
  async run(text: string, role: DataRole, user: string): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.elapsedSeconds = 0;
    this.#request = new AbortController();
    this.#id = crypto.getRandomValues(new Uint32Array(4)).join('-');
    const { signal } = this.#request;
    const timer = setInterval(() => (this.elapsedSeconds += 1), 1000);
    try {
      const run = await call(dataApi.run, { body: { query: text, role, user, id: this.#id }, signal });
      this.answer = { run, text };
      const refusal = run.wasCancelled ? cancelled : (run.error?.message ?? '');
      this.history = addToHistory({ text, role, at: Date.now(), ms: run.ms, refusal });
      this.error = '';
    } catch (error) {
      if (!signal.aborted) this.error = formatError(error);
    } finally {
      clearInterval(timer);
      this.busy = false;
      this.cancelling = false;
    }
  }

  /** Requests cancellation; the response of `run` reports it. */
  async cancel(): Promise<void> {
    if (this.cancelling) return;
    this.cancelling = true;
    try {
      await call(dataApi.cancel, { body: { id: this.#id } });
    } catch (error) {
      this.cancelling = false;
      this.error = formatError(error);
    }
  }

  /**
   * Cancels the statements when the page is left. Resolves when the server received the request.
   * If it never arrives, the server cancels them when it detects the closed connection, which can take 30 seconds.
   */
  async leave(): Promise<void> {
    if (!this.busy) return;
    this.#request.abort();
    await call(dataApi.cancel, { body: { id: this.#id }, keepalive: true }).catch(() => undefined);
  }
}

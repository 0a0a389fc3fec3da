import { dataApi, type DataRole, type DataRun } from '../../../../services/contracts/data/api.ts';
import { call, formatError } from '../../api/call.ts';
import { addToHistory, cancelled, type HistoryEntry } from './history.ts';

/** Statements that this page runs, one text at a time: what was answered last, and the way to cancel what runs. */
export class Statements {
  /** With the text that it answers: the editor may hold another one by now. */
  answer = $state.raw<{ readonly run: DataRun; readonly text: string }>();
  history = $state.raw<readonly HistoryEntry[]>([]);
  busy = $state(false);
  cancelling = $state(false);
  error = $state('');
  /** How long it runs already. */
  seconds = $state(0);
  #id = '';
  #request = new AbortController();

  constructor(history: readonly HistoryEntry[]) {
    this.history = history;
  }

  /** Does nothing while others run. */
  async run(text: string, role: DataRole, user: string): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.seconds = 0;
    this.#request = new AbortController();
    this.#id = crypto.getRandomValues(new Uint32Array(4)).join('-');
    const { signal } = this.#request;
    const timer = setInterval(() => (this.seconds += 1), 1000);
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

  /** The server cancels them; that they were is their answer. */
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
   * Nobody waits for them any more; resolves when the server has heard it. Where it does not, as from a browser that was killed,
   * it cancels them when it sees the connection gone, which may take it half a minute.
   */
  async leave(): Promise<void> {
    if (!this.busy) return;
    this.#request.abort();
    await call(dataApi.cancel, { body: { id: this.#id }, keepalive: true }).catch(() => undefined);
  }
}

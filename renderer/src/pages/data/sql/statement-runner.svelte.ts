import { dataApi, type DataRole, type DataRun } from '../../../../../services/contracts/data/api.ts';
import { dataSqlApi, type DataExplanation } from '../../../../../services/contracts/data/sql.ts';
import { call, formatError } from '../../../api/call.ts';
import { locateError } from './error-location.ts';
import { addToHistory, cancelled, type HistoryEntry } from '../history/history.ts';

/** Statement to explain, with its start in the editor. */
export interface ExplainRequest {
  readonly text: string;
  readonly start: number;
  readonly role: DataRole;
  readonly user: string;
  /** Runs the statement and rolls it back. */
  readonly analyze: boolean;
}

/** Runs statements one at a time, keeps the last result and can cancel the running ones. */
export class StatementRunner {
  /** Last result with its statements and their start in the editor, because the editor text may have changed. */
  answer = $state.raw<{ readonly run: DataRun; readonly text: string; readonly start: number }>();
  /** Last plan with its statement; it replaces the result, and the other way around. */
  explanation = $state.raw<{ readonly reply: DataExplanation; readonly request: ExplainRequest }>();
  /** Statements of the last run or explanation, and their error; null if there was none. */
  readonly outcome = $derived.by(() => {
    if (this.answer !== undefined) return { ...this.answer, error: this.answer.run.error };
    const { text = '', start = 0 } = this.explanation?.request ?? {};
    return { text, start, error: this.explanation?.reply.error ?? null };
  });
  readonly hasAnswer = $derived(this.answer !== undefined || this.explanation !== undefined);
  history = $state.raw<readonly HistoryEntry[]>([]);
  busy = $state(false);
  cancelling = $state(false);
  error = $state('');
  /** Seconds since the start. */
  elapsedSeconds = $state(0);
  /** Account whose history receives the statements. */
  readonly #account: string;
  #id = '';
  #request = new AbortController();

  constructor(account: string, history: readonly HistoryEntry[]) {
    this.#account = account;
    this.history = history;
  }

  /**
   * Runs statements; ignored while others are running.
   *
   * @param start position of the statements in the editor
   */
  async run(text: string, role: DataRole, user: string, start = 0): Promise<void> {
    await this.#track(async (id, signal) => {
      const run = await call(dataApi.run, { body: { query: text, role, user, id }, signal });
      this.answer = { run, text, start };
      this.explanation = undefined;
      const refusal = run.wasCancelled ? cancelled : (run.error?.message ?? '');
      this.history = addToHistory(this.#account, { text, role, at: Date.now(), ms: run.ms, refusal });
    });
  }

  /** Reads the plan of a statement; ignored while others are running. */
  async explain(request: ExplainRequest): Promise<void> {
    const { text, role, user, analyze } = request;
    await this.#track(async (id, signal) => {
      const reply = await call(dataSqlApi.explain, { body: { query: text, role, user, analyze, id }, signal });
      this.explanation = { reply, request };
      this.answer = undefined;
    });
  }

  /** Returns the 1-based line of the error; undefined if there is none, or the text in the editor changed since. */
  findWrongLine(query: string): number | undefined {
    const { text, start, error } = this.outcome;
    const position = error?.position ?? null;
    if (position === null || query.slice(start, start + text.length) !== text) return undefined;
    return query.slice(0, start + locateError(text, position).start).split('\n').length;
  }

  async #track(work: (id: string, signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.elapsedSeconds = 0;
    this.#request = new AbortController();
    this.#id = crypto.getRandomValues(new Uint32Array(4)).join('-');
    const { signal } = this.#request;
    const timer = setInterval(() => (this.elapsedSeconds += 1), 1000);
    try {
      await work(this.#id, signal);
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

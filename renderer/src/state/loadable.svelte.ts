import { formatError } from '../api/call.ts';

/** Loading state of data of the host: loading, ready, or failed with an error. */
export class Loadable {
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  /** Error of the last failed load. */
  failure = $state.raw<unknown>();
  readonly error = $derived(this.failure === undefined ? '' : formatError(this.failure));
  #turn = 0;
  #latest: Promise<boolean> | undefined;

  /**
   * Reads the data and applies it. Data that was loaded stays when a later read fails. A result that `isOutdated`
   * reports is dropped. Resolves to false after a failure.
   */
  protected async readOnce<Answer>(
    read: () => Promise<Answer>,
    show: (answer: Answer) => void,
    isOutdated: () => boolean = () => false,
  ): Promise<boolean> {
    try {
      const answer = await read();
      if (isOutdated()) return true;
      show(answer);
      this.phase = 'ready';
      return true;
    } catch (error) {
      if (isOutdated()) return true;
      this.failure = error;
      if (this.phase === 'loading') this.phase = 'failed';
      return false;
    }
  }

  /**
   * The same for data that is read repeatedly: the last read wins, and earlier results that arrive later are dropped.
   * A caller of an earlier read waits for the last one, so that the visible data is never older than the request.
   */
  protected readLatest<Answer>(read: () => Promise<Answer>, show: (answer: Answer) => void): Promise<boolean> {
    this.#turn += 1;
    const turn = this.#turn;
    const reading = this.readOnce(read, show, () => turn !== this.#turn).then(
      // An outdated read is never the latest one, so it does not wait for itself.
      (succeeded) => (turn === this.#turn ? succeeded : (this.#latest ?? succeeded)),
    );
    this.#latest = reading;
    return reading;
  }
}

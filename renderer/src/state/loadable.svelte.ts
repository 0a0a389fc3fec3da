import { sentence } from '../api/call.ts';

/** What a page shows of its host: nothing yet, what was read, or why it could not be. */
export class Loaded {
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  trouble = $state('');
  #turn = 0;
  #latest: Promise<boolean> | undefined;

  /**
   * Reads, then shows. What was read once stays when a later reading fails; one that `overtaken` calls out of date ends
   * without a trace. False: it failed.
   */
  protected async reading<Answer>(
    read: () => Promise<Answer>,
    show: (answer: Answer) => void,
    overtaken: () => boolean = () => false,
  ): Promise<boolean> {
    try {
      const answer = await read();
      if (overtaken()) return true;
      show(answer);
      this.phase = 'ready';
      return true;
    } catch (error) {
      if (overtaken()) return true;
      this.trouble = sentence(error);
      if (this.phase === 'loading') this.phase = 'failed';
      return false;
    }
  }

  /**
   * The same for what is read again and again: a later reading overtakes an earlier one, whose answer may come after its own.
   * Who waits for an earlier one waits for the last, so that what is shown is never older than what was asked for.
   */
  protected readingLatest<Answer>(read: () => Promise<Answer>, show: (answer: Answer) => void): Promise<boolean> {
    this.#turn += 1;
    const turn = this.#turn;
    const reading = this.reading(read, show, () => turn !== this.#turn).then(
      // Never itself: a reading that was overtaken is not the latest.
      (isRead) => (turn === this.#turn ? isRead : (this.#latest ?? isRead)),
    );
    this.#latest = reading;
    return reading;
  }
}

import { sentence } from '../api/call.ts';

/** What a page shows of its host: nothing yet, what was read, or why it could not be. */
export class Loaded {
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  trouble = $state('');

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
}

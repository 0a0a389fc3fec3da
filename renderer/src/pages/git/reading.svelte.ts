import { sentence } from '../../api/call.ts';

/** Something that is read from the host, and read anew when what it depends on changes. */
export class Reading<Value> {
  value = $state.raw<Value>();
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  trouble = $state('');
  #turn = 0;
  #work: (() => Promise<Value>) | undefined;

  /** Reads; what was read before stays in sight meanwhile, and an answer that comes too late is dropped. */
  async read(work: () => Promise<Value>): Promise<void> {
    this.#work = work;
    const turn = (this.#turn += 1);
    try {
      const value = await work();
      if (turn !== this.#turn) return;
      this.value = value;
      this.phase = 'ready';
    } catch (error) {
      if (turn !== this.#turn) return;
      this.trouble = sentence(error);
      this.phase = 'failed';
    }
  }

  /** The same once more. */
  async again(): Promise<void> {
    if (this.#work !== undefined) await this.read(this.#work);
  }
}

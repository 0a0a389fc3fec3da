import * as m from '#messages/sync';
import { SvelteMap } from 'svelte/reactivity';
import { running, syncApi, syncChanged, type SyncJob } from '../../../../../services/contracts/sync/api.ts';
import { call } from '../../../api/call.ts';
import { live } from '../../../state/live.svelte.ts';
import { toasts } from '../../../state/toasts.svelte.ts';

/** Copies, moves and deletions that this page started, until they end. */
export class RunningFileJobs {
  jobs = $state.raw<readonly SyncJob[]>([]);
  #ids: readonly number[] = [];
  /** Called with the ID of a job that succeeded. */
  readonly #onSuccess = new SvelteMap<number, () => void>();
  readonly #onEnd: () => void;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** Follows the jobs until the returned function is called. */
  subscribe(): () => void {
    const read = (): void => void this.#read();
    const unsubscribers = [live.on(syncChanged, read), live.onReset(read)];
    return () => unsubscribers.forEach((unsubscribe) => unsubscribe());
  }

  /** Shows the progress of a job. `onSuccess` is called when it has succeeded. */
  async watch(id: number, onSuccess?: () => void): Promise<void> {
    if (onSuccess !== undefined) this.#onSuccess.set(id, onSuccess);
    this.#ids = [...this.#ids, id];
    await this.#read();
  }

  async #read(): Promise<void> {
    const replies = await Promise.all(
      this.#ids.map((id) => call(syncApi.job, { params: { id: String(id) } }).catch(() => undefined)),
    );
    const jobs = replies.flatMap((reply) => reply?.job ?? []);
    for (const job of jobs.filter(({ state }) => !running.includes(state))) {
      // Two reads may see the same end.
      if (!this.#ids.includes(job.id)) continue;
      this.#ids = this.#ids.filter((id) => id !== job.id);
      this.#end(job);
    }
    this.jobs = jobs.filter(({ state }) => running.includes(state));
  }

  #end(job: SyncJob): void {
    if (job.state !== 'done') {
      const link = { href: `/sync/history/${String(job.id)}`, label: m.details() };
      toasts.show(job.error === '' ? m.didNotEnd() : job.error, { tone: 'bad', link });
    }
    if (job.state === 'done') this.#onSuccess.get(job.id)?.();
    this.#onSuccess.delete(job.id);
    this.#onEnd();
  }
}

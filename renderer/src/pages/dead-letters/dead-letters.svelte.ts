import { controlApi, serviceChanged } from '../../../../services/contracts/control/api.ts';
import type { JobSummary } from '../../../../services/contracts/jobs.ts';
import { notifyActivity } from '../../../../services/contracts/notify/notification.ts';
import { Problem } from '../../../../services/contracts/problem.ts';
import { call } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';
import { toasts } from '../../state/toasts.svelte.ts';
import { Loaded } from '../../state/loaded.svelte.ts';
import { Removals } from '../../state/removals.svelte.ts';

export type GivenUpJob = JobSummary & { readonly service: string };

/** There is no event for work that is given up, so a page that shows it looks again now and then, in ms. */
const everyMs = 30_000;
/** Events of services come in bursts; after one the list is read at most this often, in ms. */
const pauseMs = 3000;

/** Work of all services that was given up. */
class GivenUp extends Loaded {
  #all = $state.raw<readonly GivenUpJob[]>([]);
  /** Dismissed, while that can still be undone. */
  readonly #leaving = new Removals();
  readonly list = $derived(this.#all.filter((job) => !this.#leaving.has(nameOf(job))));
  #watchers = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  #soon: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    live.on(serviceChanged, () => this.#later());
    live.on(notifyActivity, () => this.#later());
    live.onReset(() => this.#later());
  }

  /** Keeps the list up to date until the returned function is called. */
  watch(): () => void {
    this.#watchers += 1;
    this.#timer ??= setInterval(() => void this.load(), everyMs);
    void this.load();
    return () => {
      this.#watchers -= 1;
      if (this.#watchers > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  async load(): Promise<void> {
    await this.readingLatest(
      () => call(controlApi.deadJobs),
      ({ jobs }) => (this.#all = jobs),
    );
  }

  /** Tries some of it again now. */
  async retry(jobs: readonly GivenUpJob[]): Promise<void> {
    const names = new Set(jobs.map(nameOf));
    this.#all = this.#all.filter((job) => !names.has(nameOf(job)));
    try {
      for (const { service, id } of jobs) {
        await goneIsFine(call(controlApi.retryJob, { params: { service, id } }));
      }
      toasts.say(jobs.length === 1 ? 'It is tried again now.' : `${String(jobs.length)} are tried again now.`);
    } finally {
      this.#later();
    }
  }

  /** Takes it out of sight at once; it is dropped for good when the way back is gone. */
  dismiss(jobs: readonly GivenUpJob[]): void {
    const [one, many] = ['It will not be tried again.', `${String(jobs.length)} will not be tried again.`];
    this.#leaving.take(jobs.map(nameOf), {
      words: `Dismissed. ${jobs.length === 1 ? one : many}`,
      remove: async () => {
        for (const { service, id } of jobs) await goneIsFine(call(controlApi.dropJob, { params: { service, id } }));
      },
      renew: () => this.load(),
    });
  }

  #later(): void {
    if (this.#watchers === 0) return;
    if (this.#soon !== undefined) return;
    this.#soon = setTimeout(() => {
      this.#soon = undefined;
      void this.load();
    }, pauseMs);
  }
}

function nameOf({ service, id }: GivenUpJob): string {
  return `${service}/${id}`;
}

/** Another window was quicker: what was asked for is so already. */
async function goneIsFine(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'jobs.unknown')) throw error;
  }
}

export const givenUp = new GivenUp();

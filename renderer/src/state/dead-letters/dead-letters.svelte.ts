import * as m from '#messages/state';
import { controlApi, serviceChanged } from '../../../../services/contracts/control/api.ts';
import type { JobSummary } from '../../../../services/contracts/jobs.ts';
import { notifyActivity } from '../../../../services/contracts/notify/notification.ts';
import { Problem } from '../../../../services/contracts/problem.ts';
import { call } from '../../api/call.ts';
import { live } from '../live.svelte.ts';
import { toasts } from '../toasts.svelte.ts';
import { Loadable } from '../loadable.svelte.ts';
import { Removals } from '../removals.svelte.ts';

export type DeadJob = JobSummary & { readonly service: string };

/** Interval in ms at which the list is reloaded, because there is no event for new dead letters. */
const reloadIntervalMs = 30_000;
/** Minimum time in ms between reloads after events, which come in bursts. */
const reloadDelayMs = 3000;

/** Dead letters of all services. */
class DeadLetterList extends Loadable {
  #all = $state.raw<readonly DeadJob[]>([]);
  /** Jobs that were dismissed while Undo is possible. */
  readonly #dismissals = new Removals();
  readonly list = $derived(this.#all.filter((job) => !this.#dismissals.has(getJobKey(job))));
  #observers = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  #delayTimer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    live.on(serviceChanged, () => this.#scheduleReload());
    live.on(notifyActivity, () => this.#scheduleReload());
    live.onReset(() => this.#scheduleReload());
  }

  /** Keeps the list up to date until the returned function is called. */
  observe(): () => void {
    this.#observers += 1;
    this.#timer ??= setInterval(() => void this.load(), reloadIntervalMs);
    void this.load();
    return () => {
      this.#observers -= 1;
      if (this.#observers > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  async load(): Promise<void> {
    await this.readLatest(
      () => call(controlApi.deadJobs),
      ({ jobs }) => (this.#all = jobs),
    );
  }

  /** Retries jobs now. */
  async retry(jobs: readonly DeadJob[]): Promise<void> {
    const names = new Set(jobs.map(getJobKey));
    this.#all = this.#all.filter((job) => !names.has(getJobKey(job)));
    try {
      for (const { service, id } of jobs) {
        await ignoreUnknownJob(call(controlApi.retryJob, { params: { service, id } }));
      }
      toasts.show(m.triedAgain({ count: jobs.length }));
    } finally {
      this.#scheduleReload();
    }
  }

  /** Hides jobs immediately and drops them when Undo has expired. */
  dismiss(jobs: readonly DeadJob[]): void {
    this.#dismissals.hideAndRemove(jobs.map(getJobKey), {
      message: m.dismissed({ count: jobs.length }),
      remove: async () => {
        for (const { service, id } of jobs)
          await ignoreUnknownJob(call(controlApi.dropJob, { params: { service, id } }));
      },
      reload: () => this.load(),
    });
  }

  #scheduleReload(): void {
    if (this.#observers === 0) return;
    if (this.#delayTimer !== undefined) return;
    this.#delayTimer = setTimeout(() => {
      this.#delayTimer = undefined;
      void this.load();
    }, reloadDelayMs);
  }
}

function getJobKey({ service, id }: DeadJob): string {
  return `${service}/${id}`;
}

/** Ignores unknown jobs, which another window has already retried or dismissed. */
async function ignoreUnknownJob(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'jobs.unknown')) throw error;
  }
}

export const deadLetters = new DeadLetterList();

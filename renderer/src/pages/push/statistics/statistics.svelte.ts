import type { z } from 'zod';
import { pushStored } from '../../../../../services/contracts/push/topics.ts';
import { pushApi, type TopicStatistics } from '../../../../../services/contracts/push/api.ts';
import { call } from '../../../api/call.ts';
import { live } from '../../../state/live.svelte.ts';
import { Loadable } from '../../../state/loadable.svelte.ts';

/** Minimum time in ms between reloads, because statistics change with each message. */
const reloadDelayMs = 5000;

/** Messages of each hour by priority. */
export type PushHours = z.infer<typeof pushApi.hours.reply>['hours'];

/** Statistics of topics for the last days, updated while observed. */
class PushStatistics extends Loadable {
  days = $state.raw<readonly string[]>([]);
  topics = $state.raw<readonly TopicStatistics[]>([]);
  /** Messages of the same number of days before. */
  previousDays = $state.raw<readonly number[]>([]);
  /** Values of all topics. */
  hours = $state.raw<PushHours>([]);
  previousHours = $state.raw<readonly number[]>([]);
  #topic: string | undefined;
  #isObserved = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    live.on(pushStored, () => this.#refresh());
    live.onReset(() => this.#refresh());
  }

  /** Loads all topics or one, and updates them until the returned function is called. */
  observe(topic?: string): () => void {
    this.#topic = topic;
    this.#isObserved = true;
    this.topics = [];
    this.phase = 'loading';
    void this.load();
    return () => {
      this.#isObserved = false;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  async load(): Promise<void> {
    const topic = this.#topic;
    await this.readOnce(
      () =>
        Promise.all([
          call(pushApi.topicStatistics, { query: { topic } }),
          // A single topic only shows days.
          topic === undefined ? call(pushApi.hours) : Promise.resolve({ hours: [], previous: [] }),
        ]),
      ([{ days, topics, previous }, { hours, previous: previousHours }]) => {
        this.hours = hours;
        this.previousHours = previousHours;
        this.previousDays = previous;
        this.days = days;
        this.topics = topics;
      },
      () => topic !== this.#topic,
    );
  }

  #refresh(): void {
    if (!this.#isObserved) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.load();
    }, reloadDelayMs);
  }
}

export const pushStatistics = new PushStatistics();

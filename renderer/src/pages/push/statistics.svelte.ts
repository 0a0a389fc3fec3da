import { pushStored } from '../../../../services/contracts/push/topics.ts';
import { pushApi, type TopicStatistics } from '../../../../services/contracts/push/api.ts';
import { call } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';
import { Loadable } from '../../state/loadable.svelte.ts';

/** Numbers change with each message; they are read anew at most this often, in ms. */
const pauseMs = 5000;

/** Messages an hour by priority. */
export type PushHours = Awaited<ReturnType<typeof readHours>>;

async function readHours() {
  return (await call(pushApi.hours)).hours;
}

/** What came of topics in the last days, while someone looks. */
class PushNumbers extends Loadable {
  days = $state.raw<readonly string[]>([]);
  topics = $state.raw<readonly TopicStatistics[]>([]);
  /** Of all topics. */
  hours = $state.raw<PushHours>([]);
  #topic: string | undefined;
  #watched = false;
  #soon: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    live.on(pushStored, () => this.#refresh());
    live.onReset(() => this.#refresh());
  }

  /** Follows all topics or one, until the returned function is called. */
  watch(topic?: string): () => void {
    this.#topic = topic;
    this.#watched = true;
    this.topics = [];
    this.phase = 'loading';
    void this.load();
    return () => {
      this.#watched = false;
      clearTimeout(this.#soon);
      this.#soon = undefined;
    };
  }

  async load(): Promise<void> {
    const topic = this.#topic;
    await this.readOnce(
      () =>
        Promise.all([
          call(pushApi.topicStatistics, { query: { topic } }),
          // Of one topic only the days are shown.
          topic === undefined ? readHours() : Promise.resolve([]),
        ]),
      ([{ days, topics }, hours]) => {
        this.hours = hours;
        this.days = days;
        this.topics = topics;
      },
      () => topic !== this.#topic,
    );
  }

  #refresh(): void {
    if (!this.#watched) return;
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.load();
    }, pauseMs);
  }
}

export const pushNumbers = new PushNumbers();

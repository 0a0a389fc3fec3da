import { pushStored } from '../../../../services/contracts/push/topics.ts';
import { pushApi, type TopicStatistics } from '../../../../services/contracts/push/api.ts';
import { call } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';
import { Loaded } from '../../state/loaded.svelte.ts';

/** Numbers change with each message; they are read anew at most this often, in ms. */
const pauseMs = 2000;

/** What came of topics in the last days, while someone looks. */
class PushNumbers extends Loaded {
  days = $state.raw<readonly string[]>([]);
  topics = $state.raw<readonly TopicStatistics[]>([]);
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
    await this.reading(
      () => call(pushApi.topicStatistics, { query: { topic } }),
      ({ days, topics }) => {
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

import { pushStored } from '../../../../services/contracts/push/topics.ts';
import { pushApi, type TopicStatistics } from '../../../../services/contracts/push/api.ts';
import { call, sentence } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';

/** Numbers change with each message; they are read anew at most this often, in ms. */
const pauseMs = 2000;

/** What came of topics in the last days, while someone looks. */
class PushNumbers {
  days = $state.raw<readonly string[]>([]);
  topics = $state.raw<readonly TopicStatistics[]>([]);
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  trouble = $state('');
  #topic: string | undefined;
  #watched = false;
  #soon: ReturnType<typeof setTimeout> | undefined;

  constructor() {
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
    try {
      const { days, topics } = await call(pushApi.topicStatistics, { query: { topic } });
      if (topic !== this.#topic) return;
      this.days = days;
      this.topics = topics;
      this.phase = 'ready';
    } catch (error) {
      this.trouble = sentence(error);
      if (this.phase === 'loading') this.phase = 'failed';
    }
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

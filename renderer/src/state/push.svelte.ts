import { pushStored } from '../../../services/contracts/push.ts';
import { pushApi, type PushMessage, type PushTopic } from '../../../services/contracts/push-api.ts';
import { call, sentence } from '../api/call.ts';
import { live } from './live.svelte.ts';

export interface Composed {
  readonly topic: string;
  readonly title: string;
  readonly message: string;
  readonly priority: number;
  readonly tags: readonly string[];
}

type Phase = 'loading' | 'ready' | 'failed';

/** Topics that were used lately, and the messages of the one that is looked at. */
class Push {
  topics = $state.raw<readonly PushTopic[]>([]);
  phase = $state<Phase>('loading');
  trouble = $state('');

  topic = $state('');
  messages = $state.raw<readonly PushMessage[]>([]);
  messagesPhase = $state<Phase>('loading');
  messagesTrouble = $state('');
  mayPublish = $state(false);
  anyone = $state.raw({ reads: false, publishes: false });
  /** Older messages can be read. */
  more = $state(false);
  #next: number | null = null;
  #watched = 0;
  #reading = false;
  #again = false;

  constructor() {
    live.on(pushStored, () => this.#refresh());
    live.onReset(() => this.#refresh());
  }

  /** Follows what happens until the returned function is called. */
  watch(): () => void {
    this.#watched += 1;
    void this.load();
    return () => (this.#watched -= 1);
  }

  async load(): Promise<void> {
    try {
      this.topics = (await call(pushApi.topics)).topics;
      this.phase = 'ready';
    } catch (error) {
      this.trouble = sentence(error);
      if (this.phase === 'loading') this.phase = 'failed';
    }
  }

  /** Opens a topic; empty: none. */
  async open(topic: string): Promise<void> {
    if (topic !== this.topic) {
      this.topic = topic;
      this.messages = [];
      this.messagesPhase = 'loading';
      this.more = false;
    }
    if (topic !== '') await this.loadMessages();
  }

  async loadMessages(): Promise<void> {
    const { topic } = this;
    try {
      const reply = await call(pushApi.messages, { params: { topic } });
      if (topic !== this.topic) return;
      // What was paged to stays, unless so much came that there is a gap.
      const oldest = reply.messages.at(-1)?.seq ?? 0;
      const joined = this.messages.some(({ seq }) => seq >= oldest);
      const older = joined ? this.messages.filter(({ seq }) => seq < oldest) : [];
      this.messages = [...reply.messages, ...older];
      if (older.length === 0) this.#next = reply.next;
      this.more = this.#next !== null;
      this.mayPublish = reply.mayPublish;
      this.anyone = reply.anyone;
      this.messagesPhase = 'ready';
    } catch (error) {
      if (topic !== this.topic) return;
      this.messagesTrouble = sentence(error);
      if (this.messagesPhase === 'loading') this.messagesPhase = 'failed';
    }
  }

  async loadOlder(): Promise<void> {
    const { topic } = this;
    if (this.#next === null) return;
    const reply = await call(pushApi.messages, { params: { topic }, query: { before: this.#next } });
    if (topic !== this.topic) return;
    this.messages = [...this.messages, ...reply.messages];
    this.#next = reply.next;
    this.more = this.#next !== null;
  }

  /** @throws Problem with `fields`. */
  async publish({ tags, ...rest }: Composed): Promise<void> {
    await call(pushApi.publish, { body: { ...rest, tags: [...tags], markdown: false } });
    this.#refresh();
  }

  /** One reading at a time, and one more when something came meanwhile. */
  #refresh(): void {
    if (this.#watched === 0) return;
    this.#again = true;
    if (!this.#reading) void this.#read();
  }

  async #read(): Promise<void> {
    this.#reading = true;
    while (this.#again) {
      this.#again = false;
      await Promise.all([this.load(), this.topic === '' ? undefined : this.loadMessages()]);
    }
    this.#reading = false;
  }
}

export const push = new Push();

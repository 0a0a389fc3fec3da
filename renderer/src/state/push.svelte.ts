import { controlApi } from '../../../services/contracts/control.ts';
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
  readonly click: string;
  readonly markdown: boolean;
  readonly delay: string;
}

export interface MessageFilter {
  /** All of these words. */
  readonly words: string;
  /** At least. */
  readonly priority: number;
  readonly tag: string;
}

interface Numbers {
  readonly total: number;
  readonly today: number;
  readonly rate: number;
  readonly listening: number;
}

const noFilter: MessageFilter = { words: '', priority: 1, tag: '' };

type Phase = 'loading' | 'ready' | 'failed';

/** Topics that were used lately, and the messages of the one that is looked at. */
class Push {
  topics = $state.raw<readonly PushTopic[]>([]);
  phase = $state<Phase>('loading');
  trouble = $state('');

  numbers = $state.raw<Numbers | null>(null);

  topic = $state('');
  filter = $state.raw(noFilter);
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
      const [{ topics }, numbers] = await Promise.all([call(pushApi.topics), call(pushApi.statistics)]);
      this.topics = topics;
      this.numbers = numbers;
      this.phase = 'ready';
    } catch (error) {
      this.trouble = sentence(error);
      if (this.phase === 'loading') this.phase = 'failed';
    }
  }

  /** Opens a topic; empty: none. */
  async open(topic: string, filter = noFilter): Promise<void> {
    const { words, priority, tag } = this.filter;
    const same = words === filter.words && priority === filter.priority && tag === filter.tag;
    if (topic !== this.topic || !same) {
      this.topic = topic;
      this.filter = filter;
      this.messages = [];
      this.messagesPhase = 'loading';
      this.more = false;
    }
    if (topic !== '') await this.loadMessages();
  }

  async loadMessages(): Promise<void> {
    const { topic, filter } = this;
    try {
      const reply = await call(pushApi.messages, { params: { topic }, query: filter });
      if (topic !== this.topic || filter !== this.filter) return;
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
      if (topic !== this.topic || filter !== this.filter) return;
      this.messagesTrouble = sentence(error);
      if (this.messagesPhase === 'loading') this.messagesPhase = 'failed';
    }
  }

  async loadOlder(): Promise<void> {
    const { topic, filter } = this;
    if (this.#next === null) return;
    const query = { ...filter, before: this.#next, limit: 200 };
    const reply = await call(pushApi.messages, { params: { topic }, query });
    if (topic !== this.topic || filter !== this.filter) return;
    this.messages = [...this.messages, ...reply.messages];
    this.#next = reply.next;
    this.more = this.#next !== null;
  }

  /** Answers when it is delivered, in ms since the epoch. @throws Problem with `fields`. */
  async publish({ tags, click, ...rest }: Composed): Promise<number> {
    const { time } = await call(pushApi.publish, {
      body: { ...rest, tags: [...tags], ...(click === '' ? {} : { click }) },
    });
    this.#refresh();
    return time;
  }

  /** A service account that may do this one thing, and its token: what is lost can be revoked alone. */
  async makeToken(
    topic: string,
    label: string,
    permission: 'read' | 'write',
  ): Promise<{ readonly account: string; readonly text: string }> {
    const plain = label.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
    const name = `push-${plain}`.slice(0, 64);
    const grants = [{ service: 'push', resource: topic, permission }];
    const description = `${permission === 'read' ? 'Reads' : 'Publishes to'} ${topic}`;
    await call(controlApi.createAccount, { body: { name, kind: 'service', role: 'user', description, grants } });
    try {
      const { text } = await call(controlApi.createToken, { params: { name }, body: { label, expiresAt: null } });
      return { account: name, text };
    } catch (error) {
      await call(controlApi.removeAccount, { params: { name } });
      throw error;
    }
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

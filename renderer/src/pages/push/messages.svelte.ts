import { pushStored } from '../../../../services/contracts/push/topics.ts';
import { pushApi, type PushMessage } from '../../../../services/contracts/push/api.ts';
import { call } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';
import { Loadable } from '../../state/loadable.svelte.ts';
import { runExclusive } from '../../state/run-exclusive.ts';
import { joined, type Joined } from './merge-messages.ts';
import { toasts } from '../../state/toasts.svelte.ts';

export interface MessageFilter {
  /** All of these words. */
  readonly words: string;
  /** At least. */
  readonly priority: number;
  readonly tag: string;
}

const noFilter: MessageFilter = { words: '', priority: 1, tag: '' };
const pageSize = 100;
/** Pages that are read at most until new messages meet those that are known. */
const mostPages = 10;
/** Pages that are looked through for one message. */
const soughtPages = 50;

/** The messages of the topic that is looked at, newest first, as they come. */
class PushMessages extends Loadable {
  topic = $state('');
  filter = $state.raw(noFilter);
  items = $state.raw<readonly PushMessage[]>([]);
  /** New ones that wait, because the list is being pointed at or was scrolled. */
  waiting = $state(0);
  mayPublish = $state(false);
  anyone = $state.raw({ reads: false, publishes: false });
  /** Older messages can be read. */
  more = $state(false);
  loadingMore = $state(false);
  #known: readonly PushMessage[] = [];
  #next: number | null = null;
  #turn = 0;
  #holding = false;
  readonly #soon = runExclusive(() => this.load());
  /** What was put away or deleted here and can still be taken back. */
  readonly #leaving = new Map<string, 'cleared' | 'deleted'>();

  constructor() {
    super();
    live.on(pushStored, () => this.refresh());
    live.onReset(() => this.refresh());
  }

  /** Opens a topic; empty: none. */
  open(topic: string, filter = noFilter): void {
    if (topic === this.topic && JSON.stringify(filter) === JSON.stringify(this.filter)) return;
    this.#turn += 1;
    this.topic = topic;
    this.filter = filter;
    this.#known = [];
    this.#next = null;
    this.items = [];
    this.waiting = 0;
    this.more = false;
    this.phase = 'loading';
    if (topic !== '') void this.load();
  }

  /** Reads the newest ones, on to those that are known. */
  async load(): Promise<void> {
    const turn = this.#turn;
    await this.readOnce(
      () => this.#readNewest(),
      (fresh) => {
        const { messages, whole } = joined(this.#known, fresh);
        this.#known = messages;
        if (whole) this.#next = fresh.next;
        this.more = this.#next !== null;
        this.#show();
      },
      () => turn !== this.#turn,
    );
  }

  async loadOlder(): Promise<void> {
    const turn = this.#turn;
    const before = this.#next;
    if (before === null || this.loadingMore) return;
    this.loadingMore = true;
    try {
      const reply = await this.#page(before, 200);
      if (turn !== this.#turn) return;
      const there = new Set(this.#known.map(({ sequence }) => sequence));
      this.#known = [...this.#known, ...reply.messages.filter(({ sequence }) => !there.has(sequence))];
      this.#next = reply.next;
      this.more = reply.next !== null;
      this.#show();
    } catch (error) {
      if (turn === this.#turn) toasts.showError(error);
    } finally {
      this.loadingMore = false;
    }
  }

  /** Reads on until the message with this id is among them; answers its place, -1 when it is not there. */
  async seek(id: string): Promise<number> {
    const turn = this.#turn;
    const place = (): number => this.items.findIndex((message) => message.id === id);
    for (let page = 0; page < soughtPages && place() < 0 && this.more && turn === this.#turn; page += 1) {
      await this.loadOlder();
    }
    return place();
  }

  /** While held, nothing moves: what is new waits. */
  hold(holding: boolean): void {
    if (holding === this.#holding) return;
    this.#holding = holding;
    if (!holding) this.#show();
  }

  /** Lets in what waits. */
  release(): void {
    this.items = this.#current();
    this.waiting = 0;
  }

  /** Puts a message away at all clients, with the way to take that back for a while. */
  clear({ sequence, priority }: PushMessage): void {
    this.#takeBack(sequence, 'cleared', priority === 5 ? 'Acknowledged everywhere.' : 'Cleared everywhere.');
  }

  /** Deletes a message at all clients, with the way to take that back for a while. */
  remove({ sequence }: PushMessage): void {
    this.#takeBack(sequence, 'deleted', 'Message deleted everywhere.');
  }

  refresh(): void {
    if (this.topic !== '') void this.#soon();
  }

  async #readNewest(): Promise<Joined> {
    const newest = this.#known[0]?.seq;
    let reply = await this.#page(undefined, pageSize);
    this.mayPublish = reply.mayPublish;
    this.anyone = reply.anyone;
    const fresh = { ...reply, messages: [...reply.messages] };
    for (let page = 1; newest !== undefined && page < mostPages; page += 1) {
      if (reply.next === null || reply.next <= newest) break;
      reply = await this.#page(reply.next, 200);
      fresh.messages.push(...reply.messages);
      fresh.next = reply.next;
    }
    return fresh;
  }

  #page(before: number | undefined, limit: number) {
    return call(pushApi.messages, { params: { topic: this.topic }, query: { ...this.filter, before, limit } });
  }

  #takeBack(sequence: string, how: 'cleared' | 'deleted', words: string): void {
    const { topic } = this;
    this.#leaving.set(sequence, how);
    // What goes by a press of one's own goes at once.
    if (how === 'deleted') this.items = this.items.filter((message) => message.sequence !== sequence);
    this.#show();
    const back = (): void => {
      this.#leaving.delete(sequence);
      this.release();
    };
    toasts.show(words, {
      undo: back,
      settle: async () => {
        const params = { topic, sequence };
        try {
          await (how === 'cleared'
            ? call(pushApi.clear, { params, keepalive: true })
            : call(pushApi.remove, { params, keepalive: true }));
          if (topic === this.topic) this.#settle(sequence, how);
          this.#leaving.delete(sequence);
        } catch (error) {
          back();
          throw error;
        }
      },
    });
  }

  #settle(sequence: string, how: 'cleared' | 'deleted'): void {
    this.#known = this.#known.flatMap((message) => {
      if (message.sequence !== sequence) return [message];
      return how === 'deleted' ? [] : [{ ...message, cleared: true }];
    });
  }

  /** The list as it stands, without what is on its way out. */
  #current(): readonly PushMessage[] {
    if (this.#leaving.size === 0) return this.#known;
    return this.#known.flatMap((message) => {
      const how = this.#leaving.get(message.sequence);
      if (how === 'deleted') return [];
      return how === 'cleared' ? [{ ...message, cleared: true }] : [message];
    });
  }

  #show(): void {
    const current = this.#current();
    const [first] = this.items;
    const last = this.items.at(-1);
    if (!this.#holding || first === undefined || last === undefined) {
      this.release();
      return;
    }
    // Rows stay where they are, also those that were updated further up or deleted elsewhere.
    const bySeq = new Map(current.map((message) => [message.seq, message]));
    const older = current.filter(({ seq }) => seq < last.seq);
    this.items = [...this.items.map((message) => bySeq.get(message.seq) ?? message), ...older];
    this.waiting = current.findIndex(({ seq }) => seq <= first.seq);
    if (this.waiting < 0) this.waiting = current.length;
  }
}

export const pushMessages = new PushMessages();

import * as m from '#messages/state';
import { pushStored } from '../../../../services/contracts/push/topics.ts';
import { pushApi, type PushMessage } from '../../../../services/contracts/push/api.ts';
import { call } from '../../api/call.ts';
import { live } from '../live.svelte.ts';
import { Loadable } from '../loadable.svelte.ts';
import { runExclusive } from '../run-exclusive.ts';
import { mergeMessages, type NewestMessages } from './merge-messages.ts';
import { toasts } from '../toasts.svelte.ts';

export interface MessageFilter {
  /** Words that a message must contain. */
  readonly words: string;
  /** Minimum priority. */
  readonly priority: number;
  readonly tag: string;
}

const noFilter: MessageFilter = { words: '', priority: 1, tag: '' };
const pageSize = 100;
/** Maximum number of pages that are read until new messages meet the existing ones. */
const maxPages = 10;
/** Maximum number of pages that are read to find one message. */
const maxSearchPages = 50;

/** Messages of the open topic, newest first, kept up to date by events. */
class PushMessages extends Loadable {
  topic = $state('');
  filter = $state.raw(noFilter);
  items = $state.raw<readonly PushMessage[]>([]);
  /** Number of new messages that are pending while the list is paused. */
  pendingCount = $state(0);
  mayPublish = $state(false);
  anyone = $state.raw({ reads: false, publishes: false });
  /** Older messages can be loaded. */
  hasOlder = $state(false);
  isLoadingOlder = $state(false);
  #messages: readonly PushMessage[] = [];
  #next: number | null = null;
  #turn = 0;
  #isPaused = false;
  readonly #reloadOnce = runExclusive(() => this.load());
  /** Messages that were cleared or deleted here while Undo is possible. */
  readonly #pendingChanges = new Map<string, 'cleared' | 'deleted'>();

  constructor() {
    super();
    live.on(pushStored, () => this.refresh());
    live.onReset(() => this.refresh());
  }

  /** Opens a topic; an empty name closes it. */
  open(topic: string, filter = noFilter): void {
    if (topic === this.topic && JSON.stringify(filter) === JSON.stringify(this.filter)) return;
    this.#turn += 1;
    this.topic = topic;
    this.filter = filter;
    this.#messages = [];
    this.#next = null;
    this.items = [];
    this.pendingCount = 0;
    this.hasOlder = false;
    this.phase = 'loading';
    if (topic !== '') void this.load();
  }

  /** Loads the newest messages, down to the existing ones. */
  async load(): Promise<void> {
    const turn = this.#turn;
    await this.readOnce(
      () => this.#readNewest(),
      (reloaded) => {
        const { messages, isComplete: isComplete } = mergeMessages(this.#messages, reloaded);
        this.#messages = messages;
        if (isComplete) this.#next = reloaded.next;
        this.hasOlder = this.#next !== null;
        this.#updateItems();
      },
      () => turn !== this.#turn,
    );
  }

  async loadOlder(): Promise<void> {
    const turn = this.#turn;
    const before = this.#next;
    if (before === null || this.isLoadingOlder) return;
    this.isLoadingOlder = true;
    try {
      const reply = await this.#page(before, 200);
      if (turn !== this.#turn) return;
      const existingSequences = new Set(this.#messages.map(({ sequence }) => sequence));
      this.#messages = [
        ...this.#messages,
        ...reply.messages.filter(({ sequence }) => !existingSequences.has(sequence)),
      ];
      this.#next = reply.next;
      this.hasOlder = reply.next !== null;
      this.#updateItems();
    } catch (error) {
      if (turn === this.#turn) toasts.showError(error);
    } finally {
      this.isLoadingOlder = false;
    }
  }

  /** Loads older messages until the one with this id is listed. Returns its index, or -1. */
  async seek(id: string): Promise<number> {
    const turn = this.#turn;
    const findIndex = (): number => this.items.findIndex((message) => message.id === id);
    for (let page = 0; page < maxSearchPages && findIndex() < 0 && this.hasOlder && turn === this.#turn; page += 1) {
      await this.loadOlder();
    }
    return findIndex();
  }

  /** While paused, nothing moves and new messages are pending. */
  setPaused(paused: boolean): void {
    if (paused === this.#isPaused) return;
    this.#isPaused = paused;
    if (!paused) this.#updateItems();
  }

  /** Shows the pending messages. */
  showPending(): void {
    this.items = this.#current();
    this.pendingCount = 0;
  }

  /** Archives a message on all clients, with Undo. */
  clear({ sequence, priority }: PushMessage): void {
    this.#changeWithUndo(sequence, 'cleared', priority === 5 ? m.acknowledgedEverywhere() : m.clearedEverywhere());
  }

  /** Deletes a message on all clients, with Undo. */
  remove({ sequence }: PushMessage): void {
    this.#changeWithUndo(sequence, 'deleted', m.messageDeletedEverywhere());
  }

  refresh(): void {
    if (this.topic !== '') void this.#reloadOnce();
  }

  async #readNewest(): Promise<NewestMessages> {
    const newest = this.#messages[0]?.seq;
    let reply = await this.#page(undefined, pageSize);
    this.mayPublish = reply.mayPublish;
    this.anyone = reply.anyone;
    const reloaded = { ...reply, messages: [...reply.messages] };
    for (let page = 1; newest !== undefined && page < maxPages; page += 1) {
      if (reply.next === null || reply.next <= newest) break;
      reply = await this.#page(reply.next, 200);
      reloaded.messages.push(...reply.messages);
      reloaded.next = reply.next;
    }
    return reloaded;
  }

  #page(before: number | undefined, limit: number) {
    return call(pushApi.messages, { params: { topic: this.topic }, query: { ...this.filter, before, limit } });
  }

  #changeWithUndo(sequence: string, action: 'cleared' | 'deleted', text: string): void {
    const { topic } = this;
    this.#pendingChanges.set(sequence, action);
    // A message that was deleted here disappears immediately, even while the list is paused.
    if (action === 'deleted') this.items = this.items.filter((message) => message.sequence !== sequence);
    this.#updateItems();
    const undo = (): void => {
      this.#pendingChanges.delete(sequence);
      this.showPending();
    };
    toasts.show(text, {
      undo: undo,
      settle: async () => {
        const params = { topic, sequence };
        try {
          await (action === 'cleared'
            ? call(pushApi.clear, { params, keepalive: true })
            : call(pushApi.remove, { params, keepalive: true }));
          if (topic === this.topic) this.#applyChange(sequence, action);
          this.#pendingChanges.delete(sequence);
        } catch (error) {
          undo();
          throw error;
        }
      },
    });
  }

  #applyChange(sequence: string, action: 'cleared' | 'deleted'): void {
    this.#messages = this.#messages.flatMap((message) => {
      if (message.sequence !== sequence) return [message];
      return action === 'deleted' ? [] : [{ ...message, cleared: true }];
    });
  }

  /** Returns the messages without those that are being deleted. */
  #current(): readonly PushMessage[] {
    if (this.#pendingChanges.size === 0) return this.#messages;
    return this.#messages.flatMap((message) => {
      const action = this.#pendingChanges.get(message.sequence);
      if (action === 'deleted') return [];
      return action === 'cleared' ? [{ ...message, cleared: true }] : [message];
    });
  }

  #updateItems(): void {
    const current = this.#current();
    const [first] = this.items;
    const last = this.items.at(-1);
    if (!this.#isPaused || first === undefined || last === undefined) {
      this.showPending();
      return;
    }
    // While the list is paused, rows keep their position, even if they were updated or deleted elsewhere.
    const bySeq = new Map(current.map((message) => [message.seq, message]));
    const older = current.filter(({ seq }) => seq < last.seq);
    this.items = [...this.items.map((message) => bySeq.get(message.seq) ?? message), ...older];
    this.pendingCount = current.findIndex(({ seq }) => seq <= first.seq);
    if (this.pendingCount < 0) this.pendingCount = current.length;
  }
}

export const pushMessages = new PushMessages();

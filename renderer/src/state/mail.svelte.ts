import { SvelteSet } from 'svelte/reactivity';
import { mailApi, mailWorked, type MailDetail, type SpooledMail } from '../../../services/contracts/mail-api.ts';
import { call, sentence } from '../api/call.ts';
import { live } from './live.svelte.ts';
import { toasts } from './toasts.svelte.ts';

/** What the list is narrowed to; an empty string stands for no restriction. */
export type MailState = '' | 'dead' | 'waiting' | 'dropped';

/** Rows that are asked for at once. */
const step = 100;

/** Mails of the spool, newest first, and what became of them. */
class Mail {
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  trouble = $state('');
  #all = $state.raw<readonly SpooledMail[]>([]);
  /** Came while the list was held. */
  waiting = $state.raw<readonly SpooledMail[]>([]);
  /** Grows with each event, for what else has to be read anew. */
  turns = $state(0);
  /** Removed, while that can still be undone. */
  readonly #leaving = new SvelteSet<string>();
  readonly items = $derived(this.#all.filter(({ id }) => !this.#leaving.has(id)));
  #q = '';
  #state: MailState = '';
  #watched = false;
  #holding = false;
  #ended = false;
  #reading = false;
  #turn = 0;

  constructor() {
    live.on(mailWorked, () => void this.#refresh());
    live.onReset(() => void this.#refresh());
  }

  watch(): () => void {
    this.#watched = true;
    return () => {
      this.#watched = false;
      this.hold(false);
    };
  }

  /** Reads the newest mails whose sender, recipients or subject hold `q`, in any state or in this one. */
  async load(q: string, state: MailState = ''): Promise<void> {
    this.#q = q;
    this.#state = state;
    this.#turn += 1;
    const turn = this.#turn;
    await live.opened();
    try {
      const messages = await this.#read();
      // A later search was quicker.
      if (turn !== this.#turn) return;
      this.#all = messages;
      this.waiting = [];
      this.#ended = messages.length < step;
      this.phase = 'ready';
    } catch (error) {
      if (turn !== this.#turn) return;
      this.trouble = sentence(error);
      if (this.phase === 'loading') this.phase = 'failed';
      else toasts.sayWhy(error);
    }
  }

  async loadMore(): Promise<void> {
    const last = this.#all.at(-1);
    if (this.#reading || this.#ended || last === undefined) return;
    this.#reading = true;
    const turn = this.#turn;
    try {
      const messages = await this.#read(`${String(last.receivedAt)}.${last.id}`);
      if (turn !== this.#turn) return;
      const known = new Set(this.#all.map(({ id }) => id));
      this.#all = [...this.#all, ...messages.filter(({ id }) => !known.has(id))];
      this.#ended = messages.length < step;
    } catch (error) {
      toasts.sayWhy(error);
      this.#ended = true;
    } finally {
      this.#reading = false;
    }
  }

  detail(id: string): Promise<MailDetail> {
    return call(mailApi.message, { params: { id } });
  }

  /** Answers how many deliveries were begun. */
  async resend(id: string): Promise<number> {
    return (await call(mailApi.resend, { params: { id } })).deliveries;
  }

  /** @throws Problem with the gateway's own words when it refuses the address. */
  async test(address: string): Promise<void> {
    await call(mailApi.test, { body: { address } });
  }

  /** Takes a mail out of sight; it is removed for good when the way back is gone. */
  remove(id: string): void {
    this.#leaving.add(id);
    const stay = (): void => {
      this.#leaving.delete(id);
    };
    toasts.say('The mail is removed, with its source.', {
      undo: stay,
      settle: async () => {
        try {
          await call(mailApi.remove, { params: { id }, keepalive: true });
          this.#all = this.#all.filter((each) => each.id !== id);
        } finally {
          stay();
        }
      },
    });
  }

  /** While held, new rows wait: nothing moves under the pointer. */
  hold(holding: boolean): void {
    this.#holding = holding;
    if (!holding) this.release();
  }

  /** Lets the waiting rows in. */
  release(): void {
    if (this.waiting.length === 0) return;
    this.#all = [...this.waiting, ...this.#all];
    this.waiting = [];
  }

  async #read(before?: string): Promise<readonly SpooledMail[]> {
    return (
      await call(mailApi.messages, {
        query: { q: this.#q, before, limit: step, state: this.#state === '' ? undefined : this.#state },
      })
    ).messages;
  }

  /** Reads the newest rows again: rows that are there change where they stand, new ones come on top or wait. */
  async #refresh(): Promise<void> {
    if (!this.#watched || this.phase !== 'ready') return;
    this.turns += 1;
    const turn = this.#turn;
    try {
      const messages = await this.#read();
      if (turn !== this.#turn) return;
      const known = new Set(this.#all.map(({ id }) => id));
      const fresh = new Map(messages.map((message) => [message.id, message]));
      const added = messages.filter(({ id }) => !known.has(id));
      // More than one reading brings: what lies between is not known, so the list begins anew.
      if (added.length === step && !this.#holding) {
        this.#all = messages;
        this.waiting = [];
        this.#ended = false;
        return;
      }
      // Rows that should be among those read and are not were removed.
      const end = messages.length < step ? -Infinity : (messages.at(-1)?.receivedAt ?? -Infinity);
      this.#all = this.#all
        .filter(({ id, receivedAt }) => fresh.has(id) || receivedAt < end)
        .map((message) => fresh.get(message.id) ?? message);
      this.waiting = added;
      if (!this.#holding) this.release();
    } catch (error) {
      this.trouble = sentence(error);
    }
  }
}

export const mail = new Mail();

import { mailApi, mailWorked, type ReadMail, type SpooledMail } from '../../../services/contracts/mail-api.ts';
import { call, sentence } from '../api/call.ts';
import { live } from './live.svelte.ts';
import { toasts } from './toasts.svelte.ts';

type Phase = 'loading' | 'ready' | 'failed';

const pageSize = 50;

/** Mails in the spool, and the one that is looked at. */
class Mail {
  list = $state.raw<readonly SpooledMail[]>([]);
  phase = $state<Phase>('loading');
  trouble = $state('');
  more = $state(false);
  open = $state.raw<ReadMail | undefined>();
  openTrouble = $state('');
  #words = '';
  #watched = 0;
  #reading = false;
  #again = false;
  /** Taken out of sight, while that can still be taken back. */
  #leaving = new Set<string>();

  constructor() {
    live.on(mailWorked, () => this.#refresh());
    live.onReset(() => this.#refresh());
  }

  /** Follows what happens until the returned function is called. */
  watch(): () => void {
    this.#watched += 1;
    return () => (this.#watched -= 1);
  }

  async load(words = this.#words): Promise<void> {
    if (words !== this.#words) this.phase = 'loading';
    this.#words = words;
    try {
      const { messages, more } = await call(mailApi.messages, { query: { q: words, limit: pageSize } });
      if (words !== this.#words) return;
      // What was paged to stays behind the newest.
      const oldest = messages.at(-1)?.time ?? 0;
      const known = new Set(messages.map(({ id }) => id));
      const older =
        this.phase === 'ready' && more ? this.list.filter(({ id, time }) => time <= oldest && !known.has(id)) : [];
      this.#show([...messages, ...older]);
      if (older.length === 0) this.more = more;
      this.phase = 'ready';
    } catch (error) {
      if (words !== this.#words) return;
      this.trouble = sentence(error);
      if (this.phase === 'loading') this.phase = 'failed';
    }
  }

  async loadOlder(): Promise<void> {
    const before = this.list.at(-1)?.time;
    const words = this.#words;
    const { messages, more } = await call(mailApi.messages, { query: { q: words, before, limit: pageSize } });
    if (words !== this.#words) return;
    this.#show([...this.list, ...messages]);
    this.more = more;
  }

  /** Reads one whole; empty: none. */
  async read(id: string): Promise<void> {
    if (id !== this.open?.id) this.open = undefined;
    this.openTrouble = '';
    if (id === '') return;
    try {
      this.open = await call(mailApi.message, { params: { id } });
    } catch (error) {
      this.openTrouble = sentence(error);
    }
  }

  /** @throws Problem that says why not. */
  async resend(id: string): Promise<void> {
    const { deliveries } = await call(mailApi.resend, { params: { id } });
    toasts.say(deliveries === 1 ? 'Sent again.' : `Sent again to ${String(deliveries)}.`);
    await this.read(id);
  }

  /** Takes it out of sight at once; it goes for good when the way back is gone. */
  remove(id: string): void {
    this.#leaving.add(id);
    this.#show(this.list);
    this.open = undefined;
    toasts.say('The mail is removed.', {
      undo: async () => {
        this.#leaving.delete(id);
        await this.load();
      },
      settle: async () => {
        try {
          await call(mailApi.remove, { params: { id } });
        } finally {
          this.#leaving.delete(id);
          await this.load();
        }
      },
    });
  }

  async check(address: string) {
    return (await call(mailApi.check, { query: { address } })).match;
  }

  #show(list: readonly SpooledMail[]): void {
    this.list = list.filter(({ id }) => !this.#leaving.has(id));
  }

  /** One reading at a time, and one more when something came meanwhile. */
  #refresh(): void {
    if (this.#watched === 0) return;
    this.#again = true;
    if (!this.#reading) void this.#readAgain();
  }

  async #readAgain(): Promise<void> {
    this.#reading = true;
    while (this.#again) {
      this.#again = false;
      await Promise.all([this.load(), this.open === undefined ? undefined : this.read(this.open.id)]);
    }
    this.#reading = false;
  }
}

export const mail = new Mail();

import { mailApi, mailActivity, type MailDetail, type SpooledMail } from '../../../../services/contracts/mail/api.ts';
import { call } from '../../api/call.ts';
import { Newest } from '../../state/newest.svelte.ts';
import { Removals } from '../../state/removals.svelte.ts';

/** What the list is narrowed to; an empty string stands for no restriction. */
export type MailState = '' | 'done' | 'waiting' | 'dead' | 'dropped';

/** Rows that are asked for at once. */
const step = 100;

/** Mails of the spool, newest first, and what became of them. */
class Mail {
  #q = '';
  #state: MailState = '';
  readonly list = new Newest<SpooledMail>({
    ...{ topic: mailActivity, step, time: ({ receivedAt }) => receivedAt },
    read: async (behind) => {
      const before = behind === undefined ? undefined : `${String(behind.receivedAt)}.${behind.id}`;
      const state = this.#state === '' ? undefined : this.#state;
      return (await call(mailApi.messages, { query: { q: this.#q, before, limit: step, state } })).messages;
    },
  });
  /** Removed, while that can still be undone. */
  readonly #leaving = new Removals();
  readonly items = $derived(this.list.rows.filter(({ id }) => !this.#leaving.has(id)));

  /** Reads the newest mails whose sender, recipients or subject hold `q`, in any state or in this one. */
  load(q: string, state: MailState = ''): Promise<void> {
    this.#q = q;
    this.#state = state;
    return this.list.load();
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
    this.#leaving.take([id], {
      words: 'The mail is removed, with its source.',
      remove: async () => {
        await call(mailApi.remove, { params: { id }, keepalive: true });
        this.list.take(id);
      },
      renew: () => this.list.refresh(),
    });
  }
}

export const mail = new Mail();

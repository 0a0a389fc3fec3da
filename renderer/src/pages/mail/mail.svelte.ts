import * as m from '#messages/mail';
import { mailApi, mailActivity, type MailDetail, type SpooledMail } from '../../../../services/contracts/mail/api.ts';
import { call } from '../../api/call.ts';
import { NewestFirstList } from '../../state/newest-first-list.svelte.ts';
import { Removals } from '../../state/removals.svelte.ts';

/** State filter of the list; empty for no restriction. */
export type MailState = '' | 'done' | 'waiting' | 'dead' | 'dropped';

/** Number of rows in one page. */
const pageSize = 100;

/** Mails of the spool, newest first, with the results of their deliveries. */
class Mail {
  #q = '';
  #state: MailState = '';
  readonly list = new NewestFirstList<SpooledMail>({
    topic: mailActivity,
    step: pageSize,
    getTime: ({ receivedAt }) => receivedAt,
    read: async (olderThan) => {
      const before = olderThan === undefined ? undefined : `${String(olderThan.receivedAt)}.${olderThan.id}`;
      const state = this.#state === '' ? undefined : this.#state;
      return (await call(mailApi.messages, { query: { q: this.#q, before, limit: pageSize, state } })).messages;
    },
  });
  /** Mails that are removed while Undo is possible. */
  readonly #removals = new Removals();
  readonly items = $derived(this.list.rows.filter(({ id }) => !this.#removals.has(id)));

  /** Loads the newest mails whose sender, recipients or subject contain `q`, optionally with a state. */
  load(q: string, state: MailState = ''): Promise<void> {
    this.#q = q;
    this.#state = state;
    return this.list.load();
  }

  detail(id: string): Promise<MailDetail> {
    return call(mailApi.message, { params: { id } });
  }

  /** Delivers a mail again. Returns the number of deliveries. */
  async resend(id: string): Promise<number> {
    return (await call(mailApi.resend, { params: { id } })).deliveries;
  }

  /**
   * Sends a test mail.
   * @throws Problem with the reply of the gateway when it refuses the address.
   */
  async test(address: string): Promise<void> {
    await call(mailApi.test, { body: { address } });
  }

  /** Hides a mail and deletes it when Undo has expired. */
  remove(id: string): void {
    this.#removals.hideAndRemove([id], {
      message: m.theMailIsRemovedWith(),
      remove: async () => {
        await call(mailApi.remove, { params: { id }, keepalive: true });
        this.list.remove(id);
      },
      reload: () => this.list.refresh(),
    });
  }
}

export const mail = new Mail();

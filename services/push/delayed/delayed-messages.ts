import type { Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Message } from '../domain/message.ts';
import { keptFor } from '../domain/retention.ts';
import { readStored, type Envelope } from '../subscribe/envelope.ts';
import type { WriteMessages } from '../publish/write-messages.ts';
import type { AttachmentStore } from '../store/attachments.ts';
import type { DelayedPosition, DelayedMessage, DelayedMessageStore } from '../store/delayed-messages.ts';

export interface DelayedParts {
  readonly context: Pick<Context, 'accounts' | 'clock' | 'commit'>;
  readonly store: DelayedMessageStore;
  readonly attachments: AttachmentStore;
  readonly record: WriteMessages;
  readonly announce: (envelopes: readonly Envelope[]) => Promise<void>;
  /** A message is due at this time, in unix seconds. */
  readonly expect: (time: number) => void;
  /** Files of these messages are not wanted any more. */
  readonly discard: (ids: readonly string[]) => void;
  /** Seconds that a message of a topic is kept; 0: it is not. */
  readonly keptSeconds: (topic: string) => number;
  /** What waits has changed. */
  readonly changed: () => void;
}

type Planned = DelayedMessage & { readonly seq: number };

/** What waits for its time, in the hands of those who asked for it, and of administrators. */
export class DelayedMessages {
  readonly #parts: DelayedParts;

  constructor(parts: DelayedParts) {
    this.#parts = parts;
  }

  /** A page of what an identity may see, by time, and how much that is in all. */
  async list(
    identity: Identity,
    after: DelayedPosition,
    limit: number,
  ): Promise<{ readonly messages: readonly Planned[]; readonly total: number }> {
    const { store } = this.#parts;
    const whose = identity.role === 'admin' ? undefined : identity.account;
    const [messages, total] = await Promise.all([store.list(whose, after, limit), store.count(whose)]);
    return { messages, total };
  }

  /**
   * Gives a message another time, in unix seconds. How long it is kept counts from then on.
   *
   * @throws Problem `push.not_planned` (404), `push.forbidden` (403), `push.file_expires_first` (422).
   */
  async move(identity: Identity, id: string, time: number): Promise<DelayedMessage> {
    const { context, store, expect, changed } = this.#parts;
    const row = await this.#own(identity, id);
    this.#requireWrite(identity, row.topic);
    const fileExpires = readStored(row.text).attachment?.expires;
    if (fileExpires !== undefined && fileExpires < time) {
      const at = 'Its file is not kept until then. Choose an earlier time.';
      throw new Problem('push.file_expires_first', 422, at, { fields: { at } });
    }
    const moved = { ...row, ...at(row, time) };
    const { expires, text } = moved;
    if (!(await context.commit((transaction) => store.reschedule(transaction, id, { time, expires, text })))) {
      throw gone();
    }
    expect(time);
    changed();
    return moved;
  }

  /** Publishes a message before its time. @throws Problem `push.not_planned` (404), `push.forbidden` (403). */
  async publish(identity: Identity, id: string): Promise<void> {
    const { context, store, record, announce, keptSeconds, changed } = this.#parts;
    this.#requireWrite(identity, (await this.#own(identity, id)).topic);
    const now = Math.floor(context.clock.now() / 1000);
    const envelopes = await context.commit(async (transaction) => {
      const row = await store.take(transaction, id);
      if (row === undefined) return [];
      const moved = at(row, now);
      const message = keptFor(moved.message, keptSeconds(row.topic));
      return record(transaction, [{ message, text: JSON.stringify(message), inbox: row.entry ?? undefined }]);
    });
    if (envelopes.length === 0) throw gone();
    changed();
    await announce(envelopes);
  }

  /** Takes a message back, with its file. @throws Problem `push.not_planned` (404). */
  async cancel(identity: Identity, id: string): Promise<void> {
    const { context, store, attachments, discard, changed } = this.#parts;
    await this.#own(identity, id);
    const taken = await context.commit(async (transaction) => {
      const row = await store.take(transaction, id);
      if (row !== undefined) await attachments.remove(transaction, [id]);
      return row;
    });
    if (taken === undefined) throw gone();
    discard([id]);
    changed();
  }

  /** Forgets whose it was, once an account is no more. */
  async forget(account: string): Promise<void> {
    const { context, store } = this.#parts;
    await context.commit((transaction) => store.detachAccount(transaction, account));
  }

  /** One that somebody else asked for is as good as not there. */
  async #own(identity: Identity, id: string): Promise<DelayedMessage> {
    const row = await this.#parts.store.find(id);
    if (row === undefined || (identity.role !== 'admin' && row.account !== identity.account)) throw gone();
    return row;
  }

  #requireWrite(identity: Identity, topic: string): void {
    if (this.#parts.context.accounts.may(identity, 'push', 'write', topic)) return;
    throw new Problem(
      'push.forbidden',
      403,
      `You may not publish to ${topic} any more. An administrator can grant it.`,
    );
  }
}

/** A waiting message as it is when it goes out at another time. */
function at(
  row: DelayedMessage,
  time: number,
): Pick<DelayedMessage, 'time' | 'expires' | 'text'> & {
  readonly message: Message;
} {
  const stored = readStored(row.text);
  const expires = row.expires + (time - row.time);
  const message = { ...stored, time, ...(stored.expires === undefined ? {} : { expires }) };
  return {
    message,
    time,
    expires,
    text: JSON.stringify(message),
  };
}

function gone(): Problem {
  return new Problem('push.not_planned', 404, 'This message does not wait any more: it is out, or was taken back.');
}

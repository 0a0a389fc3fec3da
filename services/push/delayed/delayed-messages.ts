import * as m from '#messages/push-problems';
import type { Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Message } from '../domain/message.ts';
import { withMaxRetention } from '../domain/retention.ts';
import type { Envelope } from '../messages/envelope.ts';
import { parseStoredMessage } from '../domain/stored-message.ts';
import type { WriteMessages } from '../messages/write-messages.ts';
import type { AttachmentStore } from '../store/attachments.ts';
import type { DelayedPosition, DelayedMessageRow, DelayedMessageStore } from '../store/delayed-messages.ts';

/** Receives changes of the list of delayed messages. */
export interface DelayedObserver {
  /** Called with the new time of a message, in unix seconds. */
  readonly onRescheduled: (time: number) => void;
  /** Called after the list of delayed messages changed. */
  readonly onChanged: () => void;
}

export interface DelayedMessagesDependencies {
  readonly context: Pick<Context, 'accounts' | 'clock' | 'commit'>;
  readonly store: DelayedMessageStore;
  readonly attachments: AttachmentStore;
  readonly writeMessages: WriteMessages;
  readonly announce: (envelopes: readonly Envelope[]) => Promise<void>;
  readonly observer: DelayedObserver;
  /** Deletes the files of cancelled messages. */
  readonly deleteFiles: (ids: readonly string[]) => void;
  /** Returns the number of seconds that messages of a topic are kept; 0 when they are not cached. */
  readonly keptSeconds: (topic: string) => number;
}

type ListedDelayedMessage = DelayedMessageRow & { readonly seq: number };

/** Delayed messages, managed by the accounts that scheduled them and by administrators. */
export class DelayedMessages {
  readonly #dependencies: DelayedMessagesDependencies;

  constructor(dependencies: DelayedMessagesDependencies) {
    this.#dependencies = dependencies;
  }

  /** Returns a page of the delayed messages that the identity may manage, ordered by time, and their total number. */
  async list(
    identity: Identity,
    after: DelayedPosition,
    limit: number,
  ): Promise<{ readonly messages: readonly ListedDelayedMessage[]; readonly total: number }> {
    const { store } = this.#dependencies;
    const account = identity.role === 'admin' ? undefined : identity.account;
    const [messages, total] = await Promise.all([store.list(account, after, limit), store.count(account)]);
    return { messages, total };
  }

  /**
   * Changes the time of a message, in unix seconds. Retention counts from the new time.
   *
   * @throws Problem `push.not_planned` (404), `push.forbidden` (403), `push.file_expires_first` (422)
   */
  async reschedule(identity: Identity, id: string, time: number): Promise<DelayedMessageRow> {
    const { context, store } = this.#dependencies;
    const { onRescheduled, onChanged } = this.#dependencies.observer;
    const row = await this.#requireOwned(identity, id);
    this.#requireWrite(identity, row.topic);
    const fileExpires = parseStoredMessage(row.text).attachment?.expires;
    if (fileExpires !== undefined && fileExpires < time) {
      const detail = m.fileExpiresFirst();
      throw new Problem('push.file_expires_first', 422, detail, { fields: { at: detail } });
    }
    const rescheduled = { ...row, ...withTime(row, time) };
    const { expires, text } = rescheduled;
    if (!(await context.commit((transaction) => store.reschedule(transaction, id, { time, expires, text })))) {
      throw notFound();
    }
    onRescheduled(time);
    onChanged();
    return rescheduled;
  }

  /**
   * Publishes a message before its time.
   *
   * @throws Problem `push.not_planned` (404), `push.forbidden` (403)
   */
  async publish(identity: Identity, id: string): Promise<void> {
    const { context, store, writeMessages, announce, keptSeconds } = this.#dependencies;
    const { onChanged } = this.#dependencies.observer;
    this.#requireWrite(identity, (await this.#requireOwned(identity, id)).topic);
    const now = Math.floor(context.clock.now() / 1000);
    const envelopes = await context.commit(async (transaction) => {
      const row = await store.take(transaction, id);
      if (row === undefined) return [];
      const rescheduled = withTime(row, now);
      const message = withMaxRetention(rescheduled.message, keptSeconds(row.topic));
      return writeMessages(transaction, [{ message, text: JSON.stringify(message), inbox: row.entry ?? undefined }]);
    });
    if (envelopes.length === 0) throw notFound();
    onChanged();
    await announce(envelopes);
  }

  /**
   * Cancels a message and deletes its file.
   *
   * @throws Problem `push.not_planned` (404)
   */
  async cancel(identity: Identity, id: string): Promise<void> {
    const { context, store, attachments, deleteFiles } = this.#dependencies;
    const { onChanged } = this.#dependencies.observer;
    await this.#requireOwned(identity, id);
    const cancelled = await context.commit(async (transaction) => {
      const row = await store.take(transaction, id);
      if (row !== undefined) await attachments.remove(transaction, [id]);
      return row;
    });
    if (cancelled === undefined) throw notFound();
    deleteFiles([id]);
    onChanged();
  }

  /** Detaches the messages of a deleted account. */
  async detachAccount(account: string): Promise<void> {
    const { context, store } = this.#dependencies;
    await context.commit((transaction) => store.detachAccount(transaction, account));
  }

  /** Messages of other accounts are reported as not found. */
  async #requireOwned(identity: Identity, id: string): Promise<DelayedMessageRow> {
    const row = await this.#dependencies.store.find(id);
    if (row === undefined || (identity.role !== 'admin' && row.account !== identity.account)) throw notFound();
    return row;
  }

  #requireWrite(identity: Identity, topic: string): void {
    if (this.#dependencies.context.accounts.may(identity, 'push', 'write', topic)) return;
    throw new Problem('push.forbidden', 403, m.publishDenied({ topic }));
  }
}

/** Returns the message with another publication time. */
function withTime(
  row: DelayedMessageRow,
  time: number,
): Pick<DelayedMessageRow, 'time' | 'expires' | 'text'> & {
  readonly message: Message;
} {
  const stored = parseStoredMessage(row.text);
  const expires = row.expires + (time - row.time);
  const message = { ...stored, time, ...(stored.expires === undefined ? {} : { expires }) };
  return {
    message,
    time,
    expires,
    text: JSON.stringify(message),
  };
}

function notFound(): Problem {
  return new Problem('push.not_planned', 404, m.delayedMessageGone());
}

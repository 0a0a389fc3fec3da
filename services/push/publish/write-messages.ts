import type { Context } from '../../contracts/service.ts';
import type { Draft, Message } from '../domain/message.ts';
import { inboxJobs, toInbox, type InboxEntry } from './inbox-copy.ts';
import { Envelope } from '../subscribe/envelope.ts';
import type { MessageStore } from '../store/messages.ts';

/** A message that is out, or will be when the transaction is committed. */
export interface Recorded {
  readonly message: Message;
  readonly text: string;
  readonly entry: InboxEntry | undefined;
  readonly email?: Draft['email'];
}

/** Writes what else is to be there with messages, in their transaction; `seqs` are the numbers of cached ones by id. */
export type AlsoStore = (
  transaction: Context['db'],
  recorded: readonly Recorded[],
  seqs: ReadonlyMap<string, number>,
) => Promise<void>;

/** Writes messages with all that goes with them, and answers them with their places in the cache. */
export type WriteMessages = (transaction: Context['db'], messages: readonly Recorded[]) => Promise<Envelope[]>;

export function createWriteMessages(
  { jobs, clock }: Pick<Context, 'jobs' | 'clock'>,
  store: MessageStore,
  also: readonly AlsoStore[],
): WriteMessages {
  return async (transaction, recorded) => {
    const seqs = await store.insert(transaction, recorded.flatMap(rowOf));
    const entries = recorded.flatMap(({ entry }) => entry ?? []);
    if (entries.length > 0) await jobs.enqueueAll(transaction, toInbox, inboxJobs(entries, clock.now()));
    for (const alsoStore of also) await alsoStore(transaction, recorded, seqs);
    return recorded.map(({ message, text }) => new Envelope(message, text, seqs.get(message.id)));
  };
}

/** Nothing for a message that only those get who listen now. */
function rowOf({ message: { id, topic, time, expires }, text }: Recorded) {
  return expires === undefined ? [] : [{ id, topic, time, expires, text }];
}

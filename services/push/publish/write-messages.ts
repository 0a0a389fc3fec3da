import type { Context } from '../../contracts/service.ts';
import type { Draft, Message } from '../domain/message.ts';
import { Envelope } from '../subscribe/envelope.ts';
import { hidden } from '../store/removal.ts';
import type { MessageStore } from '../store/messages.ts';

/** A message that is out, or will be when the transaction is committed. */
export interface Recorded {
  readonly message: Message;
  readonly text: string;
  /** What the inbox shows of it beyond its own text; undefined: it is not meant for the inbox. */
  readonly inbox: string | undefined;
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

export function createWriteMessages(store: MessageStore, also: readonly AlsoStore[]): WriteMessages {
  return async (transaction, recorded) => {
    const numbers = await store.insert(transaction, recorded.flatMap(rowOf));
    const cached = recorded.filter(({ message: { expires } }) => expires !== undefined);
    const seqs = new Map(cached.map(({ message: { id } }) => [id, numbers.get(id) ?? 0]));
    for (const alsoStore of also) await alsoStore(transaction, recorded, seqs);
    return recorded.map(({ message, text }) => new Envelope(message, text, seqs.get(message.id)));
  };
}

/** Of a message that only those get who listen now there is a row for the inbox alone, and nothing without it. */
function rowOf({ message: { id, topic, time, expires }, text, inbox }: Recorded) {
  return expires === undefined && inbox === undefined
    ? []
    : [{ id, topic, time, expires: expires ?? hidden, text, inbox }];
}

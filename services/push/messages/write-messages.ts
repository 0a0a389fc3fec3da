import type { Context } from '../../contracts/service.ts';
import type { Draft, Message } from '../domain/message.ts';
import { Envelope } from './envelope.ts';
import { hidden } from '../store/removal.ts';
import type { MessageStore } from '../store/messages.ts';

/** Message that is published when the transaction commits. */
export interface Recorded {
  readonly message: Message;
  readonly text: string;
  /** Inbox fields that the text does not contain; undefined when the inbox does not store the message. */
  readonly inbox: string | undefined;
  readonly email?: Draft['email'];
}

/** Runs in the transaction that writes messages; `seqs` are the numbers of cached messages by id. */
export type WriteHook = (
  transaction: Context['db'],
  recorded: readonly Recorded[],
  seqs: ReadonlyMap<string, number>,
) => Promise<void>;

/** Writes messages and everything stored with them, and returns them with their position in the cache. */
export type WriteMessages = (transaction: Context['db'], messages: readonly Recorded[]) => Promise<Envelope[]>;

export function createWriteMessages(store: MessageStore, hooks: readonly WriteHook[]): WriteMessages {
  return async (transaction, recorded) => {
    const numbers = await store.insert(transaction, recorded.flatMap(toRows));
    const cached = recorded.filter(({ message: { expires } }) => expires !== undefined);
    const seqs = new Map(cached.map(({ message: { id } }) => [id, numbers.get(id) ?? 0]));
    for (const hook of hooks) await hook(transaction, recorded, seqs);
    return recorded.map(({ message, text }) => new Envelope(message, text, seqs.get(message.id)));
  };
}

/** Messages that are not cached get a row only for the inbox. */
function toRows({ message: { id, topic, time, expires }, text, inbox }: Recorded) {
  return expires === undefined && inbox === undefined
    ? []
    : [{ id, topic, time, expires: expires ?? hidden, text, inbox }];
}

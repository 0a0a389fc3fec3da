import type BetterSqlite3 from 'better-sqlite3';
import type { Context } from '../../contracts/service.ts';
import type { Message } from '../domain/message.ts';
import { commaList } from '../domain/parameters.ts';
import { isTopic } from '../domain/topics.ts';
import { readStored } from '../live/envelope.ts';
import { Search } from '../search/search.ts';
import type { MessageStore, NewMessage } from '../store/messages.ts';
import { counted, hasTable, textOf } from './rows.ts';

const page = 500;

/**
 * Takes over what can still be read from the peer's `cache.db`, in its order. Files it kept stay behind, as do messages
 * that were still to be sent. Answers a sentence about it.
 */
export async function takeMessages(
  { commit, clock, ...context }: Pick<Context, 'accounts' | 'clock' | 'commit' | 'db'>,
  store: MessageStore,
  db: BetterSqlite3.Database,
): Promise<string[]> {
  if (!hasTable(db, 'messages')) return [];
  const now = Math.floor(clock.now() / 1000);
  const search = new Search({ ...context, clock });
  const read = db.prepare('SELECT * FROM messages WHERE id > ? ORDER BY id LIMIT ?');
  let [last, taken, scheduled] = [0, 0, 0];
  for (;;) {
    const rows = read.all(last, page) as Record<string, unknown>[];
    if (rows.length === 0) break;
    last = Number(rows.at(-1)?.['id']);
    scheduled += rows.filter(({ published }) => Number(published ?? 1) === 0).length;
    const messages = rows.flatMap((row) => messageOf(row, now) ?? []);
    if (messages.length === 0) continue;
    taken += await commit(async (transaction) => {
      const seqs = await store.insertMissing(transaction, messages);
      const fresh = messages.filter(({ id }) => seqs.has(id)).map(({ text }) => ({ message: readStored(text) }));
      await search.store(transaction, fresh, seqs);
      return seqs.size;
    });
  }
  return [
    `Taken over: ${counted(taken, 'message')}.`,
    ...(scheduled === 0 ? [] : [`Left behind, to be published again: ${counted(scheduled, 'scheduled message')}.`]),
  ];
}

function messageOf(row: Record<string, unknown>, now: number): NewMessage | undefined {
  const text = (name: string): string => textOf(row[name]);
  const [id, topic] = [text('mid'), text('topic')];
  const [time, expires] = [Number(row['time']), Number(row['expires'] ?? 0)];
  const event = text('event') || 'message';
  const known = event === 'message' || event === 'message_delete' || event === 'message_clear';
  if (!/^[A-Za-z0-9]{12}$/.test(id) || !isTopic(topic) || !known || !Number.isSafeInteger(time)) return undefined;
  if (expires <= now || Number(row['published'] ?? 1) === 0) return undefined;
  const sequence = text('sequence_id');
  const [priority, tags] = [Number(row['priority'] ?? 0), commaList(text('tags'))];
  const actions = actionsOf(text('actions'));
  // A file on the peer's own disk has a size and is not there any more; an address elsewhere has none.
  const elsewhere = text('attachment_url') !== '' && Number(row['attachment_size'] ?? 0) === 0;
  const message: Message = {
    id,
    ...(sequence === '' || sequence === id ? {} : { sequence_id: sequence }),
    time,
    expires,
    event,
    topic,
    ...given('title', text('title')),
    ...given('message', text('message')),
    ...(priority >= 1 && priority <= 5 ? { priority } : {}),
    ...(tags.length === 0 ? {} : { tags }),
    ...given('click', text('click')),
    ...given('icon', text('icon')),
    ...(actions === undefined ? {} : { actions }),
    ...(elsewhere ? { attachment: { name: text('attachment_name'), url: text('attachment_url') } } : {}),
    ...given('content_type', text('content_type')),
    ...given('encoding', text('encoding')),
  };
  return { id, topic, time, expires, text: JSON.stringify(message) };
}

function given<Name extends string>(name: Name, value: string): { [Key in Name]?: string } {
  return value === '' ? {} : ({ [name]: value } as { [Key in Name]: string });
}

function actionsOf(text: string): Message['actions'] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.length > 0 ? (value as Message['actions']) : undefined;
  } catch {
    // Empty where there are none.
    return undefined;
  }
}

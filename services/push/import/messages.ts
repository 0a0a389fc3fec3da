import type BetterSqlite3 from 'better-sqlite3';
import type { Context } from '../../contracts/service.ts';
import { counted } from '../../kit/counted.ts';
import type { HeldFile, Message } from '../domain/message.ts';
import { inboxCopy } from '../publish/inbox-copy.ts';
import { Search } from '../search/search.ts';
import { AttachmentStore } from '../store/attachments.ts';
import type { MessageStore } from '../store/messages.ts';
import { DelayedMessageStore, type DelayedMessage } from '../store/delayed-messages.ts';
import { takeFile } from './files.ts';
import { fileOf, messageOf, type Row } from './message-row.ts';
import { hasTable } from './rows.ts';

const page = 500;

export interface MessagesParts {
  readonly context: Pick<Context, 'accounts' | 'commit' | 'clock' | 'db' | 'files' | 'reads'>;
  readonly messages: MessageStore;
  /** What is still to be sent is shown in the inbox when it is. */
  readonly keepInInbox: boolean;
  /** The folder of the peer's files; undefined when there is none. */
  readonly attachments: string | undefined;
}

/** One page of the peer's messages, sorted by what becomes of them. */
interface Sorted {
  readonly out: Message[];
  readonly later: Message[];
  readonly files: HeldFile[];
}

/**
 * Takes over what can still be read from the peer's `cache.db`, in its order, with the files that go with it, and what is
 * still to be sent. Answers sentences about it.
 */
export async function takeMessages(parts: MessagesParts, db: BetterSqlite3.Database): Promise<string[]> {
  if (!hasTable(db, 'messages')) return [];
  const now = Math.floor(parts.context.clock.now() / 1000);
  const read = db.prepare('SELECT * FROM messages WHERE id > ? ORDER BY id LIMIT ?');
  let [last, taken, planned, files, lost] = [0, 0, 0, 0, 0];
  for (;;) {
    const rows = read.all(last, page) as Row[];
    if (rows.length === 0) break;
    last = Number(rows.at(-1)?.['id']);
    const sorted: Sorted = { out: [], later: [], files: [] };
    for (const row of rows) if (!(await sort(parts, row, now, sorted))) lost += 1;
    const stored = await store(parts, sorted);
    taken += stored.out;
    planned += stored.later;
    files += stored.files;
  }
  return [
    `Taken over: ${counted(taken, 'message')}, ${counted(planned, 'scheduled message')}, ${counted(files, 'file')}.`,
    ...(lost === 0 ? [] : [`Not found where files are kept: ${counted(lost, 'file')}.`]),
  ];
}

/** False when the message had a file that is not there. */
async function sort({ context, attachments }: MessagesParts, row: Row, now: number, sorted: Sorted): Promise<boolean> {
  const file = fileOf(row, now);
  const held = file !== undefined && (await takeFile(context.files, attachments, file));
  const message = messageOf(row, now, held);
  if (message !== undefined) (Number(row['published'] ?? 1) === 0 ? sorted.later : sorted.out).push(message);
  if (message !== undefined && held) sorted.files.push(file);
  return file === undefined || held;
}

async function store({ context, messages, keepInInbox }: MessagesParts, { out, later, files }: Sorted) {
  const schedule = new DelayedMessageStore(context.db);
  const attachments = new AttachmentStore(context.db);
  const rows = out.map((message) => ({ ...placeOf(message), text: JSON.stringify(message) }));
  return context.commit(async (transaction) => {
    const kept = await attachments.insertMissing(transaction, files);
    const done = rows.length === 0 ? new Map<string, number>() : await messages.insertMissing(transaction, rows);
    const fresh = out.filter(({ id }) => done.has(id)).map((message) => ({ message }));
    if (fresh.length > 0) await new Search(context).store(transaction, fresh, done);
    // What was due since the last time is out, and not to be sent twice.
    const sent = await messages.existingIds(
      transaction,
      later.map(({ id }) => id),
    );
    const after = await messages.top(transaction);
    const waiting = later.filter(({ id }) => !sent.has(id)).map((message) => waitingOf(message, after, keepInInbox));
    return { out: done.size, later: await schedule.insertMissing(transaction, waiting), files: kept };
  });
}

function placeOf({ id, topic, time, expires = time }: Message) {
  return { id, topic, time, expires };
}

function waitingOf(message: Message, after: number, keepInInbox: boolean): DelayedMessage {
  const { sequence_id, message: body = '', encoding } = message;
  const inbox = keepInInbox && encoding === undefined ? { source: 'push', body } : undefined;
  return {
    ...placeOf(message),
    sequence: sequence_id ?? message.id,
    text: JSON.stringify(message),
    entry: inboxCopy({ inbox }, message) ?? null,
    after,
    account: null,
  };
}

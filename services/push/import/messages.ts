import * as m from '#messages/push-texts';
import type BetterSqlite3 from 'better-sqlite3';
import type { Context } from '../../contracts/service.ts';
import type { StoredFile, Message } from '../domain/message.ts';
import { buildInboxCopy } from '../publish/inbox-copy.ts';
import { Search } from '../search/search.ts';
import { AttachmentStore } from '../store/attachments.ts';
import type { MessageStore } from '../store/messages.ts';
import { DelayedMessageStore, type DelayedMessageRow } from '../store/delayed-messages.ts';
import { importFile } from './files.ts';
import { findFile, toMessage, type Row } from './message-row.ts';
import { hasTable } from './rows.ts';

const pageSize = 500;

export interface MessageImportDependencies {
  readonly context: Pick<Context, 'accounts' | 'blobs' | 'clock' | 'commit' | 'db' | 'reads'>;
  readonly messages: MessageStore;
  /** Stores delayed messages in the inbox when they are published. */
  readonly keepInInbox: boolean;
  /** Folder of ntfy's attachments; undefined without one. */
  readonly attachments: string | undefined;
}

/** Page of imported messages: published, delayed, and their files. */
interface ImportPage {
  readonly published: Message[];
  readonly delayed: Message[];
  readonly files: StoredFile[];
}

/**
 * Imports unexpired messages from ntfy's `cache.db` in order, with their attachments, and messages still to be
 * published. Returns notes for the user.
 */
export async function importMessages(
  dependencies: MessageImportDependencies,
  db: BetterSqlite3.Database,
): Promise<string[]> {
  if (!hasTable(db, 'messages')) return [];
  const now = Math.floor(dependencies.context.clock.now() / 1000);
  const select = db.prepare('SELECT * FROM messages WHERE id > ? ORDER BY id LIMIT ?');
  let [last, messageCount, delayedCount, fileCount, missingFiles] = [0, 0, 0, 0, 0];
  for (;;) {
    const rows = select.all(last, pageSize) as Row[];
    if (rows.length === 0) break;
    last = Number(rows.at(-1)?.['id']);
    const importPage: ImportPage = { published: [], delayed: [], files: [] };
    for (const row of rows) if (!(await addRow(dependencies, row, now, importPage))) missingFiles += 1;
    const stored = await store(dependencies, importPage);
    messageCount += stored.out;
    delayedCount += stored.later;
    fileCount += stored.files;
  }
  return [
    m.importedMessages({ messages: messageCount, scheduled: delayedCount, files: fileCount }),
    ...(missingFiles === 0 ? [] : [m.importFilesNotFound({ count: missingFiles })]),
  ];
}

/** Adds a row to the page. Returns false when its file is missing. */
async function addRow(
  { context, attachments }: MessageImportDependencies,
  row: Row,
  now: number,
  importPage: ImportPage,
): Promise<boolean> {
  const file = findFile(row, now);
  const hasFile = file !== undefined && (await importFile(context.blobs, attachments, file));
  const message = toMessage(row, now, hasFile);
  if (message !== undefined)
    (Number(row['published'] ?? 1) === 0 ? importPage.delayed : importPage.published).push(message);
  if (message !== undefined && hasFile) importPage.files.push(file);
  return file === undefined || hasFile;
}

async function store(
  { context, messages, keepInInbox }: MessageImportDependencies,
  { published, delayed, files: fileCount }: ImportPage,
) {
  const delayedMessages = new DelayedMessageStore(context.db);
  const attachments = new AttachmentStore(context.db);
  const rows = published.map((message) => ({ ...toColumns(message), text: JSON.stringify(message) }));
  return context.commit(async (transaction) => {
    const insertedFiles = await attachments.insertMissing(transaction, fileCount);
    const seqs = rows.length === 0 ? new Map<string, number>() : await messages.insertMissing(transaction, rows);
    const inserted = published.filter(({ id }) => seqs.has(id)).map((message) => ({ message }));
    if (inserted.length > 0) await new Search(context).store(transaction, inserted, seqs);
    // Skips messages that were published since an earlier import.
    const publishedIds = await messages.existingIds(
      transaction,
      delayed.map(({ id }) => id),
    );
    const after = await messages.top(transaction);
    const delayedRows = delayed
      .filter(({ id }) => !publishedIds.has(id))
      .map((message) => toDelayedRow(message, after, keepInInbox));
    return {
      out: seqs.size,
      later: await delayedMessages.insertMissing(transaction, delayedRows),
      files: insertedFiles,
    };
  });
}

function toColumns({ id, topic, time, expires = time }: Message) {
  return { id, topic, time, expires };
}

function toDelayedRow(message: Message, after: number, keepInInbox: boolean): DelayedMessageRow {
  const { sequence_id, message: body = '', encoding } = message;
  const inbox = keepInInbox && encoding === undefined ? { source: 'push', body } : undefined;
  return {
    ...toColumns(message),
    sequence: sequence_id ?? message.id,
    text: JSON.stringify(message),
    entry: buildInboxCopy({ inbox }, message) ?? null,
    after,
    account: null,
  };
}

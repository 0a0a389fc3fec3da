import { parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { StatementCache } from '../statements.ts';
import { maxReadBytes, type FromReader, type ReadRequest, type ReaderData, type ToReader } from './messages.ts';

/** Approximate size of a part in bytes, which the event loop receives in at most a millisecond. */
const partBytes = 128 * 1024;

type Row = Record<string, unknown>;

interface Opened {
  readonly database: Sqlite.Database;
  readonly statements: StatementCache;
}

const { abandoned } = workerData as ReaderData;
const opened = new Map<string, Opened>();
/** Parts of the current read that were not requested yet. */
let parts: Row[][] = [];

parentPort?.on('message', (message: ToReader) => {
  if ('close' in message) {
    opened.get(message.close)?.statements.close();
    opened.delete(message.close);
    answer({ closed: message.close });
  } else if ('more' in message) sendNext(message.more);
  else read(message);
});

function read(request: ReadRequest): void {
  try {
    parts = splitRows(request);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    answer({ read: request.read, message: error instanceof Error ? error.message : String(error), code });
    return;
  }
  sendNext(request.read);
}

function sendNext(id: number): void {
  const rows = parts.shift() ?? [];
  answer({ read: id, rows, last: parts.length === 0 });
}

function answer(message: FromReader): void {
  parentPort?.postMessage(message);
}

function splitRows({ read: id, file, text, values }: ReadRequest): Row[][] {
  const { database, statements } = getDatabase(file);
  const statement = statements.prepare(text) as unknown as Sqlite.Statement<unknown[], Row>;
  // The connection is read-only, but not every writing statement fails before it runs.
  if (!statement.reader || !statement.readonly) {
    throw Object.assign(new Error('context.reads only reads'), { code: 'not_a_read' });
  }
  const rows: Row[][] = [];
  let part: Row[] = [];
  let [inPart, total] = [0, 0];
  for (const row of statement.iterate(values)) {
    if (Atomics.load(abandoned, 0) === id) return [];
    const bytes = estimateBytes(row);
    inPart += bytes;
    total += bytes;
    if (total > maxReadBytes) {
      throw Object.assign(new Error(`more than ${String(maxReadBytes)} bytes from ${database.name}`), {
        code: 'too_large',
      });
    }
    part.push(row);
    if (inPart < partBytes) continue;
    rows.push(part);
    part = [];
    inPart = 0;
  }
  if (part.length > 0 || rows.length === 0) rows.push(part);
  return rows;
}

function getDatabase(file: string): Opened {
  const cached = opened.get(file);
  if (cached !== undefined) return cached;
  const database = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: 5000 });
  database.pragma('cache_size = -2048');
  const newDatabase = { database, statements: new StatementCache(database) };
  opened.set(file, newDatabase);
  return newDatabase;
}

function estimateBytes(row: Row): number {
  let bytes = 48;
  for (const name in row) {
    const value = row[name];
    bytes += typeof value === 'string' ? 32 + value.length : value instanceof Uint8Array ? 64 + value.length : 16;
  }
  return bytes;
}

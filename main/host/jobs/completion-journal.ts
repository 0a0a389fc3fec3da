import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Log } from '../../../services/contracts/service.ts';
import type { JobRow } from './table.ts';
import { parseJson } from '../../../services/contracts/parse-json.ts';

/** Completed job whose row is not updated yet. */
const JournaledEnd = z.object({
  id: z.int(),
  kind: z.string(),
  /** Identifies the row together with the id: after a restore, the id may belong to another row. */
  created: z.number(),
  result: z.unknown().optional(),
});
export type JournaledEnd = z.infer<typeof JournaledEnd>;

/** Size after which completions are written to the table immediately, so that the journal can be cleared. */
const maxBytes = 4 * 1024 * 1024;

/** The first file is written; the second may exist from an earlier version, which alternated between them. */
const fileNames = ['db.ended-1', 'db.ended-2'] as const;
const none = [0, 0] as const;

/**
 * Completions of jobs that are not in the table yet, one JSON object per line. Each entry begins with its line break,
 * so that half a line of a full disk or a crash does not damage the next entry. A line costs a hundredth of a
 * transaction and, like an unsynced transaction, survives the end of the process; so the table can take many
 * completions at once. Entries that the table already has are ignored. Entries of the previous process are at the
 * head and may stay there for years, until a handler for their kind exists. Later entries are added and cleared
 * independently.
 */
export class CompletionJournal implements Disposable {
  /** Entries of the previous process. */
  readonly previousEnds: readonly JournaledEnd[];
  readonly #files: readonly [number, number];
  readonly #log: Log;
  /** Size of the previous entries in each file, in bytes. */
  #heads: readonly [number, number];
  /** Bytes after the previous entries. */
  #added = 0;
  #isClosed = false;

  /** Opens the journal in a folder; existing entries are in `left`, and remain until `clear`. */
  constructor(folder: string, log: Log) {
    const [first, second] = fileNames.map((name) => join(folder, name)) as [string, string];
    this.previousEnds = [first, second].flatMap((file) => parseEnds(readText(file)));
    this.#files = [openSync(first, 'a', 0o600), openSync(second, 'a', 0o600)];
    this.#heads = [fstatSync(this.#files[0]).size, fstatSync(this.#files[1]).size];
    this.#log = log;
  }

  /** Adds a completion. Returns false when it could not be written and the table must be updated immediately. */
  add({ id, kind, created_at }: JobRow, result: unknown): boolean {
    if (this.#isClosed || this.#added > maxBytes) return false;
    try {
      const line = `\n${JSON.stringify({ id, kind, created: created_at, result })}`;
      const bytesWritten = writeSync(this.#files[0], line);
      this.#added += bytesWritten;
      return bytesWritten === Buffer.byteLength(line);
    } catch (error) {
      this.#log.debug('job completion not journaled', { error });
      return false;
    }
  }

  /** Call when all added entries are in the table; `keepsLeft`: some previous entries are not. */
  clear(keepsLeft: boolean): void {
    const heads = keepsLeft ? this.#heads : none;
    if (this.#added === 0 && heads === this.#heads) return;
    try {
      for (const index of [0, 1] as const) ftruncateSync(this.#files[index], heads[index]);
      this.#added = 0;
      this.#heads = heads;
    } catch (error) {
      this.#log.debug('job journal not cleared', { error });
    }
  }

  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const file of this.#files) closeSync(file);
  }
}

/** Returns an empty text for a missing file. */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

function parseEnds(text: string): readonly JournaledEnd[] {
  // The last line may be incomplete.
  return text.split('\n').flatMap((line) => JournaledEnd.safeParse(parseJson(line)).data ?? []);
}

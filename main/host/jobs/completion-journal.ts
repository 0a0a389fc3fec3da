import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Log } from '../../../services/contracts/service.ts';
import type { JobRow } from './table.ts';

/** A job that was done while the table did not say so yet. */
const JournaledEnd = z.object({
  id: z.int(),
  kind: z.string(),
  /** With the id: which row is meant. A table from a backup may have given the id to another. */
  created: z.number(),
  result: z.unknown().optional(),
});
export type JournaledEnd = z.infer<typeof JournaledEnd>;

/** Where so much was added, ends are written to the table at once, after which it can be cleared. */
const mostBytes = 4 * 1024 * 1024;

/** The first is written; the second may be left by an earlier version, which wrote them by turns. */
const names = ['db.ended-1', 'db.ended-2'] as const;
const none = [0, 0] as const;

/**
 * Ends of jobs that are not in the table yet, one JSON object a line. Each begins with its line break, so that half a line
 * that a full disk or a kill left spoils no other. A line costs a hundredth of a transaction, and like one that is not
 * synced it survives the end of the process; so the table can take many ends at once. A line of an end that the table has
 * by now says nothing any more. What the process before left stands at the head, and may wait there for years: for who
 * works its kind. What is added behind it comes and goes all the same.
 */
export class CompletionJournal implements Disposable {
  /** What the process before left. */
  readonly left: readonly JournaledEnd[];
  readonly #files: readonly [number, number];
  readonly #log: Log;
  /** Bytes of what was left in each file. */
  #heads: readonly [number, number];
  /** Bytes behind them. */
  #added = 0;
  #isClosed = false;

  /** Opens the journal in a folder; what is there is `left`, and stays there until `clear` says otherwise. */
  constructor(folder: string, log: Log) {
    const [first, second] = names.map((name) => join(folder, name)) as [string, string];
    this.left = [first, second].flatMap((file) => endsIn(readText(file)));
    this.#files = [openSync(first, 'a', 0o600), openSync(second, 'a', 0o600)];
    this.#heads = [fstatSync(this.#files[0]).size, fstatSync(this.#files[1]).size];
    this.#log = log;
  }

  /** Notes that a job is done. False when that could not be written, and the table has to be told at once. */
  add({ id, kind, created_at }: JobRow, result: unknown): boolean {
    if (this.#isClosed || this.#added > mostBytes) return false;
    try {
      const line = `\n${JSON.stringify({ id, kind, created: created_at, result })}`;
      const written = writeSync(this.#files[0], line);
      this.#added += written;
      return written === Buffer.byteLength(line);
    } catch (error) {
      this.#log.debug('the end of a job could not be noted beside its table', { error });
      return false;
    }
  }

  /** Call when all that was added is in the table; `keepsLeft`: not all that was left is. */
  clear(keepsLeft: boolean): void {
    const heads = keepsLeft ? this.#heads : none;
    if (this.#added === 0 && heads === this.#heads) return;
    try {
      for (const at of [0, 1] as const) ftruncateSync(this.#files[at], heads[at]);
      this.#added = 0;
      this.#heads = heads;
    } catch (error) {
      this.#log.debug('the noted ends of jobs could not be cleared', { error });
    }
  }

  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const file of this.#files) closeSync(file);
  }
}

/** Empty for a file that is not there. */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

function endsIn(text: string): readonly JournaledEnd[] {
  return text.split('\n').flatMap((line) => {
    try {
      return JournaledEnd.safeParse(JSON.parse(line)).data ?? [];
    } catch (error) {
      // Half a line, or none.
      if (error instanceof SyntaxError) return [];
      throw error;
    }
  });
}

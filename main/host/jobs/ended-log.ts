import { closeSync, ftruncateSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Log } from '../../../services/contracts/service.ts';
import type { JobRow } from './table.ts';

/** A job that was done while the table did not say so yet. */
const Left = z.object({
  id: z.int(),
  kind: z.string(),
  /** With the id: which row is meant. A table from a backup may have given the id to another. */
  created: z.number(),
  result: z.unknown().optional(),
});
export type LeftEnd = z.infer<typeof Left>;

/** Past this size ends are written to the table at once: something keeps it from taking them. */
const mostBytes = 4 * 1024 * 1024;

const names = ['db.ended-1', 'db.ended-2'] as const;

/**
 * Ends of jobs that are not in the table yet, one JSON object a line. A line costs a hundredth of a transaction, and like
 * one that is not synced it survives the end of the process; so the table can take many ends at once. There are two files:
 * one is written while the ends in the other go into the table.
 */
export class EndedLog implements Disposable {
  /** What the process before left. */
  readonly left: readonly LeftEnd[];
  readonly #files: readonly [number, number];
  readonly #log: Log;
  /** Which of the two is written. */
  #current: 0 | 1 = 1;
  readonly #sizes: [number, number] = [0, 0];
  #closed = false;

  private constructor(left: readonly LeftEnd[], files: readonly [number, number], log: Log) {
    this.left = left;
    this.#files = files;
    this.#log = log;
    this.#sizes[0] = left.length;
  }

  /** Opens the log in a folder; what is there is `left`, and stays there until `stored` is called. */
  static open(folder: string, log: Log): EndedLog {
    const [first, second] = names.map((name) => join(folder, name)) as [string, string];
    const left = [first, second].flatMap(read);
    // Together in the first, and the second is free to be written.
    const made = `${first}.new`;
    writeFileSync(made, left.map((end) => `${JSON.stringify(end)}\n`).join(''), { mode: 0o600 });
    renameSync(made, first);
    writeFileSync(second, '', { mode: 0o600 });
    return new EndedLog(left, [openSync(first, 'a', 0o600), openSync(second, 'a', 0o600)], log);
  }

  /** Notes that a job is done. False when that could not be written, and the table has to be told at once. */
  add({ id, kind, created_at }: JobRow, result: unknown): boolean {
    if (this.#closed || this.#sizes[this.#current] > mostBytes) return false;
    try {
      const line = `${JSON.stringify({ id, kind, created: created_at, result })}\n`;
      // What was written of a line on a full disk is no JSON, so it is passed over.
      const size = Buffer.byteLength(line);
      const written = writeSync(this.#files[this.#current], line);
      this.#sizes[this.#current] += written;
      if (written === size) return true;
      writeSync(this.#files[this.#current], '\n');
      return false;
    } catch (error) {
      this.#log.debug('the end of a job could not be noted beside its table', { error });
      return false;
    }
  }

  /** Call when all ends so far are about to be stored: later ones are kept apart, if the other file is free. */
  turnOver(): void {
    const other = this.#current === 0 ? 1 : 0;
    if (this.#sizes[other] === 0) this.#current = other;
  }

  /** Call when all that was added before the last `turnOver`, and all that was left, is in the table. */
  stored(): void {
    const other = this.#current === 0 ? 1 : 0;
    if (this.#sizes[other] === 0) return;
    try {
      ftruncateSync(this.#files[other]);
      this.#sizes[other] = 0;
    } catch (error) {
      this.#log.debug('the noted ends of jobs could not be cleared', { error });
    }
  }

  [Symbol.dispose](): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const file of this.#files) closeSync(file);
  }
}

function read(file: string): readonly LeftEnd[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
  return text.split('\n').flatMap((line) => {
    try {
      return Left.safeParse(JSON.parse(line)).data ?? [];
    } catch (error) {
      // The last line of a process that was killed, or of a disk that was full.
      if (error instanceof SyntaxError) return [];
      throw error;
    }
  });
}

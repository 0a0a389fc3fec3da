import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
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
export type JournaledEnd = z.infer<typeof Left>;

/** Past this size ends are written to the table at once: something keeps it from taking them. */
const mostBytes = 4 * 1024 * 1024;

const names = ['db.ended-1', 'db.ended-2'] as const;

/**
 * Ends of jobs that are not in the table yet, one JSON object a line. Each begins with its line break, so that half a line
 * that a full disk or a kill left spoils no other. A line costs a hundredth of a transaction, and like
 * one that is not synced it survives the end of the process; so the table can take many ends at once. There are two files:
 * one is written while the ends in the other go into the table.
 */
export class CompletionJournal implements Disposable {
  /** What the process before left. */
  readonly left: readonly JournaledEnd[];
  readonly #files: readonly [number, number];
  readonly #log: Log;
  /** Which of the two is written. */
  #current: 0 | 1;
  /** Bytes. */
  readonly #sizes: [number, number];
  #closed = false;

  /** Opens the log in a folder; what is there is `left`, and stays there until `stored` is called. */
  constructor(folder: string, log: Log) {
    const [first, second] = names.map((name) => {
      const path = join(folder, name);
      const text = readText(path);
      return { file: openSync(path, 'a', 0o600), size: Buffer.byteLength(text), ends: endsIn(text) };
    }) as [Opened, Opened];
    this.left = [...first.ends, ...second.ends];
    this.#files = [first.file, second.file];
    this.#sizes = [first.size, second.size];
    this.#current = second.size === 0 ? 1 : 0;
    this.#log = log;
  }

  /** Notes that a job is done. False when that could not be written, and the table has to be told at once. */
  add({ id, kind, created_at }: JobRow, result: unknown): boolean {
    if (this.#closed || this.#sizes[this.#current] > mostBytes) return false;
    try {
      const line = `\n${JSON.stringify({ id, kind, created: created_at, result })}`;
      const written = writeSync(this.#files[this.#current], line);
      this.#sizes[this.#current] += written;
      return written === Buffer.byteLength(line);
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

interface Opened {
  readonly file: number;
  readonly size: number;
  readonly ends: readonly JournaledEnd[];
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
      return Left.safeParse(JSON.parse(line)).data ?? [];
    } catch (error) {
      // Half a line, or none.
      if (error instanceof SyntaxError) return [];
      throw error;
    }
  });
}

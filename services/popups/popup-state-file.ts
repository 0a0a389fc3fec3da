import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { Log } from '../contracts/service.ts';
import { SavedPushTopics } from './push-topics.ts';
import { SavedTally } from './tally.ts';

const SavedBrief = z.object({
  id: z.int(),
  title: z.string(),
  body: z.string(),
  source: z.string(),
  priority: z.int(),
  link: z.string().nullable(),
  repeatMinutes: z.number().nullable().default(null),
});

/** What must outlive the process: the pause, what is held, which urgent messages nobody has seen. */
const Remembered = z.object({
  pausedUntil: z.number().nullable().default(null),
  held: SavedTally.default({ rows: [], more: 0 }),
  topics: SavedPushTopics.default({ rules: { rules: [], zone: null, follows: null }, held: {} }),
  urgent: z.array(SavedBrief).default([]),
});
export type Remembered = z.infer<typeof Remembered>;

/** ms between two writes: a storm of messages must not become a storm of writes. */
const rest = 50;

/** A small file that follows a state: each write takes the newest, one write at a time, whole or not at all. */
export class PopupMemory {
  readonly #file: string;
  readonly #log: Log;
  readonly #state: () => Remembered;
  #writing: Promise<void> | undefined;
  #stale = false;
  #failed = false;

  constructor(file: string, log: Log, state: () => Remembered) {
    this.#file = file;
    this.#log = log;
    this.#state = state;
  }

  /** What the file says; nothing where there is none, and, with a line in the log, where it cannot be read. */
  static async read(file: string, log: Log): Promise<Remembered> {
    try {
      return Remembered.parse(JSON.parse(await readFile(file, 'utf8')));
    } catch (error) {
      const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      if (!missing) log.warn('held popups could not be read; they are in the inbox', { error });
      return Remembered.parse({});
    }
  }

  /** The state changed. */
  save(): void {
    this.#stale = true;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
      // Changed after the last look, when this was over but for its last steps.
      if (this.#stale) this.save();
    });
  }

  /** Resolves once the newest state is in the file, or could not be written. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#stale) {
      this.#stale = false;
      try {
        await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
        const fresh = `${this.#file}.new`;
        await writeFile(fresh, JSON.stringify(this.#state()), { mode: 0o600 });
        await rename(fresh, this.#file);
        this.#failed = false;
      } catch (error) {
        // On a full disk the process still knows; only a restart would forget.
        if (!this.#failed) this.#log.warn('held popups could not be saved', { error });
        this.#failed = true;
      }
      await pause(rest);
    }
  }
}

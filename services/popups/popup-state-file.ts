import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { replaceFile } from '../kit/platform/file-replacement.ts';
import type { Log } from '../contracts/service.ts';
import { SavedPushTopics } from './push-topics.ts';
import { SavedTally } from './tally.ts';
import { parseJson } from '../contracts/parse-json.ts';
import { CoalescedRun } from '../kit/coalesced-run.ts';

const SavedBrief = z.object({
  id: z.int(),
  title: z.string(),
  body: z.string(),
  source: z.string(),
  priority: z.int(),
  link: z.string().nullable(),
  repeatMinutes: z.number().nullable().default(null),
});

/** State that must survive a restart: the pause, held messages and unread urgent messages. */
const SavedPopupState = z.object({
  pausedUntil: z.number().nullable().default(null),
  held: SavedTally.default({ rows: [], more: 0 }),
  topics: SavedPushTopics.default({ rules: { rules: [], zone: null, muted: [], follows: null }, held: {} }),
  urgent: z.array(SavedBrief).default([]),
});
export type SavedPopupState = z.infer<typeof SavedPopupState>;

/** Delay in ms between writes, which limits writes during a burst of messages. */
const writeDelayMs = 50;

/** Persists a state in a small file. Each write contains the newest state and replaces the file atomically. */
export class PopupStateFile {
  readonly #file: string;
  readonly #log: Log;
  readonly #state: () => SavedPopupState;
  readonly #writes = new CoalescedRun(() => this.#write());
  #hasFailed = false;

  constructor(file: string, log: Log, state: () => SavedPopupState) {
    this.#file = file;
    this.#log = log;
    this.#state = state;
  }

  /** Reads the file. Returns defaults when it does not exist, or, after a warning, when it is invalid. */
  static async read(file: string, log: Log): Promise<SavedPopupState> {
    try {
      return SavedPopupState.parse(parseJson(await readFile(file, 'utf8')));
    } catch (error) {
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      if (!isMissing) log.warn('popup state read failed', { error });
      return SavedPopupState.parse({});
    }
  }

  /** Schedules a write of the changed state. */
  save(): void {
    this.#writes.request();
  }

  /** Resolves when the newest state is written or the write has failed. */
  async flush(): Promise<void> {
    await this.#writes.settled();
  }

  async #write(): Promise<void> {
    try {
      await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
      const temporaryFile = `${this.#file}.new`;
      await writeFile(temporaryFile, JSON.stringify(this.#state()), { mode: 0o600 });
      await replaceFile(temporaryFile, this.#file);
      this.#hasFailed = false;
    } catch (error) {
      // On a full disk, the state is kept in memory until a restart.
      if (!this.#hasFailed) this.#log.warn('popup state write failed', { error });
      this.#hasFailed = true;
    }
    await pause(writeDelayMs);
  }
}

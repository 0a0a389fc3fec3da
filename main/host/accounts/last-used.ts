import type { Clock, Context, Log } from '../../../services/contracts/service.ts';
import type { Credential } from './directory.ts';
import type { SessionLimit } from './session-limit.ts';
import type { Db } from './store.ts';
import type { SessionRow, TokenRow } from './tables.ts';

/** Delay in ms by which uses are collected for one write. */
const batchMs = 5000;
/** Minimum interval in ms between writes of one session. */
const sessionWriteIntervalMs = 60 * 60 * 1000;

/** Writes the last use of tokens and sessions asynchronously. */
export class LastUsed implements AsyncDisposable {
  readonly #commit: Context['commit'];
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #limit: SessionLimit;
  #tokens = new Map<string, TokenRow>();
  #sessions = new Map<string, SessionRow>();
  #timer: Disposable | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(commit: Context['commit'], clock: Clock, log: Log, limit: SessionLimit) {
    this.#limit = limit;
    this.#commit = commit;
    this.#clock = clock;
    this.#log = log;
  }

  tokenUsed({ row }: Credential<TokenRow>, from: string): void {
    row.last_used_at = this.#clock.now();
    row.last_used_from = from.slice(0, 64);
    this.#tokens.set(row.id, row);
    this.#schedule();
  }

  /** Extends the session, at most hourly. */
  sessionUsed({ row }: Credential<SessionRow>): void {
    const now = this.#clock.now();
    if (now - row.used_at < sessionWriteIntervalMs) return;
    row.used_at = now;
    row.expires_at = this.#limit.expiry(row.created_at, now);
    this.#sessions.set(row.id, row);
    this.#schedule();
  }

  #schedule(): void {
    this.#timer ??= this.#clock.after(batchMs, () => this.#write());
  }

  #write(): void {
    this.#timer = undefined;
    const tokens = [...this.#tokens.values()].map((row) => ({ ...row }));
    const sessions = [...this.#sessions.values()].map((row) => ({ ...row }));
    this.#tokens = new Map();
    this.#sessions = new Map();
    this.#writing = this.#commit((db: Db) => writeUses(db, tokens, sessions)).catch((error: unknown) => {
      // A lost use is harmless; the next one is written again.
      this.#log.warn('credential last use not saved', { error });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    if (this.#tokens.size + this.#sessions.size > 0) this.#write();
    await this.#writing;
  }
}

async function writeUses(db: Db, tokens: readonly TokenRow[], sessions: readonly SessionRow[]): Promise<void> {
  for (const { id, last_used_at, last_used_from } of tokens) {
    await db.updateTable('tokens').set({ last_used_at, last_used_from }).where('id', '=', id).execute();
  }
  for (const { id, used_at, expires_at } of sessions) {
    await db
      .updateTable('sessions')
      .set({ used_at, expires_at })
      .where('id', '=', id)
      .where('used_at', '<', used_at)
      .execute();
  }
}

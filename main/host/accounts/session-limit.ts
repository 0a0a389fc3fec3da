import { sessionIdleMs } from './secrets.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Limits sessions by an idle lifetime and by the configured number of days since the sign-in. */
export class SessionLimit {
  readonly #days: () => number;

  /** @param days called for each use, since the setting may change */
  constructor(days: () => number) {
    this.#days = days;
  }

  /** Returns the expiry of a session opened at `createdAt` and used now. */
  expiry(createdAt: number, now: number): number {
    return Math.min(now + sessionIdleMs, this.#latest(createdAt));
  }

  /** The time at which a session ends unless it is used again; the setting may have changed since it was opened. */
  end(row: { readonly created_at: number; readonly expires_at: number }): number {
    return Math.min(row.expires_at, this.#latest(row.created_at));
  }

  isOver(row: { readonly created_at: number; readonly expires_at: number }, now: number): boolean {
    return this.end(row) <= now;
  }

  #latest(createdAt: number): number {
    return createdAt + this.#days() * dayMs;
  }
}

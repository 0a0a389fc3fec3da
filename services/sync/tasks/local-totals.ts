import type { Clock } from '../../contracts/service.ts';
import type { StoredFailure } from '../domain/failure-cause.ts';
import { addStats, type Stats } from '../domain/stats.ts';

/** Event of the built-in engine. */
export type LocalEvent =
  | { readonly kind: 'listed'; readonly entries: number }
  | { readonly kind: 'planned'; readonly files: readonly { readonly path: string; readonly size: number }[] }
  | { readonly kind: 'started' | 'copied' | 'removed' | 'checked'; readonly path: string; readonly size: number }
  | { readonly kind: 'removedFolder' }
  | ({ readonly kind: 'failed'; readonly path: string } & StoredFailure);

/** Entry of `core/transferred`. */
export interface TransferredFile {
  readonly error: string;
  readonly name: string;
  readonly size: number;
  readonly bytes: number;
  readonly checked: boolean;
  readonly what: 'transferring' | 'checking' | 'deleting';
  readonly started_at: string;
  readonly completed_at: string;
}

/** rclone's default number of transferred files. */
const maxTransferred = 100;

/** Counts events of the built-in engine in the format of rclone's `core/stats` and `core/transferred`. */
export class LocalTotals {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #startedAt: number;
  readonly #running = new Map<string, { readonly size: number; readonly startedAt: number }>();
  readonly #transferred: TransferredFile[] = [];
  readonly #totals = {
    bytes: 0,
    totalBytes: 0,
    transfers: 0,
    totalTransfers: 0,
    checks: 0,
    totalChecks: 0,
    deletes: 0,
    deletedDirs: 0,
    listed: 0,
    errors: 0,
    transferTime: 0,
  };
  #lastError: string | undefined;
  #endedAt: number | undefined;

  constructor(clock: Pick<Clock, 'now'>, startedAt: number) {
    this.#clock = clock;
    this.#startedAt = startedAt;
  }

  get transferred(): readonly TransferredFile[] {
    return this.#transferred;
  }

  get stats(): Stats {
    const elapsedTime = ((this.#endedAt ?? this.#clock.now()) - this.#startedAt) / 1000;
    const { bytes, totalBytes } = this.#totals;
    const speed = elapsedTime > 0 && bytes > 0 ? bytes / elapsedTime : 0;
    const eta = speed > 0 && totalBytes > bytes ? Math.round((totalBytes - bytes) / speed) : null;
    const transferring = [...this.#running].map(([name, { size }]) => ({ name, size, bytes: 0, percentage: 0 }));
    return addStats([
      {
        ...this.#totals,
        elapsedTime,
        speed,
        eta,
        ...(this.#lastError === undefined ? {} : { lastError: this.#lastError }),
        ...(transferring.length === 0 ? {} : { transferring }),
      },
    ]);
  }

  /** Stops the timer of the totals. */
  end(): void {
    this.#endedAt ??= this.#clock.now();
  }

  addEvent(event: LocalEvent): void {
    const totals = this.#totals;
    switch (event.kind) {
      case 'listed':
        totals.listed += event.entries;
        return;
      case 'planned':
        totals.totalTransfers += event.files.length;
        totals.totalBytes += event.files.reduce((sum, { size }) => sum + size, 0);
        return;
      case 'started':
        this.#running.set(event.path, { size: event.size, startedAt: this.#clock.now() });
        return;
      case 'copied':
        totals.transfers += 1;
        totals.bytes += event.size;
        this.#finishTransfer(event.path, event.size);
        return;
      case 'removedFolder':
        totals.deletedDirs += 1;
        return;
      case 'failed':
        this.#addFailure(event.path, event.error);
        return;
      case 'removed':
        totals.deletes += 1;
        this.#addCheck(event.path, event.size, 'deleting');
        return;
      case 'checked':
        this.#addCheck(event.path, event.size, 'checking');
    }
  }

  #addCheck(name: string, size: number, action: TransferredFile['what']): void {
    this.#totals.checks += 1;
    this.#totals.totalChecks += 1;
    const now = new Date(this.#clock.now()).toISOString();
    this.#addTransferred({
      error: '',
      name,
      size,
      bytes: 0,
      checked: true,
      what: action,
      started_at: now,
      completed_at: now,
    });
  }

  #finishTransfer(name: string, bytes: number, error = ''): void {
    const now = this.#clock.now();
    const { size, startedAt } = this.#running.get(name) ?? { size: bytes, startedAt: now };
    this.#running.delete(name);
    this.#totals.transferTime += (now - startedAt) / 1000;
    this.#addTransferred({
      error,
      name,
      size,
      bytes,
      checked: false,
      what: 'transferring',
      started_at: new Date(startedAt).toISOString(),
      completed_at: new Date(now).toISOString(),
    });
  }

  #addFailure(path: string, error: string): void {
    this.#totals.errors += 1;
    this.#lastError = error;
    if (this.#running.has(path)) this.#finishTransfer(path, 0, error);
  }

  #addTransferred(file: TransferredFile): void {
    this.#transferred.push(file);
    if (this.#transferred.length > maxTransferred) this.#transferred.shift();
  }
}

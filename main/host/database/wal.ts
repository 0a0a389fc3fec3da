import { open, type FileHandle } from 'node:fs/promises';
import type { Log } from '../../../services/contracts/service.ts';

/** How long a commit that nobody waits for may stay off the disk; PostgreSQL's own log writer takes about as long. */
const laterMs = 200;

/** Brings the write-ahead log of an SQLite database to the disk. */
export interface Wal extends AsyncDisposable {
  /** Resolves when all that was committed before the call is on the disk. */
  sync(): Promise<void>;
  /** Does the same a little later, once for all calls until then. */
  syncSoon(): void;
}

/**
 * SQLite by itself syncs within COMMIT, on the event loop, which stands still for as long as the disk takes. This syncs
 * the same file on a thread of the pool: with `synchronous = NORMAL` the sync after a commit is the only one SQLite
 * leaves out, those around checkpoints and at the log's beginning stay (https://sqlite.org/pragma.html#pragma_synchronous).
 * SQLite holds no lock on this file that closing it here could drop.
 *
 * After a sync that failed the system may take pages for clean that never reached the disk, and the next sync would
 * succeed without them. From then on `checkpoint` stands for the sync, until it has moved all into the database itself.
 */
export function openWal(file: string, checkpoint: () => Promise<void>, log: Log): Wal {
  let opened: Promise<FileHandle> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let doubtful = false;

  const datasync = async (): Promise<void> => {
    // Windows syncs only what was opened for writing.
    opened ??= open(file, 'r+');
    try {
      await (await opened).datasync();
    } catch (error) {
      log.warn('the disk refuses to sync, trying a checkpoint', { error });
      doubtful = true;
    }
  };

  const sync = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    if (!doubtful) await datasync();
    // Also when it was another's sync that failed meanwhile.
    if (!doubtful) return;
    await checkpoint();
    doubtful = false;
  };

  return {
    sync,
    syncSoon() {
      timer ??= setTimeout(() => {
        sync().catch((error: unknown) => log.warn('the disk refuses a checkpoint', { error }));
      }, laterMs).unref();
    },
    async [Symbol.asyncDispose]() {
      clearTimeout(timer);
      const [handle] = await Promise.allSettled([opened]);
      if (handle.status === 'fulfilled') await handle.value?.close();
    },
  };
}

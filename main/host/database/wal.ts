import { open, type FileHandle } from 'node:fs/promises';
import type { Log } from '../../../services/contracts/service.ts';

/** Maximum delay of the sync of a commit that is not durable; PostgreSQL's log writer takes about as long. */
const checkpointDelayMs = 200;

/** Syncs the write-ahead log of an SQLite database. */
export interface Wal extends AsyncDisposable {
  /** Resolves when everything committed before the call is on the disk. */
  sync(): Promise<void>;
  /** Schedules a sync for all calls until then. */
  scheduleSync(): void;
}

/**
 * Opens the write-ahead log. SQLite itself syncs within COMMIT, which blocks the event loop for as long as the disk
 * takes. This syncs the same file on a thread of the pool: with `synchronous = NORMAL` SQLite only omits the sync
 * after a commit, not those around checkpoints and at the log's beginning
 * (https://sqlite.org/pragma.html#pragma_synchronous). SQLite has no lock on this file that closing it here could
 * release.
 * After a failed sync the system may consider pages clean that never reached the disk, and the next sync would
 * succeed without them. From then on `checkpoint` replaces the sync, until it has moved everything into the database.
 */
export function openWal(file: string, checkpoint: () => Promise<void>, log: Log): Wal {
  let opened: Promise<FileHandle> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isSyncUnreliable = false;

  const datasync = async (): Promise<void> => {
    // Windows syncs only files that are opened for writing.
    opened ??= open(file, 'r+');
    try {
      await (await opened).datasync();
    } catch (error) {
      log.warn('disk sync failed, trying checkpoint', { error });
      isSyncUnreliable = true;
    }
  };

  const sync = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    if (!isSyncUnreliable) await datasync();
    // Also when the sync of another caller failed in the meantime.
    if (!isSyncUnreliable) return;
    await checkpoint();
    isSyncUnreliable = false;
  };

  return {
    sync,
    scheduleSync() {
      timer ??= setTimeout(() => {
        sync().catch((error: unknown) => log.warn('database checkpoint failed', { error }));
      }, checkpointDelayMs).unref();
    },
    async [Symbol.asyncDispose]() {
      clearTimeout(timer);
      const [handle] = await Promise.allSettled([opened]);
      if (handle.status === 'fulfilled') await handle.value?.close();
    },
  };
}

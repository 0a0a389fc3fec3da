import { readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type {
  BackupAge,
  BackupContents,
  BackupFile,
  BackupStore,
} from '../../../services/contracts/control/backups.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock, Log } from '../../../services/contracts/service.ts';
import type { Manifest } from './archive.ts';
import { makeBackupFolder, receiveBackup, removeIncomplete } from './arrival.ts';
import { readBackupInThread, writeBackupInThread } from './beside.ts';
import { stageFormer } from './restore.ts';
import { listSetAside, removeLeftovers, setAsidePath, removeFromList } from './set-aside.ts';
import type { ServicePart } from './write.ts';

export interface BackupStoreOptions {
  readonly dataDir: string;
  /** Parts that running services back up themselves. */
  readonly parts: () => readonly ServicePart[];
  /** Called for each use, so that a change takes effect immediately. */
  readonly settings: () => {
    readonly backupFolder: string;
    readonly backupEveryDays: number;
    readonly backupKeep: number;
    readonly databaseUrl: string;
  };
  readonly clock: Clock;
  readonly log: Log;
  /** Called with the name of each backup that the schedule made. */
  readonly onScheduled: (name: string) => void;
  /** Ends this host and opens another one on the same data folder. */
  readonly restartHost: () => void;
}

const msPerHour = 3_600_000;
const msPerDay = 24 * msPerHour;
/** Maximum age of the newest backup in days: without automatic backups, and before the first one. */
const maxAgeDays = { withoutRhythm: 30, withoutAny: 7 };
/** Names of the store's backups with the time in UTC; other files in the folder are ignored. */
const backupName = /^homeport-\d{4}-\d\d-\d\d-\d{6}(-\d+)?\.tar\.gz$/;

/** Opens the folder of manual and automatic backups. */
export function openBackups({
  dataDir,
  settings,
  clock,
  log,
  parts,
  onScheduled,
  restartHost,
}: BackupStoreOptions): BackupStore & AsyncDisposable {
  const folder = (): string =>
    settings().backupFolder || join(dirname(resolve(dataDir)), `${basename(resolve(dataDir))}-backups`);
  let making: Promise<BackupFile> | undefined;
  let restoring: Promise<unknown> | undefined;

  const list = async (): Promise<readonly BackupFile[]> => {
    const names = await readdir(folder()).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    const contents = names
      .filter((name) => backupName.test(name))
      .map(async (name) => {
        const { size, mtimeMs } = await stat(join(folder(), name));
        return { name, bytes: size, createdAt: Math.round(mtimeMs) };
      });
    return (await Promise.all(contents)).sort((a, b) => b.createdAt - a.createdAt || b.name.localeCompare(a.name));
  };

  const age = async (): Promise<BackupAge> => {
    const [newest] = await list();
    const { backupEveryDays } = settings();
    // Automatic backups may be a day late.
    const rhythm = backupEveryDays > 0 ? backupEveryDays + 1 : undefined;
    const { birthtimeMs } = await stat(dataDir);
    const limit = rhythm ?? (newest === undefined ? maxAgeDays.withoutAny : maxAgeDays.withoutRhythm);
    const since = newest?.createdAt ?? birthtimeMs;
    return { newestAt: newest?.createdAt ?? null, isOld: clock.now() - since > limit * msPerDay };
  };

  const path = async (name: string): Promise<string> => {
    // Only listed names, so that a name cannot leave the folder.
    if ((await list()).some((backup) => backup.name === name)) return join(folder(), name);
    throw new Problem('backup.unknown', 404, 'There is no such backup any more.');
  };

  /** Assigned names: concurrent uploads must not get the same one, and the list may be older. */
  const assignedNames = new Set<string>();
  /** Returns an unused name for a backup with this creation time. */
  const freeName = async (createdAt: number): Promise<string> => {
    const stamp = new Date(createdAt).toISOString().slice(0, 19).replace('T', '-').replaceAll(':', '');
    const backup = new Set((await list()).map(({ name }) => name));
    let name = `homeport-${stamp}.tar.gz`;
    for (let next = 2; backup.has(name) || assignedNames.has(name); next += 1)
      name = `homeport-${stamp}-${String(next)}.tar.gz`;
    assignedNames.add(name);
    return name;
  };

  const write = async (): Promise<BackupFile> => {
    const target = folder();
    await makeBackupFolder(target);
    // The name, the archive and the file have the same creation time, so that another computer lists it identically.
    const createdAt = clock.now();
    const name = await freeName(createdAt);
    const tables = settings().databaseUrl === '' ? 'here' : 'elsewhere';
    const { bytes, files } = await writeBackupInThread(
      { dataDir, file: join(target, name), tables, createdAt },
      parts(),
    );
    log.info('backup written', { name, bytes, files });
    await utimes(join(target, name), new Date(createdAt), new Date(createdAt));
    return { name, bytes, createdAt };
  };

  const refuseWhileRestoring = (): void => {
    if (restoring !== undefined) throw new Problem('backup.running', 409, 'A backup is being restored.');
  };
  const refuseWhileBusy = (): void => {
    if (making !== undefined) throw new Problem('backup.running', 409, 'A backup is being written already.');
    refuseWhileRestoring();
  };

  const make = (): Promise<BackupFile> => {
    refuseWhileBusy();
    making = write().finally(() => (making = undefined));
    return making;
  };

  const makeWhenDue = async (): Promise<void> => {
    const { backupEveryDays, backupKeep } = settings();
    if (backupEveryDays === 0 || making !== undefined || restoring !== undefined) return;
    const [newest] = await list();
    if (newest !== undefined && clock.now() - newest.createdAt < backupEveryDays * msPerDay) return;
    onScheduled((await make()).name);
    for (const { name } of (await list()).slice(backupKeep)) await rm(join(folder(), name), { force: true });
  };
  const calmly = (): void => {
    makeWhenDue().catch((error: unknown) => log.error('backup failed', { error }));
  };
  const timer = clock.every(msPerHour, calmly);
  const first = clock.after(60_000, calmly);
  removeLeftovers(dataDir).catch((error: unknown) => log.warn('backup leftovers not removed', { error }));

  removeIncomplete(folder(), clock.now()).catch((error: unknown) =>
    log.warn('incomplete uploads not removed', { error }),
  );

  return {
    folder,
    list,
    getAge: age,
    getPath: path,
    create: async () => make(),
    async receive(incoming) {
      const { file, createdAt } = await receiveBackup(folder(), incoming);
      const name = await freeName(createdAt);
      await rename(file, join(folder(), name));
      const { size } = await stat(join(folder(), name));
      log.info('backup uploaded', { name, bytes: size });
      return { name, bytes: size, createdAt };
    },
    async remove(name) {
      await rm(await path(name), { force: true });
      assignedNames.delete(name);
      log.info('backup removed', { name });
    },
    contents: async (name) => toContents(await readBackupInThread({ file: await path(name) })),
    async restore(name) {
      const file = await path(name);
      refuseWhileBusy();
      restoring = readBackupInThread({ file, stageIn: dataDir });
      try {
        await restoring;
      } catch (error) {
        restoring = undefined;
        throw error;
      }
      log.warn('restore staged, host restarts', { name });
      // The response to the current request goes through a service that ends with this.
      setImmediate(restartHost);
    },
    setAside: () => listSetAside(dataDir),
    async restoreSetAside(name) {
      const former = await setAsidePath(dataDir, name);
      refuseWhileBusy();
      stageFormer(dataDir, former);
      restoring = Promise.resolve();
      log.warn('set-aside data staged, host restarts', { name });
      setImmediate(restartHost);
    },
    async removeSetAside(name) {
      const former = await setAsidePath(dataDir, name);
      refuseWhileRestoring();
      await rm(removeFromList(dataDir, former), { recursive: true, force: true });
      log.info('set-aside data removed', { name });
    },
    async [Symbol.asyncDispose]() {
      timer[Symbol.dispose]();
      first[Symbol.dispose]();
      // Otherwise a partly written backup would be discarded.
      await Promise.allSettled([making, restoring]);
    },
  };
}

/** Files at the top of the data folder belong to the host. */
function toContents({ homeport, createdAt, tables, files }: Manifest): BackupContents {
  const all = Object.entries(files).map(([path, { size }]) => ({
    service: path.includes('/') ? path.slice(0, path.indexOf('/')) : 'host',
    size,
  }));
  const parts = [...Map.groupBy(all, ({ service }) => service)].map(([service, own]) => ({
    service,
    files: own.length,
    bytes: own.reduce((sum, { size }) => sum + size, 0),
  }));
  return { homeport, createdAt: Date.parse(createdAt), tables, parts: parts.sort((a, b) => b.bytes - a.bytes) };
}

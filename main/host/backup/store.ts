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
import { makeBackupFolder, receiveBackup, removeHalfArrived } from './arrival.ts';
import { readBackupBeside, writeBackupBeside } from './beside.ts';
import { stageFormer } from './restore.ts';
import { listSetAside, removeLeftovers, setAsidePath, unlist } from './set-aside.ts';
import type { OwnPart } from './write.ts';

export interface BackupStoreOptions {
  readonly dataDir: string;
  /** What services that run save themselves. */
  readonly parts: () => readonly OwnPart[];
  /** Read at each use, so that a change counts at once. */
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
  /** Ends this host and opens another on the same data folder. */
  readonly startAnew: () => void;
}

const hour = 3_600_000;
const day = 24 * hour;
/** How old the newest one may be: where nobody has set a rhythm, and before there is a first one (days). */
const oldAfter = { withoutRhythm: 30, withoutAny: 7 };
/** How the store names its backups, by the time in UTC; other files in the folder are left alone. */
const ours = /^homeport-\d{4}-\d\d-\d\d-\d{6}(-\d+)?\.tar\.gz$/;

/** The folder of backups: those made by hand and those made by themselves. */
export function openBackups({
  dataDir,
  settings,
  clock,
  log,
  parts,
  onScheduled,
  startAnew,
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
    const found = names
      .filter((name) => ours.test(name))
      .map(async (name) => {
        const { size, mtimeMs } = await stat(join(folder(), name));
        return { name, bytes: size, createdAt: Math.round(mtimeMs) };
      });
    return (await Promise.all(found)).sort((a, b) => b.createdAt - a.createdAt || b.name.localeCompare(a.name));
  };

  const age = async (): Promise<BackupAge> => {
    const [newest] = await list();
    const { backupEveryDays } = settings();
    // A rhythm that is a day late has failed.
    const rhythm = backupEveryDays > 0 ? backupEveryDays + 1 : undefined;
    const { birthtimeMs } = await stat(dataDir);
    const limit = rhythm ?? (newest === undefined ? oldAfter.withoutAny : oldAfter.withoutRhythm);
    const since = newest?.createdAt ?? birthtimeMs;
    return { newestAt: newest?.createdAt ?? null, isOld: clock.now() - since > limit * day };
  };

  const path = async (name: string): Promise<string> => {
    // Only what the list shows: a name can lead nowhere else.
    if ((await list()).some((backup) => backup.name === name)) return join(folder(), name);
    throw new Problem('backup.unknown', 404, 'There is no such backup any more.');
  };

  /** Names that were given out: two that arrive at once must not get one, and of those that are there the list may be older. */
  const given = new Set<string>();
  /** The name of a backup that was made then, which no other one has. */
  const freeName = async (createdAt: number): Promise<string> => {
    const stamp = new Date(createdAt).toISOString().slice(0, 19).replace('T', '-').replaceAll(':', '');
    const taken = new Set((await list()).map(({ name }) => name));
    let name = `homeport-${stamp}.tar.gz`;
    for (let next = 2; taken.has(name) || given.has(name); next += 1) name = `homeport-${stamp}-${String(next)}.tar.gz`;
    given.add(name);
    return name;
  };

  const write = async (): Promise<BackupFile> => {
    const target = folder();
    await makeBackupFolder(target);
    // The name, the archive and the file carry one creation time, so that another computer lists it identically.
    const createdAt = clock.now();
    const name = await freeName(createdAt);
    const tables = settings().databaseUrl === '' ? 'here' : 'elsewhere';
    const { bytes, files } = await writeBackupBeside({ dataDir, file: join(target, name), tables, createdAt }, parts());
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
    if (newest !== undefined && clock.now() - newest.createdAt < backupEveryDays * day) return;
    onScheduled((await make()).name);
    for (const { name } of (await list()).slice(backupKeep)) await rm(join(folder(), name), { force: true });
  };
  const calmly = (): void => {
    makeWhenDue().catch((error: unknown) => log.error('the backup could not be written', { error }));
  };
  const timer = clock.every(hour, calmly);
  const first = clock.after(60_000, calmly);
  removeLeftovers(dataDir).catch((error: unknown) =>
    log.warn('what a removal had left could not be removed', { error }),
  );

  removeHalfArrived(folder(), clock.now()).catch((error: unknown) =>
    log.warn('what had not arrived whole could not be removed', { error }),
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
      log.info('backup taken in', { name, bytes: size });
      return { name, bytes: size, createdAt };
    },
    async remove(name) {
      await rm(await path(name), { force: true });
      given.delete(name);
      log.info('backup removed', { name });
    },
    contents: async (name) => contentsOf(await readBackupBeside({ file: await path(name) })),
    async restore(name) {
      const file = await path(name);
      refuseWhileBusy();
      restoring = readBackupBeside({ file, stageIn: dataDir });
      try {
        await restoring;
      } catch (error) {
        restoring = undefined;
        throw error;
      }
      log.warn('a backup is ready to be restored; Homeport starts anew with it', { name });
      // The answer to this very request goes through a service that ends with this.
      setImmediate(startAnew);
    },
    setAside: () => listSetAside(dataDir),
    async restoreSetAside(name) {
      const former = await setAsidePath(dataDir, name);
      refuseWhileBusy();
      stageFormer(dataDir, former);
      restoring = Promise.resolve();
      log.warn('what was set aside is ready to come back; Homeport starts anew with it', { name });
      setImmediate(startAnew);
    },
    async removeSetAside(name) {
      const former = await setAsidePath(dataDir, name);
      refuseWhileRestoring();
      await rm(unlist(dataDir, former), { recursive: true, force: true });
      log.info('what a restore had replaced is removed', { name });
    },
    async [Symbol.asyncDispose]() {
      timer[Symbol.dispose]();
      first[Symbol.dispose]();
      // What is half written would be thrown away.
      await Promise.allSettled([making, restoring]);
    },
  };
}

/** What lies on top of the data folder belongs to the host. */
function contentsOf({ homeport, createdAt, tables, files }: Manifest): BackupContents {
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

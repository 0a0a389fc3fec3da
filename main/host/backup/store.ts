import * as m from '#messages/host-problems';
import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { removeTree, replaceFile } from '../../../services/kit/platform/file-replacement.ts';
import type {
  BackupAge,
  BackupContents,
  BackupFile,
  BackupStore,
  SetAsideData,
} from '../../../services/contracts/control/backups.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock, Log } from '../../../services/contracts/service.ts';
import { runOutsideRequests } from '../../../services/kit/language.ts';
import type { KeyWrapping } from '../vault/vault.ts';
import type { Manifest } from './archive.ts';
import { makeBackupFolder, receiveBackup, removeIncomplete } from './arrival.ts';
import { readBackupInThread, writeBackupInThread } from './beside.ts';
import { completeStaged, stageFormer } from './restore.ts';
import { listSetAside, removeLeftovers, setAsidePath, removeFromList } from './set-aside.ts';
import type { ServicePart } from './write.ts';

/** Key of the vault, which a backup contains. */
export interface VaultKey {
  /** Returns the content of the vault's key file with the key itself, which opens on every computer. */
  readonly keyFile: () => string;
  /** Key store of the desktop. It unwraps the key in backups of earlier versions, which contain it wrapped. */
  readonly keyWrapping: KeyWrapping | undefined;
}

export interface BackupStoreOptions {
  readonly dataDir: string;
  readonly vaultKey: VaultKey;
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
export function openBackups(options: BackupStoreOptions): BackupStore & AsyncDisposable {
  return new BackupFolder(options);
}

class BackupFolder implements BackupStore, AsyncDisposable {
  readonly #options: BackupStoreOptions;
  /** Assigned names: concurrent uploads must not get the same one, and the list may be older. */
  readonly #assignedNames = new Set<string>();
  readonly #timers = new DisposableStack();
  #making: Promise<BackupFile> | undefined;
  #restoring: Promise<unknown> | undefined;

  constructor(options: BackupStoreOptions) {
    const { dataDir, clock, log } = options;
    this.#options = options;
    const makeWhenDue = (): void => {
      this.#makeWhenDue().catch((error: unknown) => log.error('backup failed', { error }));
    };
    this.#timers.use(clock.every(msPerHour, makeWhenDue));
    this.#timers.use(clock.after(60_000, makeWhenDue));
    removeLeftovers(dataDir).catch((error: unknown) => log.warn('backup leftovers not removed', { error }));
    removeIncomplete(this.folder(), clock.now()).catch((error: unknown) =>
      log.warn('incomplete uploads not removed', { error }),
    );
  }

  folder(): string {
    const { dataDir, settings } = this.#options;
    return settings().backupFolder || join(dirname(resolve(dataDir)), `${basename(resolve(dataDir))}-backups`);
  }

  async list(): Promise<readonly BackupFile[]> {
    const names = await readdir(this.folder()).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    const contents = names
      .filter((name) => backupName.test(name))
      .map(async (name) => {
        const { size, mtimeMs } = await stat(join(this.folder(), name));
        return { name, bytes: size, createdAt: Math.round(mtimeMs) };
      });
    return (await Promise.all(contents)).sort((a, b) => b.createdAt - a.createdAt || b.name.localeCompare(a.name));
  }

  async getAge(): Promise<BackupAge> {
    const { dataDir, clock, settings } = this.#options;
    const [newest] = await this.list();
    const { backupEveryDays } = settings();
    // Automatic backups may be a day late.
    const rhythmDays = backupEveryDays > 0 ? backupEveryDays + 1 : undefined;
    const { birthtimeMs } = await stat(dataDir);
    const limit = rhythmDays ?? (newest === undefined ? maxAgeDays.withoutAny : maxAgeDays.withoutRhythm);
    const since = newest?.createdAt ?? birthtimeMs;
    return { newestAt: newest?.createdAt ?? null, isOld: clock.now() - since > limit * msPerDay };
  }

  async getPath(name: string): Promise<string> {
    // Only listed names, so that a name cannot leave the folder.
    if ((await this.list()).some((backup) => backup.name === name)) return join(this.folder(), name);
    throw new Problem('backup.unknown', 404, m.backupMissing());
  }

  async create(): Promise<BackupFile> {
    return this.#make();
  }

  async receive(incoming: Readable): Promise<BackupFile> {
    const { file, createdAt } = await receiveBackup(this.folder(), incoming);
    const name = await this.#assignName(createdAt);
    await replaceFile(file, join(this.folder(), name));
    const { size } = await stat(join(this.folder(), name));
    this.#options.log.info('backup uploaded', { name, bytes: size });
    return { name, bytes: size, createdAt };
  }

  async remove(name: string): Promise<void> {
    await rm(await this.getPath(name), { force: true });
    this.#assignedNames.delete(name);
    this.#options.log.info('backup removed', { name });
  }

  async contents(name: string): Promise<BackupContents> {
    return toContents((await readBackupInThread({ file: await this.getPath(name) })).manifest);
  }

  async restore(name: string): Promise<void> {
    const { dataDir, log, restartHost } = this.#options;
    const { keyWrapping } = this.#options.vaultKey;
    const file = await this.getPath(name);
    this.#refuseWhileBusy();
    this.#restoring = runOutsideRequests(async () => {
      const { renamed } = await readBackupInThread({ file, stageIn: dataDir });
      for (const each of renamed) log.warn('restored file renamed', { ...each });
      await completeStaged(dataDir, keyWrapping);
    });
    try {
      await this.#restoring;
    } catch (error) {
      this.#restoring = undefined;
      throw error;
    }
    log.warn('restore staged, host restarts', { name });
    // The current request is answered by a service that ends with this.
    runOutsideRequests(() => setImmediate(restartHost));
  }

  setAside(): Promise<readonly SetAsideData[]> {
    return listSetAside(this.#options.dataDir);
  }

  async restoreSetAside(name: string): Promise<void> {
    const { dataDir, log, restartHost } = this.#options;
    const former = await setAsidePath(dataDir, name);
    this.#refuseWhileBusy();
    stageFormer(dataDir, former);
    this.#restoring = Promise.resolve();
    log.warn('set-aside data staged, host restarts', { name });
    runOutsideRequests(() => setImmediate(restartHost));
  }

  async removeSetAside(name: string): Promise<void> {
    const { dataDir, log } = this.#options;
    const former = await setAsidePath(dataDir, name);
    this.#refuseWhileRestoring();
    await removeTree(removeFromList(dataDir, former));
    log.info('set-aside data removed', { name });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timers.dispose();
    // Otherwise a partly written backup would be discarded.
    await Promise.allSettled([this.#making, this.#restoring]);
  }

  /** Returns an unused name for a backup with this creation time. */
  async #assignName(createdAt: number): Promise<string> {
    const stamp = new Date(createdAt).toISOString().slice(0, 19).replace('T', '-').replaceAll(':', '');
    const existing = new Set((await this.list()).map(({ name }) => name));
    let name = `homeport-${stamp}.tar.gz`;
    for (let next = 2; existing.has(name) || this.#assignedNames.has(name); next += 1)
      name = `homeport-${stamp}-${String(next)}.tar.gz`;
    this.#assignedNames.add(name);
    return name;
  }

  #make(): Promise<BackupFile> {
    this.#refuseWhileBusy();
    this.#making = runOutsideRequests(() => this.#write()).finally(() => (this.#making = undefined));
    return this.#making;
  }

  async #write(): Promise<BackupFile> {
    const { dataDir, clock, log, parts, settings } = this.#options;
    const { keyFile } = this.#options.vaultKey;
    const target = this.folder();
    await makeBackupFolder(target);
    // The name, the archive and the file have the same creation time, so that another computer lists it identically.
    const createdAt = clock.now();
    const name = await this.#assignName(createdAt);
    const tables = settings().databaseUrl === '' ? 'here' : 'elsewhere';
    const { bytes, files } = await writeBackupInThread(
      { dataDir, file: join(target, name), tables, createdAt, keyFile: keyFile() },
      parts(),
    );
    log.info('backup written', { event: 'backup_written', name, bytes, files });
    await utimes(join(target, name), new Date(createdAt), new Date(createdAt));
    return { name, bytes, createdAt };
  }

  /** Creates the backup of the schedule, and deletes the oldest ones. */
  async #makeWhenDue(): Promise<void> {
    const { clock, settings, onScheduled } = this.#options;
    const { backupEveryDays, backupKeep } = settings();
    if (backupEveryDays === 0 || this.#making !== undefined || this.#restoring !== undefined) return;
    const [newest] = await this.list();
    if (newest !== undefined && clock.now() - newest.createdAt < backupEveryDays * msPerDay) return;
    onScheduled((await this.#make()).name);
    for (const { name } of (await this.list()).slice(backupKeep)) await rm(join(this.folder(), name), { force: true });
  }

  #refuseWhileRestoring(): void {
    if (this.#restoring !== undefined) throw new Problem('backup.running', 409, m.restoreRunning());
  }

  #refuseWhileBusy(): void {
    if (this.#making !== undefined) throw new Problem('backup.running', 409, m.backupRunning());
    this.#refuseWhileRestoring();
  }
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

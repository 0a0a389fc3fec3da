import type { Refusal } from '../domain/address.ts';
import { readdir, stat, statfs, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { removeTree } from '../../kit/platform/file-replacement.ts';
import { createServiceFailure, DownloadProblem } from '../domain/failure.ts';
import type { Order } from '../domain/order.ts';
import { splitFolder } from '../domain/template.ts';
import { createFolders, getPermissions, type FilePermissions } from './file-permissions.ts';
import type { Settings } from '../settings.ts';
import { createFolderFilter } from '../filters/folder-filter.ts';

type FolderSettings = Pick<
  Settings,
  | 'downloadDir'
  | 'audioDownloadDir'
  | 'tempDir'
  | 'customDirs'
  | 'createCustomDirs'
  | 'customDirsExclude'
  | 'umask'
  | 'owner'
  | 'group'
>;

/** Marks a folder of this app, so that nothing else in a shared TEMP_DIR is deleted. */
const markerName = '.homeport-download';
/** Folder below TEMP_DIR, which may be the download folder: hidden folders are not served or listed. */
const workFolderName = '.homeport-unfinished';

/** Maximum number and depth of listed folders. */
const maxListedFolders = 1000;
const maxListedDepth = 5;

/** Returns the user's folder for downloads; the desktop app names it, because Windows and macOS let users move it. */
function getUserDownloads(): string {
  return process.env['HOMEPORT_USER_DOWNLOADS'] || join(homedir(), 'Downloads');
}

/** Folders of finished and unfinished downloads. */
export class Folders {
  /** Cache folder of the extractor. */
  readonly cache: string;
  readonly #temp: string;
  readonly #settings: FolderSettings;

  constructor(files: string, settings: FolderSettings) {
    this.#settings = settings;
    this.cache = join(files, 'cache');
    this.#temp = settings.tempDir === '' ? join(files, 'temp') : join(settings.tempDir, workFolderName);
  }

  /** Absolute path of the download folder. */
  get downloads(): string {
    return this.#settings.downloadDir || join(getUserDownloads(), 'homeport');
  }

  /** Absolute path of the folder for audio, which may be the same. */
  get audio(): string {
    return this.#settings.audioDownloadDir || this.downloads;
  }

  /** Permissions of new files and folders. */
  get permissions(): FilePermissions {
    return getPermissions(this.#settings);
  }

  /**
   * Returns the free bytes of the download folder's disk, even before the folder exists; null when they are not known.
   */
  async getFreeBytes(): Promise<number | null> {
    let folder = this.downloads;
    for (;;) {
      const disk = await statfs(folder).catch(() => undefined);
      if (disk !== undefined) return disk.bavail * disk.bsize;
      if (dirname(folder) === folder) return null;
      folder = dirname(folder);
    }
  }

  /** Returns the root folder of an order's files, without the folder of the request. */
  getRoot({ type }: Pick<Order, 'type'>): string {
    return type === 'audio' ? this.audio : this.downloads;
  }

  /** Explains why the folder of a request is refused; undefined when it is valid or not set. */
  async findRefusal({ type, folder }: Pick<Order, 'type' | 'folder'>): Promise<Refusal | undefined> {
    if (folder === null) return undefined;
    const { customDirs, createCustomDirs } = this.#settings;
    if (!customDirs) {
      const msg = 'A folder for the download was specified but CUSTOM_DIRS is not true in the configuration.';
      return { msg, failure: 'folders_disabled' };
    }
    const parts = splitFolder(folder);
    if (parts === undefined)
      return { msg: `Folder "${folder}" is not inside the download folder.`, failure: 'folder_outside' };
    if (createCustomDirs) return undefined;
    const folders = await stat(join(this.getRoot({ type }), ...parts)).catch(() => undefined);
    if (folders?.isDirectory() === true) return undefined;
    const msg = `Folder "${folder}" is not in the download folder, and CREATE_CUSTOM_DIRS is not true in the configuration.`;
    return { msg, failure: 'folder_missing' };
  }

  /**
   * Lists folders below a download folder that a request may name, starting with "" (the folder itself); at most
   * `maxListedFolders`.
   */
  async list(root = this.downloads): Promise<readonly string[]> {
    const folders = [''];
    const { customDirs, customDirsExclude } = this.#settings;
    if (!customDirs) return folders;
    const isExcluded = createFolderFilter(customDirsExclude);
    // The list grows during the loop: breadth first, so that the deepest folders are cut off.
    for (const parent of folders) {
      if (parent.split('/').length >= maxListedDepth) break;
      const entries = await readdir(join(root, parent), { withFileTypes: true }).catch(() => []);
      const paths = entries
        .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
        .map(({ name }) => (parent === '' ? name : `${parent}/${name}`));
      const excluded = await isExcluded(paths);
      const included = paths.filter((_, index) => excluded[index] !== true);
      folders.push(...included.slice(0, maxListedFolders - folders.length));
      if (folders.length >= maxListedFolders) break;
    }
    return folders.toSorted();
  }

  /** Returns the work folder of a download: its partial files survive a crash and are separate from those of others. */
  getPath(uid: string): string {
    return join(this.#temp, uid);
  }

  /** @throws Problem `downloads.not_written` (507) */
  async create(uid: string): Promise<string> {
    try {
      await createFolders(this.getPath(uid), { folderMode: this.permissions.folderMode });
      await writeFile(join(this.getPath(uid), markerName), '');
    } catch (cause) {
      const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
      const failure =
        reason === 'ENOSPC'
          ? createServiceFailure('disk_full', 'disk', { place: 'work' })
          : createServiceFailure('folder_not_writable', 'disk', { place: 'work', reason, folder: this.#temp });
      throw new DownloadProblem('downloads.not_written', 507, failure, { cause });
    }
    return this.getPath(uid);
  }

  /** Returns the size of the largest partial file that can be continued. */
  async getPartialBytes(uid: string): Promise<number> {
    const folder = join(this.getPath(uid), 'part');
    const names = (await readdir(folder, { recursive: true }).catch((): string[] => [])).filter((name) =>
      name.endsWith('.part'),
    );
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
    return Math.max(0, ...sizes);
  }

  async remove(uid: string): Promise<void> {
    await removeTree(this.getPath(uid));
  }

  /** Removes the work folders of downloads that are no longer needed. */
  async removeUnneeded(isNeeded: (uid: string) => Promise<boolean>): Promise<void> {
    for (const uid of await readdir(this.#temp).catch((): string[] => [])) {
      const names = await readdir(join(this.#temp, uid)).catch((): string[] => []);
      if (names.includes(markerName) && !(await isNeeded(uid))) await this.remove(uid);
    }
  }
}

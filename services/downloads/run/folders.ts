import { readdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Problem } from '../../contracts/problem.ts';
import type { Order } from '../domain/order.ts';
import { folderParts } from '../domain/template.ts';
import { makeFolders, rightsOf, type Rights } from '../engine/file-permissions.ts';
import type { Settings } from '../settings.ts';
import { titleExpression } from '../subscriptions/title-expression.ts';

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

/** Marks a folder as ours, so that nothing else in a shared TEMP_DIR is ever cleaned away. */
const marker = '.homeport-download';
/** Below TEMP_DIR, which may be the download folder itself: what is hidden is neither served nor offered for choice. */
const hidden = '.homeport-unfinished';

/** Folders that are offered for choice, and how deep they may lie. */
const mostChoices = 1000;
const deepestChoice = 5;

/** Where downloads go and where they are made. */
export class Folders {
  /** Where the extractor keeps what it learns about sites. */
  readonly cache: string;
  readonly #temp: string;
  readonly #settings: FolderSettings;

  constructor(files: string, settings: FolderSettings) {
    this.#settings = settings;
    this.cache = join(files, 'cache');
    this.#temp = settings.tempDir === '' ? join(files, 'temp') : join(settings.tempDir, hidden);
  }

  /** Absolute path of the download folder. */
  get downloads(): string {
    return this.#settings.downloadDir || join(homedir(), 'Downloads', 'homeport');
  }

  /** That of sound, which may be the same. */
  get audio(): string {
    return this.#settings.audioDownloadDir || this.downloads;
  }

  /** The rights of new files and folders. */
  get rights(): Rights {
    return rightsOf(this.#settings);
  }

  /** Bytes that are free where downloads go, also before the folder was made; null when nobody can tell. */
  async free(): Promise<number | null> {
    let folder = this.downloads;
    for (;;) {
      const disk = await statfs(folder).catch(() => undefined);
      if (disk !== undefined) return disk.bavail * disk.bsize;
      if (dirname(folder) === folder) return null;
      folder = dirname(folder);
    }
  }

  /** Where the files of such an order go, below the folder that it names. */
  rootOf({ type }: Pick<Order, 'type'>): string {
    return type === 'audio' ? this.audio : this.downloads;
  }

  /** Why the folder of a request cannot be used; undefined when it can, or there is none. */
  async refusal({ type, folder }: Pick<Order, 'type' | 'folder'>): Promise<string | undefined> {
    if (folder === null) return undefined;
    const { customDirs, createCustomDirs } = this.#settings;
    if (!customDirs) {
      return 'A folder for the download was specified but CUSTOM_DIRS is not true in the configuration.';
    }
    const parts = folderParts(folder);
    if (parts === undefined) return `Folder "${folder}" is not inside the download folder.`;
    if (createCustomDirs) return undefined;
    const found = await stat(join(this.rootOf({ type }), ...parts)).catch(() => undefined);
    if (found?.isDirectory() === true) return undefined;
    return `Folder "${folder}" is not in the download folder, and CREATE_CUSTOM_DIRS is not true in the configuration.`;
  }

  /** Folders below a download folder that a request may name, "" (the folder itself) first; at most `mostChoices`. */
  async choices(root = this.downloads): Promise<readonly string[]> {
    const found = [''];
    const { customDirs, customDirsExclude } = this.#settings;
    if (!customDirs) return found;
    const excluded = customDirsExclude === '' ? undefined : titleExpression(customDirsExclude);
    // The list grows while it is walked: breadth first, so that what is cut is what lies deepest.
    for (const parent of found) {
      if (parent.split('/').length >= deepestChoice) break;
      const entries = await readdir(join(root, parent), { withFileTypes: true }).catch(() => []);
      const names = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
      for (const { name } of names) {
        if (found.length >= mostChoices) return found.toSorted();
        const path = parent === '' ? name : `${parent}/${name}`;
        if (excluded?.test(path) !== true) found.push(path);
      }
    }
    return found.toSorted();
  }

  /** One download's own folder: its parts survive a crash and never meet those of another. */
  of(uid: string): string {
    return join(this.#temp, uid);
  }

  /** @throws Problem `downloads.not_written` (507) */
  async make(uid: string): Promise<string> {
    try {
      await makeFolders(this.of(uid), { folderMode: this.rights.folderMode });
      await writeFile(join(this.of(uid), marker), '');
    } catch (cause) {
      const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
      const detail =
        reason === 'ENOSPC'
          ? 'The disk of the folder for unfinished files is full: free some space, then retry.'
          : `The folder for unfinished files cannot be written (${reason}): ${this.#temp}`;
      throw new Problem('downloads.not_written', 507, detail, { cause });
    }
    return this.of(uid);
  }

  /** Bytes of a broken transfer that may be continued; of two, the longer one. */
  async kept(uid: string): Promise<number> {
    const folder = join(this.of(uid), 'part');
    const names = (await readdir(folder, { recursive: true }).catch((): string[] => [])).filter((name) =>
      name.endsWith('.part'),
    );
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
    return Math.max(0, ...sizes);
  }

  async remove(uid: string): Promise<void> {
    await rm(this.of(uid), { recursive: true, force: true });
  }

  /** Removes the folders of downloads that nobody wants any more. */
  async clean(isWanted: (uid: string) => Promise<boolean>): Promise<void> {
    for (const uid of await readdir(this.#temp).catch((): string[] => [])) {
      const inside = await readdir(join(this.#temp, uid)).catch((): string[] => []);
      if (inside.includes(marker) && !(await isWanted(uid))) await this.remove(uid);
    }
  }
}

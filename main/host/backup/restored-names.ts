import { mkdtempSync, rmdirSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { basename, dirname, join, posix } from 'node:path';
import { currentPlatform } from '../../../services/kit/platform/current-platform.ts';
import { foldName, hasWindowsPaths, isWindowsDevice } from '../../../services/kit/platform/file-systems.ts';

/** Names that the file system of a folder can store. */
export interface NameRules {
  /** Names that differ only by case are one file. */
  readonly ignoresCase: boolean;
  /** Some characters and names have another meaning: `a:b` is a stream of the file `a`. */
  readonly windows: boolean;
}

/** File that a restore stores under another name than in the backup. */
export interface RenamedFile {
  readonly name: string;
  readonly storedAs: string;
}

/** Reads the rules of an existing folder. Both Linux and macOS have file systems with and without case. */
export async function readNameRules(folder: string, platform: NodeJS.Platform = currentPlatform): Promise<NameRules> {
  const probe = mkdtempSync(join(folder, '.name-probe-'));
  try {
    const ignoresCase = await access(join(dirname(probe), basename(probe).toUpperCase())).then(
      () => true,
      () => false,
    );
    return { ignoresCase, windows: hasWindowsPaths(platform) };
  } finally {
    rmdirSync(probe);
  }
}

/**
 * Finds a free name for each file of a backup. A file that this system cannot store beside another one receives a
 * number, as in `a-2.txt`, so that it never replaces the other one.
 */
export class RestoredNames {
  readonly renamed: RenamedFile[] = [];
  readonly #rules: NameRules;
  readonly #files = new Set<string>();
  /** Folders by their stored path, without case. */
  readonly #folders = new Set<string>();
  /** Stored paths of the folders in the backup. */
  readonly #storedFolders = new Map<string, string>([['.', '']]);

  constructor(rules: NameRules) {
    this.#rules = rules;
  }

  /** Returns the path for the next file. A folder that differs from another one only by case is the same folder. */
  add(name: string): string {
    const folder = this.#addFolder(posix.dirname(name));
    const path = this.#findFree(folder, posix.basename(name), (key) => this.#files.has(key) || this.#folders.has(key));
    this.#files.add(this.#fold(path));
    if (path !== name) this.renamed.push({ name, storedAs: path });
    return path;
  }

  #addFolder(name: string): string {
    const stored = this.#storedFolders.get(name);
    if (stored !== undefined) return stored;
    const parent = this.#addFolder(posix.dirname(name));
    const path = this.#findFree(parent, posix.basename(name), (key) => this.#files.has(key));
    this.#folders.add(this.#fold(path));
    this.#storedFolders.set(name, path);
    return path;
  }

  #findFree(folder: string, name: string, isTaken: (key: string) => boolean): string {
    const storable = this.#rules.windows ? toWindowsName(name) : name;
    let path = posix.join(folder, storable);
    if (!this.#rules.ignoresCase && !this.#rules.windows) return path;
    const extension = posix.extname(storable);
    const stem = storable.slice(0, storable.length - extension.length);
    for (let number = 2; isTaken(this.#fold(path)); number++)
      path = posix.join(folder, `${stem}-${number}${extension}`);
    return path;
  }

  #fold(path: string): string {
    return this.#rules.ignoresCase ? foldName(path) : path;
  }
}

/** Replaces what Windows cannot store in the name of a file or folder. */
function toWindowsName(name: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are among those that Windows refuses
  const storable = name.replace(/[<>:"|?*\u0000-\u001f]/g, '_').replace(/[. ]+$/, (end) => '_'.repeat(end.length));
  return isWindowsDevice(storable) ? `_${storable}` : storable;
}

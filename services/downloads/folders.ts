import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Settings } from './settings.ts';

/** Marks a folder as ours, so that nothing else in a shared TEMP_DIR is ever cleaned away. */
const marker = '.homeport-download';

/** Folders that are offered for choice, and how deep they may lie. */
const mostChoices = 1000;
const deepestChoice = 5;

/** Where downloads go and where they are made. */
export class Folders {
  /** Absolute path of the download folder. */
  readonly downloads: string;
  /** Where the extractor keeps what it learns about sites. */
  readonly cache: string;
  readonly #temp: string;

  constructor(files: string, settings: Pick<Settings, 'downloadDir' | 'tempDir'>) {
    this.downloads = settings.downloadDir || join(homedir(), 'Downloads', 'homeport');
    this.cache = join(files, 'cache');
    this.#temp = settings.tempDir || join(files, 'temp');
  }

  /** Folders below the download folder that a request may name, "" (the folder itself) first; at most `mostChoices`. */
  async choices(): Promise<readonly string[]> {
    const found = [''];
    // The list grows while it is walked: breadth first, so that what is cut is what lies deepest.
    for (const parent of found) {
      if (parent.split('/').length >= deepestChoice) break;
      const entries = await readdir(join(this.downloads, parent), { withFileTypes: true }).catch(() => []);
      const names = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
      for (const { name } of names) {
        if (found.length >= mostChoices) return found.toSorted();
        found.push(parent === '' ? name : `${parent}/${name}`);
      }
    }
    return found.toSorted();
  }

  /** One download's own folder: its parts survive a crash and never meet those of another. */
  of(uid: string): string {
    return join(this.#temp, uid);
  }

  async make(uid: string): Promise<string> {
    await mkdir(this.of(uid), { recursive: true });
    await writeFile(join(this.of(uid), marker), '');
    return this.of(uid);
  }

  /** Bytes of a broken transfer that may be continued; of two, the longer one. */
  async kept(uid: string): Promise<number> {
    const folder = join(this.of(uid), 'part');
    const names = (await readdir(folder, { recursive: true }).catch((): string[] => [])).filter((name) => name.endsWith('.part')); // prettier-ignore
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
